"""Two faults in one runtime: of how many drawn pairs a campaign sees both.

    python tests/benchmarks/pairs_of_faults.py [PAIRS] [SEED] [EXAMPLES]

A pair is two mutants of one family, under the same profile and policies, that override different methods.  It
is played as `runlock selftest` plays a mutant, until both clauses were blamed.  As in `runlock check`, what
was blamed is muted, and the schedules that were cut short are played again.  A pair of which one fault was
not seen is listed.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, Final

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.campaign.stages import Stage
from runlock.conformance.family.family import Family, family_named, family_names
from runlock.conformance.family.made import DECLARED, Faulty
from runlock.conformance.selftest.mutation_testing import MutantRun, portions

SEED: Final = 1
"""The seed of the schedules; the one that is given draws the pairs."""


class PairRun(MutantRun):
    """Goes on until both faults of a pair were seen."""

    def __init__(self, family: Family, made: Faulty, pair: tuple[Faulty, Faulty]) -> None:
        super().__init__(lambda: family.host(made), "")
        self.pair = pair

    def play_unit(self, stage: Stage, unit: int) -> None:
        """Play a unit again without what was blamed, until nothing more breaks."""
        before = None
        while before != self.blamed.keys() and not self.is_over:
            before = set(self.blamed)
            self.mute(before)
            super().play_unit(stage, unit)

    @property
    def unseen(self) -> list[str]:
        """The faults that nothing was blamed on yet."""
        return [one.name for one, other in (self.pair, self.pair[::-1]) if not self._is_seen(one, other)]

    def _is_seen(self, one: Faulty, other: Faulty) -> bool:
        own = {one.clause, *one.also}
        return one.clause in self.blamed or bool(own - {other.clause, *other.also} & self.blamed.keys())

    @property
    def is_over(self) -> bool:
        """Whether both were seen."""
        return not self.unseen


def overridden(mutant: Faulty) -> set[str]:
    """The names that a mutant defines over the reference."""
    faulty = mutant.make.__mro__[: mutant.make.__mro__.index(mutant.innocent().make)]
    names = {name for layer in faulty for name in vars(layer)}
    return {name for name in names if not name.startswith("__") or name == "__init__"} - {
        DECLARED,
        "_abc_impl",
    }


def both(one: Faulty, other: Faulty) -> Faulty | None:
    """A runtime with both faults, or None where that would not be both."""
    alike = [(each.profile, dict(each.policies), dict(each.declare), type(each)) for each in (one, other)]
    if alike[0] != alike[1] or one.innocent().make is not other.innocent().make:
        return None
    if one.clause == other.clause or overridden(one) & overridden(other):
        return None
    try:
        return replace(one, make=type(f"{one.name}And{other.name}", (one.make, other.make), {}))
    except TypeError:  # no order of the base classes suits both
        return None


def drawn(family: Family, seed: int) -> Iterator[tuple[Faulty, tuple[Faulty, Faulty]]]:
    """Pairs, drawn with a seed: a runtime with both faults, and the two mutants."""
    mutants: list[Any] = [mutant for mutant in family.made.mutants().values() if not mutant.is_masked]
    chance = random.Random(f"{family.name} {seed}")
    while True:
        pair = tuple(chance.sample(mutants, 2))
        if (made := both(*pair)) is not None:
            yield made, pair


def main(pairs: int = 200, seed: int = 1, examples: int = 1500) -> None:
    """Print each pair of which one fault was not seen, and a line for each family."""
    print(f"{'family':<14}{'pairs':>7}{'both seen':>11}")
    for name, count in shares(pairs).items():
        family, seen = family_named(name), 0
        for (made, pair), _ in zip(drawn(family, seed), range(count), strict=False):
            with closing(PairRun(family, made, pair)) as run:
                run.run(portions(family, Sampled(examples, SEED)))
                seen += run.is_over
                if not run.is_over:
                    print(
                        f"  {made.name}: {', '.join(run.unseen)}; blamed: {', '.join(run.blamed)}", flush=True
                    )
        print(f"{name:<14}{count:>7}{seen:>11}", flush=True)


def shares(pairs: int) -> dict[str, int]:
    """How many pairs of each family, by the number of its mutants."""
    sizes = {name: len(family_named(name).made.mutants()) for name in family_names()}
    return {name: max(1, round(pairs * size / sum(sizes.values()))) for name, size in sizes.items()}


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
