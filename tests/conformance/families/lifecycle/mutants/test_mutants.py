"""The kit can see: every mutant is blamed on its clause, and every variant passes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runlock.conformance.campaign.stages import Order
from runlock.conformance.driving.bench import Bench, Tally
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.mutants import MUTANTS, Mutant
from runlock.conformance.families.lifecycle.variants import VARIANTS, Variant
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.selftest.mutation_testing import kill

SEED_0 = Order("", 6_000)
"""What `runlock selftest` hunts with unless it is told otherwise."""

SCHEDULES_MAX = 1_000
"""Schedules within which a mutant has to be found; most die in the first ten."""

SHORTEST = 20
"""So many schedules are enough to try every single stimulus: the whole selftest tries more."""

CALM_WALKS = 60
"""Walks that a variant has to pass, beside the whole corpus."""


def schedules(bench: Bench, walks: int) -> Iterator[Tally]:
    """Play the corpus and then walks; gives what each schedule showed."""
    for script in corpus(FAMILY):
        if not applicable(FAMILY, script, bench.handshake):
            tally = Tally()
            bench.play_twice(script.scenario, play(script), tally)
            yield tally
    for index in range(walks):
        tally = Tally()
        scenario = bench.scenarios[index % len(bench.scenarios)]
        bench.play(scenario, lambda session, index=index: walk(session, Seeded(1, index)), tally)
        yield tally


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_blamed_on_its_clause(mutant: Mutant) -> None:
    """A runtime made wrong on purpose breaks the clause that it was made to break, and nothing else.

    The reason says how; the witness is no shorter than the shortest there can be.
    """
    killed = kill(mutant, SEED_0, SHORTEST)

    assert killed.is_dead, killed.why
    assert killed.schedule is not None
    assert killed.schedule <= SCHEDULES_MAX
    assert killed.witness is not None
    assert killed.witness >= (killed.shortest or killed.at_least)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_passes(variant: Variant) -> None:
    """A runtime that takes a freedom which is left open breaks nothing."""
    bench = Bench(lambda: Hosted(variant))
    total = Tally()
    for tally in schedules(bench, CALM_WALKS):
        total.add(tally)

    assert {clause: found.violation.because for clause, found in total.found.items()} == {}
    assert total.troubles == []
    assert total.exercised.total() > 0


def test_every_invariant_has_a_mutant() -> None:
    """A check that was never seen to fail is no check."""
    blamed = {mutant.clause for mutant in MUTANTS}
    assert {check.clause for check in INVARIANTS} - blamed == set()


def test_every_mutant_breaks_a_clause_that_is_checked() -> None:
    """A mutant names a clause that the judge knows."""
    assert {mutant.clause for mutant in MUTANTS} <= FAMILY.checked


def test_mutants_and_variants_have_names_of_their_own() -> None:
    """A name in a report means one thing."""
    names = [mutant.name for mutant in MUTANTS] + [variant.name for variant in VARIANTS]
    assert len(names) == len(set(names))
