"""Schedules on right runtimes: how many are played, and how many alarms they give, which has to be none.

    python tests/benchmarks/calm.py [SCHEDULES] [SEED] [JOBS]

The schedules are shared equally by the kinds of right runtimes.  Of each family these are the reference under
each profile, the variants, and the reference under values of the open policies, drawn anew every forty
schedules; of the lifecycle also the same of which only a part is seen and declared.  The walks are those of a
check; the corpus is not played.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1] / "doubles"))

from observation_filter import Veiled

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import Seeded, pick
from runlock.conformance.family.family import Family, family_named, family_names
from runlock.conformance.transport.sut import Sut

PORTION: Final = 40
"""Schedules that a runtime plays in one go."""

VEILED: Final = "lifecycle"
"""The family whose runtimes may show a part alone."""


@dataclass(frozen=True)
class Portion:
    """Walks of one runtime: its family, kind and name, with the policies that were drawn for it."""

    family: str
    kind: str
    name: str
    seed: int
    policies: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> Callable[[], Any]:
        """The adapter's factory."""
        made = family_named(self.family).made
        return (
            made.variants()[self.name] if self.kind == "variant" else made.reference(self.name, self.policies)
        )

    def open(self) -> Sut:
        """A fresh runtime, or as much of it as is to be seen."""
        sut = family_named(self.family).host(self.make())
        return Veiled(sut, Seeded(self.seed)) if self.kind == "seen in part" else sut


def choices_of(family: Family) -> frozenset[str]:
    """The policies that the reference of a family can follow."""
    runtime = f"runlock.machines.{family.name.replace('-', '_')}.runtime.choices"
    return frozenset(import_module(runtime).CHOICES)


def drawn(family: Family, profile: str, chooser: Seeded) -> dict[str, Any]:
    """A value for each policy that the profile leaves open."""
    settled, can = family.spec.profile(profile).policies, choices_of(family)
    return {
        key: pick(chooser, policy.values)
        for key, policy in family.spec.policies.items()
        if policy.kind == "one of" and key in can and key not in settled
    }


def rounds(family: Family, seed: int) -> Iterator[Iterator[Portion]]:
    """For each round, a portion of each kind of runtimes of a family."""
    profiles = [name for name, profile in family.spec.profiles.items() if profile.policies]
    variants, name = list(family.made.variants()), family.name
    for index in count():
        own, profile = seed * 1_000_000 + index, profiles[index % len(profiles)]
        policies = drawn(family, profile, Seeded(seed, index))
        yield iter(
            [
                Portion(name, "reference", profile, own),
                Portion(name, "variant", variants[index % len(variants)], own),
                Portion(name, "drawn policies", profile, own, policies),
                *([Portion(name, "seen in part", profile, own, policies)] if name == VEILED else ()),
            ]
        )


def portions(schedules: int, seed: int) -> Iterator[Portion]:
    """What is to be played, as much of each kind."""
    of_each = [rounds(family_named(name), seed) for name in family_names()]
    left = schedules
    while left > 0:
        for of_one in of_each:
            for portion in next(of_one):
                yield portion
                left -= PORTION


def played(portion: Portion) -> tuple[Portion, int, list[str]]:
    """The stimuli that reached the runtime, and the alarms, each a sentence."""
    bench, total = Bench(portion.open), Tally()
    for index in range(PORTION):
        scenario = bench.scenarios[index % len(bench.scenarios)]
        bench.play(scenario, lambda session, index=index: walk(session, Seeded(portion.seed, index)), total)
    total.settle(bench.undeclared)
    alarms = [f"{clause}: {found.violation.reason}" for clause, found in total.found.items()]
    return portion, total.stimuli, alarms + [str(trouble) for trouble in total.troubles]


def main(schedules: int = 100_000, seed: int = 1, jobs: int = 2) -> None:
    """Print the table, and each alarm with what it was played on."""
    played_of, stimuli_of, alarms_of = Counter[str](), Counter[str](), Counter[str]()
    with Pool(jobs) as pool:
        for portion, stimuli, alarms in pool.imap_unordered(played, portions(schedules, seed)):
            kind = f"{portion.family}: {portion.kind}"
            played_of[kind] += PORTION
            stimuli_of[kind] += stimuli
            alarms_of[kind] += len(alarms)
            for alarm in alarms:
                print(f"ALARM {portion}: {alarm}", flush=True)
    print("| runtimes | schedules | stimuli | alarms |\n|---|--:|--:|--:|")
    for kind in played_of:
        print(f"| {kind} | {played_of[kind]} | {stimuli_of[kind]} | {alarms_of[kind]} |")
    print(f"| all | {played_of.total()} | {stimuli_of.total()} | {alarms_of.total()} |")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
