"""The kit can see: every mutant is blamed on its clause, and every variant passes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interlock.conformance.campaign import Bench, Found, Tally
from interlock.conformance.chooser import Seeded
from interlock.conformance.corpus import applicable, corpus, play
from interlock.conformance.hosted import Hosted
from interlock.conformance.invariants import INVARIANTS
from interlock.conformance.mutants import MUTANTS, Mutant
from interlock.conformance.standing import CHECKED
from interlock.conformance.variants import VARIANTS, Variant
from interlock.conformance.walk import walk

WALKS_MAX = 300
"""Walks within which a mutant has to be found; most die in the first ten."""

CALM_WALKS = 60
"""Walks that a variant has to pass, beside the whole corpus."""


def schedules(bench: Bench, walks: int) -> Iterator[Tally]:
    """Play the corpus and then walks; gives what each schedule showed."""
    for script in corpus():
        if not applicable(script, bench.handshake):
            tally = Tally()
            bench.play_twice(script.scenario, play(script), tally)
            yield tally
    for index in range(walks):
        tally = Tally()
        scenario = bench.scenarios[index % len(bench.scenarios)]
        bench.play(scenario, lambda session, index=index: walk(session, Seeded(1, index)), tally)
        yield tally


def first_blamed(bench: Bench, clause: str) -> tuple[Found | None, set[str]]:
    """The first violation of the clause, and every other clause that was blamed on the way to it."""
    others: set[str] = set()
    for tally in schedules(bench, WALKS_MAX):
        assert not tally.troubles, tally.troubles
        if clause in tally.found:
            return tally.found[clause], others
        others |= tally.found.keys()
    return None, others


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_blamed_on_its_clause(mutant: Mutant) -> None:
    """A runtime made wrong on purpose breaks the clause that it was made to break; the reason says how."""
    bench = Bench(lambda: Hosted(mutant))
    found, others = first_blamed(bench, mutant.clause)

    assert found is not None, f"{mutant.name} was not found; blamed: {others}"
    assert mutant.says in found.violation.because
    assert others <= set(mutant.also)


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
    assert {mutant.clause for mutant in MUTANTS} <= CHECKED


def test_mutants_and_variants_have_names_of_their_own() -> None:
    """A name in a report means one thing."""
    names = [mutant.name for mutant in MUTANTS] + [variant.name for variant in VARIANTS]
    assert len(names) == len(set(names))
