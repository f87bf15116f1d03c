"""Schedules on right runtimes: how many are played, and how many alarms they give, which has to be none.

    python tests/benchmarks/calm.py [SCHEDULES] [SEED] [JOBS]

A quarter of the schedules goes to the reference under each profile, a quarter to the variants, a quarter to
the reference under values of the open policies that are drawn anew every forty schedules, and a quarter to
the same of which only a part is seen and declared.  The walks are those of a check; the corpus is not played.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "doubles"))

from observation_filter import Veiled

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.families.lifecycle.variants import VARIANTS
from runlock.conformance.family.chooser import Seeded, pick
from runlock.conformance.transport.sut import Sut
from runlock.machines.lifecycle.runtime.choices import CHOICES
from runlock.spec.model import load_spec

PORTION = 40
"""Schedules that a runtime plays in one go."""

PROFILES = [name for name, profile in load_spec("lifecycle").profiles.items() if profile.policies]


@dataclass(frozen=True)
class Portion:
    """Walks of one runtime: its kind and name, with the policies that were drawn for it."""

    kind: str
    name: str
    policies: Mapping[str, Any]
    seed: int

    def make(self) -> Callable[[], Any]:
        """The adapter's factory."""
        if self.kind == "variant":
            return next(variant for variant in VARIANTS if variant.name == self.name)
        return factory(self.name, self.policies)

    def open(self) -> Sut:
        """A fresh runtime, or as much of it as is to be seen."""
        sut = Hosted(self.make())
        return Veiled(sut, Seeded(self.seed)) if self.kind == "seen in part" else sut


def drawn(profile: str, chooser: Seeded) -> dict[str, Any]:
    """A value for each policy that the profile leaves open."""
    settled = load_spec("lifecycle").profile(profile).policies
    return {
        key: pick(chooser, policy.values)
        for key, policy in load_spec("lifecycle").policies.items()
        if policy.kind == "one of" and key in CHOICES and key not in settled
    }


def portions(schedules: int, seed: int) -> Iterator[Portion]:
    """What is to be played, a quarter for each kind."""
    each = max(1, schedules // (4 * PORTION))
    for index in range(each):
        own = seed * 1_000_000 + index
        profile = PROFILES[index % len(PROFILES)]
        yield Portion("reference", profile, {}, own)
        yield Portion("variant", VARIANTS[index % len(VARIANTS)].name, {}, own)
        policies = drawn(profile, Seeded(seed, index))
        yield Portion("drawn policies", profile, policies, own)
        yield Portion("seen in part", profile, policies, own)


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
            played_of[portion.kind] += PORTION
            stimuli_of[portion.kind] += stimuli
            alarms_of[portion.kind] += len(alarms)
            for alarm in alarms:
                print(f"ALARM {portion}: {alarm}", flush=True)
    print("| runtimes | schedules | stimuli | alarms |\n|---|--:|--:|--:|")
    for kind in played_of:
        print(f"| {kind} | {played_of[kind]} | {stimuli_of[kind]} | {alarms_of[kind]} |")
    print(f"| all | {played_of.total()} | {stimuli_of.total()} | {alarms_of.total()} |")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
