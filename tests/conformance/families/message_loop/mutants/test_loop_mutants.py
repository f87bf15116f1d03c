"""The kit can see: each mutant of the message loop is blamed on its clause, and each variant passes."""

import tomllib

import pytest
from loop_walks import Walks
from places import ROOT

from runlock.conformance.families.message_loop.mutants import MUTANTS
from runlock.conformance.families.message_loop.reference import factory
from runlock.conformance.families.message_loop.variants import VARIANTS
from runlock.spec.model import load_spec

KNOWN = tomllib.loads((ROOT / "tests" / "data" / "message_loop_walks.toml").read_text("utf-8"))
"""The walk that gives each mutant away, and what nothing gives away yet, with the reason."""

WALKS = KNOWN["walks"]
CALM = 20
"""Walks that a variant has to pass."""

WALKS_MAX = 2_000


@pytest.fixture
def walks():
    """Makes walks for a loop, and gives it back with the test."""
    made = []

    def make(loop):
        made.append(Walks(loop))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("name", list(WALKS))
def test_a_mutant_is_blamed_on_its_clause(walks, name):
    """A loop that was made wrong on purpose breaks the clause that it was made to break."""
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    found = walks(mutant).take(WALKS[name]).found

    assert list(found) == [mutant.clause]
    assert mutant.says in found[mutant.clause].violation.because


@pytest.mark.parametrize("name", list(WALKS))
def test_the_reference_passes_where_a_mutant_does_not(walks, name):
    """What is blamed is the fault, and not the walk."""
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    right = factory(mutant.profile, mutant.policies)

    assert dict(walks(right).take(WALKS[name]).found) == {}


@pytest.mark.parametrize("index", [423, 927], ids=["a call that races a fault", "a look after a late answer"])
def test_the_reference_passes_where_checks_once_erred(walks, index):
    """A fault may cancel a call that was answered; a refusal is remembered over an inspect."""
    assert dict(walks(factory("message-loop", {})).take(index).found) == {}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_passes(walks, variant):
    """A loop that takes a freedom which is left open breaks nothing."""
    loop = walks(variant)
    tallies = [loop.take(index) for index in range(CALM)]

    assert [dict(tally.found) for tally in tallies if tally.found] == []
    assert [trouble for tally in tallies for trouble in tally.troubles] == []
    assert sum(tally.exercised.total() for tally in tallies) > 0


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_breaks_nothing_else(walks, mutant):
    """Before it is blamed on its clause, it is blamed on none but those that the same fault breaks."""
    loop, found = walks(mutant), {}
    for index in range(WALKS_MAX):
        found.update(loop.take(index).found)
        if mutant.clause in found:
            break

    assert set(found) - {mutant.clause, *mutant.also} == set()


def test_every_mutant_has_a_walk_or_a_reason():
    """What nothing gives away is known, and no reason outlives its mutant."""
    names = {mutant.name for mutant in MUTANTS}

    assert WALKS.keys() | KNOWN["unseen"].keys() == names
    assert WALKS.keys() & KNOWN["unseen"].keys() == set()


def test_mutants_and_variants_have_names_of_their_own():
    """A name in a report means one thing."""
    names = [mutant.name for mutant in MUTANTS] + [variant.name for variant in VARIANTS]

    assert len(names) == len(set(names))


def test_every_mutant_breaks_a_clause_that_can_be_seen_from_outside():
    """A clause that no gate shows has no mutant."""
    clauses = load_spec("message-loop").clauses

    assert [m.name for m in MUTANTS if m.clause not in clauses or clauses[m.clause].untestable] == []


def test_every_clause_of_the_page_has_a_mutant():
    """A check that was never seen to fail is no check; what has none is listed."""
    blamed = {mutant.clause for mutant in MUTANTS}
    of_the_page = {
        clause.id
        for clause in load_spec("message-loop").clauses.values()
        if not clause.untestable and int(clause.id.partition("-")[2]) < 20 and clause.area != "RUN"
    }

    assert of_the_page - blamed == WITHOUT


WITHOUT = {
    "LOOP-11",  # a hook that changes the stages breaks LOOP-1 or LOOP-2 as well
    "HOOK-6",  # no scenario puts a guard at RENDER
    "ROUND-3",  # a recommendation
    "CALL-1", "CALL-5", "CALL-6", "CALL-15", "CALL-16",  # arrows of a status chart
}  # fmt: skip
