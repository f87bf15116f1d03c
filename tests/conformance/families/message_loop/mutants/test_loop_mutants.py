"""Mutation tests of the message loop: each mutant violates its clause, and each legal variant passes."""

import tomllib

import pytest
from places import ROOT

from runlock.conformance.families.message_loop.mutants import MUTANTS
from runlock.conformance.families.message_loop.reference import factory
from runlock.conformance.families.message_loop.variants import VARIANTS
from runlock.spec.model import load_spec

KNOWN = tomllib.loads((ROOT / "tests" / "data" / "message_loop_walks.toml").read_text("utf-8"))
"""The stored walk or script that kills each mutant."""

MUTED = KNOWN["after"] | KNOWN["scripts_after"]
WALKS = KNOWN["walks"] | KNOWN["after"]
SCRIPTS = KNOWN["scripts"] | KNOWN["scripts_after"]
REVEALED = WALKS | SCRIPTS
CALM, CALMER = range(3), range(3, 8)
"""The walks that each variant must pass, in the default lane and in the long one."""

WALKS_MAX = 5


@pytest.mark.parametrize("name", list(REVEALED))
def test_a_mutant_is_blamed_on_its_clause(walks, name):
    """The stored schedule makes the mutant violate its clause, some only with other broken clauses muted."""
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    loop = walks(mutant)
    loop.bench.mute(mutant.also if name in MUTED else ())
    found = loop.see(REVEALED[name]).found

    assert list(found) == [mutant.clause]
    assert mutant.says in found[mutant.clause].violation.reason


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", list(REVEALED))
def test_the_reference_passes_where_a_mutant_does_not(walks, name):
    """The violation is caused by the fault and not by the walk."""
    mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
    right = factory(mutant.profile, mutant.policies)

    assert dict(walks(right).see(REVEALED[name]).found) == {}


@pytest.mark.parametrize("index", [423, 927], ids=["a call that races a fault", "a look after a late answer"])
def test_the_reference_passes_where_checks_once_erred(walks, index):
    """Regression: a fault may cancel an answered call; an `inspect` does not discard an earlier refusal."""
    assert dict(walks(factory("message-loop", {})).take(index).found) == {}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_passes(walks, variant):
    """A legal variant violates no clause."""
    breaks_nothing(walks(variant), CALM)


@pytest.mark.long
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_passes_more_walks(walks, variant):
    """Nor does it in more walks."""
    breaks_nothing(walks(variant), CALMER)


def breaks_nothing(loop, numbers):
    """The loop takes these walks, violates no clause, and some are exercised."""
    tallies = [loop.take(index) for index in numbers]

    assert [dict(tally.found) for tally in tallies if tally.found] == []
    assert [trouble for tally in tallies for trouble in tally.troubles] == []
    assert sum(tally.exercised.total() for tally in tallies) > 0


@pytest.mark.sampled(1, nightly=4)
@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_breaks_nothing_else(walks, mutant):
    """Before its own clause, a mutant violates only the clauses listed in `also`."""
    loop, found = walks(mutant), {}
    for index in range(WALKS_MAX):
        found.update(loop.take(index).found)
        if mutant.clause in found:
            break

    assert set(found) - {mutant.clause, *mutant.also} == set()


def test_every_mutant_has_a_walk_or_a_script():
    """Every mutant has one stored schedule that reveals it."""
    names = {mutant.name for mutant in MUTANTS}

    assert REVEALED.keys() == names
    assert WALKS.keys() & SCRIPTS.keys() == set()


def test_every_mutant_breaks_a_clause_that_can_be_seen_from_outside():
    """No mutant is assigned to a clause that cannot be observed."""
    clauses = load_spec("message-loop").clauses

    assert [m.name for m in MUTANTS if m.clause not in clauses or clauses[m.clause].untestable] == []


def test_every_clause_of_the_page_has_a_mutant():
    """Every clause has a mutant, or is listed as having none."""
    blamed = {mutant.clause for mutant in MUTANTS}
    of_the_page = {
        clause.id
        for clause in load_spec("message-loop").clauses.values()
        if not clause.untestable and int(clause.id.partition("-")[2]) < 20 and clause.area != "RUN"
    }

    assert of_the_page - blamed == WITHOUT


WITHOUT = {
    "LOOP-11",  # a hook that changes the stages breaks LOOP-1 or LOOP-2 as well
    "HOOK-6", "ROUND-3",  # test_arrow_clauses.py shows them broken in edited traces
    "CALL-1", "CALL-6", "CALL-16", "CALL-19",  # arrows of a status chart
}  # fmt: skip
