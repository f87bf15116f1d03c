"""The words of the tool-runner family: complete, with ids that resolve, and against its charts."""

import pytest
from source_coverage import statements_of

from runlock.machines.catalogue import tables
from runlock.spec.model import load_spec

FAMILY = "tool-runner"
SOURCE = "tool-runner"
STATEMENTS = statements_of("tool_runner", SOURCE)
EXPLAINING = {"R-001", "R-009", "R-014", "R-015", "R-033"}
CORE_OF_THE_PAGE = {1, 2, 3, 4, 5, 6, 8, 12, 14, 17, 19, 23, 25}
"""The numbers that the page marks as core as a whole."""

HALVES = {28: 15, 34: 22, 35: 22, 37: 24, 32: 20, 27: 14, 29: 17, 41: 5, 43: 12, 42: 8, 39: 3, 40: 3}
"""Core halves that have a number of their own, and the number that they were split from."""


@pytest.fixture(scope="module")
def spec():
    return load_spec(FAMILY)


def runner(number):
    return f"RUNNER-{number}"


def test_the_spec_is_loaded_by_the_name_of_its_family(spec):
    """The folder has an underscore, the family a hyphen."""
    assert spec.family == FAMILY
    assert list(spec.revisions) == ["1.0", "1.1"]


def test_the_clauses_of_the_page_have_its_numbers(spec):
    """RUNNER-1 to RUNNER-26 are there, and the halves follow without a gap."""
    numbers = [int(one.id.split("-")[1]) for one in spec.clauses.values() if one.area == "RUNNER"]

    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 26


def test_what_the_page_marks_is_core(spec):
    """A runner of the profile tool-runner-core is held to these clauses."""
    numbers = CORE_OF_THE_PAGE | HALVES.keys()

    assert [number for number in sorted(numbers) if not spec.clause(runner(number)).core] == []


def test_whole_areas_are_core(spec):
    """Limits, streams, rounds, histories, cancels and ends are core whatever the policies say."""
    areas = {"STOP", "STREAM", "ROUND", "PAIR", "ONCE", "CANCEL", "RUN", "PROGRESS"}

    assert [c.id for c in spec.clauses.values() if c.area in areas and not c.core] == []


def test_the_core_profile_leaves_everything_open(spec):
    """It claims the core and nothing else."""
    assert spec.profile("tool-runner-core").policies == {}


@pytest.mark.parametrize("profile", ["tool-runner-python", "tool-runner-typescript", "tool-runner-go"])
def test_the_profile_of_an_sdk_fixes_what_can_be_seen(spec, profile):
    """What is left open is what the SDK cannot be asked: an abort in one, a response in another."""
    left = set(spec.policies) - set(spec.profile(profile).policies)

    assert left <= {"cancel.inflight", "runner.cache"}


def test_every_value_of_every_policy_decides_about_a_clause(spec):
    """A choice that no clause asks about would be declared for nothing."""
    asked = {
        (key, value) for c in spec.clauses.values() for key, values in c.applies.items() for value in values
    }

    assert [(p.key, v) for p in spec.policies.values() for v in p.values if (p.key, v) not in asked] == []


def test_no_sentence_stands_twice(spec):
    """Two clauses that say the same would be blamed on each other."""
    sentences = [clause.sentence for clause in spec.clauses.values()]

    assert len(set(sentences)) == len(sentences)


def test_a_clause_says_where_to_look(spec):
    """The author of a runner that breaks a clause gets a list of what to look at."""
    assert [c.id for c in spec.clauses.values() if not c.look_at] == []


def test_every_word_of_needs_is_needed_or_offered(spec):
    """Each gate, stimulus and observation of the family is needed by a clause, but for the shared ones."""
    needed = {need for clause in spec.clauses.values() for need in clause.needs}
    words = {f"{word} {what}" for word in ("observes", "gate", "stimulus") for what in spec.needs[word]}

    assert words - needed == {"stimulus deliver", "stimulus clock.advance"}


# -- the coverage of the source


def test_every_statement_of_the_source_has_an_answer():
    """Forty-nine statements, none left out."""
    assert list(STATEMENTS) == [f"R-{number:03}" for number in range(1, 50)]


def test_the_answers_resolve(spec):
    """Each names clauses and errata that exist, or else says why it binds no one."""
    for number, answer in STATEMENTS.items():
        assert answer.binds is (answer.explains is None), number
        assert set(answer.clauses) <= set(spec.clauses), number
        assert set(answer.errata) <= set(spec.errata), number


def test_what_binds_nobody_is_named():
    """Announcements, a question, two remarks and the list of participants."""
    assert {number for number, one in STATEMENTS.items() if not one.binds} == EXPLAINING


def test_the_statements_stand_in_the_order_of_the_document():
    """The answers are read downwards."""
    lines = [answer.line for answer in STATEMENTS.values()]

    assert lines == sorted(lines)


def test_a_clause_that_cites_the_source_answers_a_statement_of_it(spec):
    """The words that a clause came from can be found."""
    answering = {clause for answer in STATEMENTS.values() for clause in answer.clauses}
    citing = {c.id for c in spec.clauses.values() if any(s.startswith(f"{SOURCE} § ") for s in c.sources)}

    assert citing - answering == set()


def test_an_erratum_answers_each_line_that_it_cites(spec):
    """Both places of a contradiction lead to what was decided."""
    cited = {(erratum.id, place.line) for erratum in spec.errata.values() for place in erratum.places}
    answered = {(one, answer.line) for answer in STATEMENTS.values() for one in answer.errata}

    assert cited - answered == set()
    assert {place.document for one in spec.errata.values() for place in one.places} == {SOURCE}


def test_the_ids_of_errata_are_those_of_no_other_family(spec):
    """An id is used once in the project."""
    assert set(spec.errata) & set(load_spec("lifecycle").errata) == set()


# -- the charts


def test_every_clause_on_a_chart_has_words(spec):
    """An arrow that is blamed, or refused, can be looked up."""
    on_charts = {row.clause for table in tables(FAMILY) for row in table.rows}
    closing = {clause for table in tables(FAMILY) for clause in table.closed.values()}

    assert (on_charts | closing) - set(spec.clauses) == set()


def test_charts_have_names_of_their_own():
    """No chart of another family has the name of one of these."""
    ours, theirs = ({table.name for table in tables(family)} for family in (FAMILY, "lifecycle"))

    assert ours & theirs == set()
