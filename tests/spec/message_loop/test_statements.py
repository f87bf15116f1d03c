"""Nothing that the source of the message loop says is lost, and no word of its spec stands alone."""

from hashlib import sha256

from source_coverage import statements_of

from runlock.spec.model import load_spec

ANSWERS = statements_of("message_loop", "message-loop")

FROZEN = "5ebc70956adfdbdb553a6487bcfb435d11a305daa1e7f41a8a8c3b5d4b0edf6f"
"""The digest of the ids of revision 1.0.  A clause that makes it differ is of a later revision."""

STATEMENTS = 182
SOURCE_LINES = 263


def spec():
    return load_spec("message-loop")


def test_every_statement_has_an_answer():
    """A statement leads to a clause, to an erratum, or to the reason why it does not bind."""
    assert list(ANSWERS) == [f"M-{number:03}" for number in range(1, STATEMENTS + 1)]
    assert [key for key, one in ANSWERS.items() if one.binds == (one.explains is not None)] == []


def test_every_answer_names_what_is_there():
    """A clause or an erratum that does not exist answers nothing."""
    named = ANSWERS.values()

    assert {clause for one in named for clause in one.clauses} - set(spec().clauses) == set()
    assert {erratum for one in named for erratum in one.errata} - set(spec().errata) == set()


def test_every_clause_that_cites_the_source_answers_a_statement():
    """A reader of a clause finds the words that it came from."""
    answered = {clause for one in ANSWERS.values() for clause in one.clauses}
    citing = {
        clause.id
        for clause in spec().clauses.values()
        if any(source.startswith("message-loop §") for source in clause.sources)
    }

    assert {one for one in citing - answered if not one.startswith("RUN-")} == set()


def test_every_erratum_answers_a_statement():
    """What the spec decided can be found from the words that made it necessary."""
    answered = {erratum for one in ANSWERS.values() for erratum in one.errata}

    assert set(spec().errata) - answered == set()


def test_statements_stand_in_the_source():
    """Each line is one of the document, and most statements come in its order."""
    lines = [one.line for one in ANSWERS.values()]

    assert max(lines) <= SOURCE_LINES
    assert lines[0] < lines[-1]


def test_every_value_of_every_policy_decides_about_a_clause():
    """A choice that no clause asks about would be declared for nothing."""
    asked = {
        (key, value)
        for clause in spec().clauses.values()
        for key, values in clause.applies.items()
        for value in values
    }

    assert [(p.key, v) for p in spec().policies.values() for v in p.values if (p.key, v) not in asked] == []


def test_no_sentence_stands_twice():
    """Two clauses that say the same would be blamed on each other."""
    sentences = [clause.sentence for clause in spec().clauses.values()]

    assert len(set(sentences)) == len(sentences)


def test_a_clause_that_can_be_broken_says_where_to_look():
    """A report can name the places where such a fault is made."""
    clauses = spec().clauses.values()

    assert [c.id for c in clauses if c.level != "MAY" and not c.look_at and not c.untestable] == []


def test_errata_that_are_cited_are_there():
    """A clause or a policy that cites a decision leads to it."""
    parts = [*spec().clauses.values(), *spec().policies.values()]
    cited = {source.partition("§ ")[2] for part in parts for source in part.sources if "§ E-" in source}

    assert cited - set(spec().errata) == set()


def test_the_core_claims_what_is_seen_from_outside():
    """Every policy of the core profile is open, and no clause of the core rests on stage executions."""
    core = [clause for clause in spec().clauses.values() if clause.core]

    assert spec().profile("message-loop-core").policies == {}
    assert [clause.id for clause in core if any(need.startswith("turn ") for need in clause.needs)] == []


def test_the_profile_fixes_what_the_source_fixes():
    """These seven are said; the rest is left to the runtime."""
    assert spec().profile("message-loop").policies == {
        "prompt.line": "serial",
        "reject.reach": "call",
        "guard.place": "after_approval",
        "bound.end": "error",
        "turn.end": "always",
        "cancel.inflight": "abort",
        "model.fault": "end_run",
    }


def test_the_first_revision_is_frozen():
    """The ids of a revision are the ones that it was published with."""
    retired = [one.id for one in spec().retired.values() if one.since == "1.0"]
    ids = sorted([*spec().clauses_of("1.0"), *retired])

    assert sha256("\n".join(ids).encode()).hexdigest() == FROZEN
