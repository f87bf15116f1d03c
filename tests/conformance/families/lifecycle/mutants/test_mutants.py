"""The kit can see: every mutant is blamed on its clause, and every variant passes.

Here each mutant plays its witness, and each variant its share of the corpus.  The hunts, and the whole corpus
on each variant, are what `runlock selftest` plays: tests/conformance/cli/test_selftest.py, in the long lane.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from played_scripts import reasons

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.mutants import MUTANTS, Mutant
from runlock.conformance.families.lifecycle.variants import VARIANTS, Variant
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.selftest.mutation_testing import kill
from runlock.conformance.selftest.witnesses import Case, witnesses

WITHOUT_A_WITNESS = Sampled(6_000)
"""What a mutant of the clause about determinism is hunted with, which no single schedule breaks."""

QUICK, MORE = (72, 1), (12, 6)
"""A variant plays one script in N, the next variant from the next script on, and M random walks; (N, M)."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_blamed_on_its_clause(mutant: Mutant) -> None:
    """A runtime that is wrong on purpose breaks its clause, with its reason, in the schedule of its witness.

    The reference takes the same schedule and breaks nothing.
    """
    witness = witnesses(FAMILY).get(mutant.name)
    if witness is None:
        assert kill(FAMILY, mutant, WITHOUT_A_WITNESS).why == ""
        return
    case = Case(FAMILY, mutant)
    shown = case.shown(witness.scenario, witness.moves)
    case.close()

    assert shown is not None, f"{mutant.clause} is not broken, or for another reason than {mutant.says!r}"
    assert shown.violation is not None
    assert (shown.violation.clause, shown.violation.reason) == (witness.clause, witness.reason)


def schedules(bench: Bench, share: int, every: int, walks: int) -> Iterator[Tally]:
    """Play a share of the corpus, and then random walks; gives what each schedule showed."""
    for script in corpus(FAMILY)[share % every :: every]:
        if not applicable(FAMILY, script, bench.handshake):
            tally = Tally()
            bench.play(script.scenario, play(script), tally)
            yield tally
    for index in range(walks):
        tally = Tally()
        scenario = bench.scenarios[index % len(bench.scenarios)]
        bench.play(scenario, lambda session, index=index: walk(session, Seeded(1, share, index)), tally)
        yield tally


each_variant = pytest.mark.parametrize(
    ("variant", "share"), [(one, at) for at, one in enumerate(VARIANTS)], ids=[one.name for one in VARIANTS]
)


@each_variant
def test_a_variant_passes(variant: Variant, share: int) -> None:
    """A runtime that uses a freedom breaks nothing."""
    breaks_nothing(variant, share, *QUICK)


@pytest.mark.sampled(1, nightly=5)
@pytest.mark.long
@each_variant
def test_a_variant_passes_in_more_schedules(variant: Variant, share: int) -> None:
    """Nor does it in more scripts and walks."""
    breaks_nothing(variant, share, *MORE)


def breaks_nothing(variant: Variant, share: int, every: int, walks: int) -> None:
    """Play the schedules of a variant: no clause is broken, and some are exercised."""
    bench = Bench(lambda: Hosted(variant))
    total = Tally()
    for tally in schedules(bench, share, every, walks):
        total.add(tally)
    bench.close()

    assert reasons(total) == {}
    assert total.troubles == []
    assert total.exercised.total() > 0


def test_every_invariant_has_a_mutant() -> None:
    """A check that was never seen to fail is no check; what a permission counts cannot fail."""
    blamed = {mutant.clause for mutant in MUTANTS}
    assert {check.clause for check in INVARIANTS if not check.only_counts} - blamed == set()


def test_every_mutant_breaks_a_clause_that_is_checked() -> None:
    """A mutant names a clause that the judge knows."""
    assert {mutant.clause for mutant in MUTANTS} <= FAMILY.checked
