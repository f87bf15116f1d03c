"""Mutation testing: how many schedules a campaign needs to blame each mutant on its clause.

The scripted scenarios come first; then the shards of the walks, the Hypothesis machine and the tours in
turn, which are the same units, with the same seeds, that `check` uses.  Two stages of `check` are left out:
the witnesses of mutants, since a mutant that meets its own witness proves nothing, and the exhaustive levels,
which are the search for the shortest witness.  A variant runs the scenarios, the witnesses and the first
shards, and nothing may be blamed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from hypothesis.errors import Flaky

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.campaign.stages import (
    DRAWN,
    SCRIPTED,
    WALKED,
    WITNESSED,
    Stage,
    stages_of,
)
from runlock.conformance.campaign.units import Stopped
from runlock.conformance.driving.bench import Bench, Schedule
from runlock.conformance.driving.findings import Trouble
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.shards import SHARDS
from runlock.conformance.driving.strategies.shortest_first import length, search
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.family.made import Mutant, is_said
from runlock.conformance.protocol import Scenario
from runlock.conformance.transport.sut import Sut

CALM_SHARDS: Final = 1
"""Number of shards that a variant has to pass, in addition to the scripted scenarios."""

CALM_SHARE: Final = 4
"""One in this many schedules of a shard is run on a variant."""


class MutantRun(Bench):
    """A bench that stops as soon as one clause is blamed, and counts the schedules until then."""

    def __init__(self, open_sut: Callable[[], Sut], clause: str, cap: int | None = None) -> None:
        super().__init__(open_sut)
        self.clause = clause
        self.cap = cap
        self.schedules = 0
        self.blamed: dict[str, int] = {}  # which clause, and the first schedule that blames it
        self.found: Found | None = None
        self.troubles: list[Trouble] = []

    @property
    def is_over(self) -> bool:
        """Whether the clause is blamed, or the limit of schedules is reached."""
        return self.found is not None or (self.cap is not None and self.schedules >= self.cap)

    @property
    def plays_all(self) -> bool:  # type: ignore[override]
        """Whether it goes on."""
        return not self.is_over

    def admit(self, tally: Tally) -> bool:
        """Allow schedules until it is over."""
        if self.is_over:
            raise Stopped
        return True

    @contextmanager
    def until_over(self) -> Iterator[None]:
        """Run in a context that ends silently when it is over; to Hypothesis that is a flaky test."""
        try:
            yield
        except Stopped:
            pass
        except Flaky:
            if not self.is_over:
                raise

    def enter(self, session: Session, tally: Tally) -> None:
        """Count the schedule, and record the clause that it blames."""
        super().enter(session, tally)
        self.schedules += 1
        if session.violation is not None:
            self._blame(Found(session.violation, session.scenario, tuple(session.sent), session.trace))

    def play_twice(self, scenario: Scenario, schedule: Schedule, tally: Tally) -> None:
        """Count a schedule that is run twice as one, and record the clause that the comparison blames."""
        before, showed = self.schedules, Tally()
        super().play_twice(scenario, schedule, showed)
        self.schedules = before + showed.schedules
        tally.add(showed)
        for found in showed.found.values():
            self._blame(found)

    def _blame(self, found: Found) -> None:
        self.blamed.setdefault(found.violation.clause, self.schedules)
        if found.violation.clause == self.clause and self.found is None:
            self.found = found

    def run(self, portions: Iterator[tuple[Stage, int]]) -> str:
        """Run units until there is nothing more to find; returns the stage that found it."""
        for stage, unit in portions:
            self.play_unit(stage, unit)
            if self.is_over:
                return stage.name if self.found is not None else ""
        return ""

    def play_unit(self, stage: Stage, unit: int) -> None:
        """Play one unit, or its first part if that is enough."""
        with self.until_over():
            self.troubles += stage.play(self, unit).troubles


def portions(family: Family, plan: Sampled) -> Iterator[tuple[Stage, int]]:
    """The units for a mutant, ordered so that most faults are found with the fewest schedules."""
    yield from scripts(family, plan)
    yield from by_turns(family, plan, SHARDS)


def scripts(family: Family, plan: Sampled) -> Iterator[tuple[Stage, int]]:
    """The scripted scenarios, which are the same for every seed."""
    return _units(_stages(family.name, plan)[SCRIPTED])


def by_turns(family: Family, plan: Sampled, shards: int) -> Iterator[tuple[Stage, int]]:
    """A number of shards of the stages that alternate."""
    names = (WALKED, DRAWN, *(strategy.name for strategy in family.driving.strategies))
    stages = [_stages(family.name, plan)[name] for name in names]
    return ((stage, shard) for shard in range(shards) for stage in stages if shard < stage.units)


def portions_of_calm(family: Family, plan: Sampled) -> Iterator[tuple[Stage, int]]:
    """The units that a variant has to pass: every script, every witness, and some shards."""
    yield from scripts(family, plan)
    yield from _units(_stages(family.name, plan)[WITNESSED])
    yield from by_turns(family, plan, CALM_SHARDS)


def _units(stage: Stage) -> Iterator[tuple[Stage, int]]:
    return ((stage, unit) for unit in range(stage.units))


@cache
def _stages(family: str, plan: Sampled) -> Mapping[str, Stage]:
    """The stages of a plan by name, created once for all mutants."""
    return {stage.name: stage for stage in stages_of(plan, family_named(family))}


# --- mutants ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MutantResult:
    """The result for one mutant; `schedule` is the one that blamed its clause, counted from 1."""

    mutant: str
    clause: str
    profile: str
    schedule: int | None
    by: str
    seconds: float
    blamed: dict[str, int]
    astray: tuple[str, ...]  # blamed clauses that are neither its own nor excused
    troubles: tuple[str, ...] = ()  # schedules that could not be judged
    reason: str = ""
    is_said: bool = False  # the reason is the expected one
    witness: int | None = None
    shortest: int | None = None
    at_least: int = 0  # no violation takes fewer stimuli than these
    tried: int = 0  # schedules of the systematic search

    @property
    def is_dead(self) -> bool:
        """Whether it was blamed on its clause, for the expected reason, and on no other clause."""
        return not self.why

    @property
    def why(self) -> str:
        """Why it is not killed, or None."""
        if self.schedule is None:
            elsewhere = ", ".join(self.blamed) or "nothing"
            return f"{self.clause} was not blamed; {elsewhere} was"
        if not self.is_said:
            return f"{self.clause} was blamed, but for this: {self.reason}"
        if self.astray:
            return f"{', '.join(self.astray)} was blamed as well"
        return f"a schedule could not be judged: {self.troubles[0]}" if self.troubles else ""


def kill(family: Family, mutant: Mutant, plan: Sampled, shortest: int = 0) -> MutantResult:
    """Test one mutant; with a limit of schedules, also search for the shortest witness."""
    began = time.process_time()
    run = MutantRun(lambda: family.host(mutant), mutant.clause)
    try:
        run.mute(mutant.also if mutant.is_masked else ())
        by = run.run(portions(family, plan))
        seconds = time.process_time() - began
        found = run.found
        lengths = _lengths(run, found, shortest) if found is not None else {}
    finally:
        run.close()
    because = found.violation.reason if found is not None else ""
    return MutantResult(
        mutant.name,
        mutant.clause,
        mutant.profile,
        run.schedules if found is not None else None,
        by,
        round(seconds, 2),
        run.blamed,
        tuple(clause for clause in run.blamed if clause not in (mutant.clause, *mutant.also)),
        tuple(trouble.what for trouble in run.troubles),
        because,
        is_said(mutant, because),
        **lengths,
    )


def _lengths(run: MutantRun, found: Found, limit: int) -> dict[str, Any]:
    """Witness length and the best lower bound found."""
    witness = length(run.witness(found).moves)
    if not limit or found.violation.clause == run.family.judging.determinism:
        return {"witness": witness}
    searched = search(
        run,
        lambda violation: violation.clause == found.violation.clause,
        limit=limit,
        depth_max=witness - 1,
        scenarios=[found.scenario],
    )
    is_known = searched.exhausted >= witness - 1
    return {
        "witness": witness,
        "shortest": searched.shortest or (witness if is_known else None),
        "at_least": searched.exhausted + 1,
        "tried": searched.schedules,
    }


# --- variants -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VariantResult:
    """The result for one variant: the blamed clauses, and what could not be judged."""

    variant: str
    schedules: int
    blamed: dict[str, str] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()

    @property
    def is_passed(self) -> bool:
        """Whether nothing was blamed, and everything could be judged."""
        return not (self.blamed or self.troubles)


def calm(named: tuple[str, str], plan: Sampled) -> VariantResult:
    """Run the scenarios and the shards of a variant, which is named with its family."""
    plan = replace(plan, examples=plan.examples // CALM_SHARE)
    family = family_named(named[0])
    variant = family.made.variants()[named[1]]
    bench = Bench(lambda: family.host(variant))
    total = Tally()
    try:
        for stage, unit in portions_of_calm(family, plan):
            total.add(stage.play(bench, unit))
    finally:
        bench.close()
    blamed = {clause: found.violation.reason for clause, found in total.found.items()}
    troubles = [*(one.what for one in total.troubles), *(one.sentence for one in bench.ledger.shown)]
    return VariantResult(variant.name, total.schedules, blamed, tuple(troubles))


def kill_named(named: tuple[str, str], plan: Sampled, shortest: int) -> MutantResult:
    """Test the mutant with this family and name."""
    family = family_named(named[0])
    return kill(family, family.made.mutants()[named[1]], plan, shortest)
