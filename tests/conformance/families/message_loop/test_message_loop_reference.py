"""The reference message loop, its legal variants and its mutants under the checks of the family."""

from collections import Counter

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.message_loop.host.hosted import Hosted
from runlock.conformance.families.message_loop.mutants import MUTANTS
from runlock.conformance.families.message_loop.reference import factory
from runlock.conformance.families.message_loop.variants import VARIANTS
from runlock.conformance.family.chooser import Seeded
from runlock.spec.model import load_spec

WALKS = 40
"""Random walks that the reference and a variant have to pass."""

WALKS_MAX = 600
"""Random walks within which a mutant has to be blamed on its clause."""


def walks(make, count, clause=None):
    """What random walks showed: the reasons by clause; it stops when `clause` is among them."""
    bench = Bench(lambda: Hosted(make))
    reasons, exercised, troubles = {}, Counter(), []
    try:
        for index in range(count):
            tally = Tally()
            scenario = bench.scenarios[index % len(bench.scenarios)]
            bench.play(scenario, lambda session, index=index: walk(session, Seeded(1, index)), tally)
            reasons.update({name: found.violation.because for name, found in tally.found.items()})
            exercised.update(tally.exercised)
            troubles += tally.troubles
            if clause in reasons:
                break
    finally:
        bench.close()
    return reasons, exercised, troubles


@pytest.mark.parametrize("profile", ["message-loop", "message-loop-core"])
def test_the_reference_passes(profile):
    """It breaks no clause of its own family, and exercises most of them."""
    reasons, exercised, troubles = walks(factory(profile), WALKS)

    assert (reasons, troubles) == ({}, [])
    assert len(exercised) > 50


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_passes(variant):
    """A loop that takes a freedom which is left open breaks nothing."""
    reasons, exercised, troubles = walks(variant, WALKS // 2)

    assert (reasons, troubles) == ({}, [])
    assert exercised.total() > 0


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_blamed_on_its_clause(mutant):
    """A loop that was made wrong on purpose breaks the clause that it was made to break, and no other."""
    reasons, _, _ = walks(mutant, WALKS_MAX, mutant.clause)

    assert mutant.says in reasons.get(mutant.clause, "not blamed")
    assert set(reasons) - {mutant.clause, *mutant.also} == set()


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
