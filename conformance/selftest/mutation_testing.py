"""Kills: how soon the schedules of a campaign blame a runtime, made wrong on purpose, on its clause.

The scripted scenarios come first; then the shards of the walks, the Hypothesis machine and the tours by
turns: the same units, with the same seeds, of which `check` is made.  What `check` plays beside them is
left out: the witnesses of planted faults, since a fault that meets its own witness shows nothing, and the
levels, which are the search for the shortest.  A variant is put through the scenarios, those witnesses and
the first shards, and nothing may be blamed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from hypothesis.errors import Flaky

from runlock.conformance.campaign.stages import (
    DRAWN,
    SCRIPTED,
    WALKED,
    WITNESSED,
    Order,
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
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.mutants import MUTANTS, Mutant
from runlock.conformance.families.lifecycle.variants import VARIANTS
from runlock.conformance.protocol import Scenario
from runlock.conformance.selftest.witnesses import BY_COMPARISON
from runlock.conformance.transport.sut import Sut

BY_TURNS: Final = (WALKED, DRAWN, *(strategy.name for strategy in FAMILY.strategies))
"""The stages whose shards are played by turns, when the scripts are over."""

CALM_SHARDS: Final = 1
"""Shards that a variant has to pass, beside the scripted scenarios."""

CALM_SHARE: Final = 4
"""One of so many schedules of a shard is played on a variant."""


class Hunt(Bench):
    """A bench that stops as soon as one clause is blamed, and counts the schedules until then."""

    def __init__(self, open_sut: Callable[[], Sut], clause: str, cap: int | None = None) -> None:
        super().__init__(open_sut)
        self.clause = clause
        self.cap = cap
        self.schedules = 0
        self.blamed: dict[str, int] = {}  # which clause, at which schedule first
        self.found: Found | None = None
        self.troubles: list[Trouble] = []

    @property
    def is_over(self) -> bool:
        """Whether the clause is blamed, or there were enough schedules."""
        return self.found is not None or (self.cap is not None and self.schedules >= self.cap)

    def admit(self, tally: Tally) -> bool:
        """Let schedules be played until it is over."""
        if self.is_over:
            raise Stopped
        return True

    @contextmanager
    def until_over(self) -> Iterator[None]:
        """What is played here ends quietly when it is over; to Hypothesis that is a flaky test."""
        try:
            yield
        except Stopped:
            pass
        except Flaky:
            if not self.is_over:
                raise

    def enter(self, session: Session, tally: Tally) -> None:
        """Count the schedule, and note what it blames."""
        super().enter(session, tally)
        self.schedules += 1
        if session.violation is not None:
            self._blame(Found(session.violation, session.scenario, tuple(session.sent), session.trace))

    def play_twice(self, scenario: Scenario, schedule: Schedule, tally: Tally) -> None:
        """Count a schedule that is played twice as one, and note what the comparison blames."""
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
        """Play units until there is nothing more to find; gives the stage that found it."""
        for stage, unit in portions:
            with self.until_over():
                self.troubles += stage.play(self, unit).troubles
            if self.is_over:
                return stage.name if self.found is not None else ""
        return ""


def portions(order: Order) -> Iterator[tuple[Stage, int]]:
    """The units in which a mutant is hunted: what finds most faults in the fewest schedules comes first."""
    yield from scripts(order)
    yield from by_turns(order, SHARDS)


def scripts(order: Order) -> Iterator[tuple[Stage, int]]:
    """The scripted scenarios, which are the same for every seed."""
    return _units(_stages(order)[SCRIPTED])


def by_turns(order: Order, shards: int) -> Iterator[tuple[Stage, int]]:
    """So many shards of the stages that are played by turns."""
    stages = [_stages(order)[name] for name in BY_TURNS]
    return ((stage, shard) for shard in range(shards) for stage in stages if shard < stage.units)


def portions_of_calm(order: Order) -> Iterator[tuple[Stage, int]]:
    """The units that a variant has to pass: every script, also what gave faults away, and some shards."""
    yield from scripts(order)
    yield from _units(_stages(order)[WITNESSED])
    yield from by_turns(order, CALM_SHARDS)


def _units(stage: Stage) -> Iterator[tuple[Stage, int]]:
    return ((stage, unit) for unit in range(stage.units))


@cache
def _stages(order: Order) -> Mapping[str, Stage]:
    """The stages of an order by name, made once for all mutants."""
    return {stage.name: stage for stage in stages_of(order, FAMILY)}


# --- mutants ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kill:
    """What became of one mutant; `schedule` is the one that blamed its clause, counted from 1."""

    mutant: str
    clause: str
    profile: str
    schedule: int | None
    by: str
    seconds: float
    blamed: dict[str, int]
    astray: tuple[str, ...]  # clauses that were blamed, and are neither its own nor excused
    troubles: tuple[str, ...] = ()  # schedules that could not be judged
    because: str = ""
    is_said: bool = False  # the reason is the one that the mutant is known for
    witness: int | None = None
    shortest: int | None = None
    at_least: int = 0  # no violation takes fewer stimuli than these
    tried: int = 0  # schedules of the systematic search

    @property
    def is_dead(self) -> bool:
        """Whether it was blamed on its clause, for its reason, and on nothing that it did not break."""
        return not self.why

    @property
    def why(self) -> str:
        """What keeps it from being dead, or nothing."""
        if self.schedule is None:
            elsewhere = ", ".join(self.blamed) or "nothing"
            return f"{self.clause} was not blamed; {elsewhere} was"
        if not self.is_said:
            return f"{self.clause} was blamed, but for this: {self.because}"
        if self.astray:
            return f"{', '.join(self.astray)} was blamed as well"
        return f"a schedule could not be judged: {self.troubles[0]}" if self.troubles else ""


def kill(mutant: Mutant, order: Order, shortest: int = 0) -> Kill:
    """Hunt one mutant; with a limit of schedules, also search for the shortest way to show it."""
    began = time.process_time()
    hunt = Hunt(lambda: Hosted(mutant), mutant.clause)
    try:
        by = hunt.run(portions(order))
        seconds = time.process_time() - began
        found = hunt.found
        lengths = _lengths(hunt, found, shortest) if found is not None else {}
    finally:
        hunt.close()
    because = found.violation.because if found is not None else ""
    return Kill(
        mutant.name,
        mutant.clause,
        mutant.profile,
        hunt.schedules if found is not None else None,
        by,
        round(seconds, 2),
        hunt.blamed,
        tuple(clause for clause in hunt.blamed if clause not in (mutant.clause, *mutant.also)),
        tuple(trouble.what for trouble in hunt.troubles),
        because,
        mutant.says in because,
        **lengths,
    )


def _lengths(hunt: Hunt, found: Found, limit: int) -> dict[str, Any]:
    """How long the witness is, and the shortest possible one as far as so many schedules tell."""
    witness = length(hunt.witness(found).moves)
    if not limit or found.violation.clause in BY_COMPARISON:
        return {"witness": witness}
    searched = search(
        hunt,
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
class Calm:
    """What became of one variant: which clauses were blamed, and what could not be judged."""

    variant: str
    schedules: int
    blamed: dict[str, str] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()

    @property
    def is_passed(self) -> bool:
        """Whether nothing was blamed, and everything could be judged."""
        return not (self.blamed or self.troubles)


def calm(name: str, order: Order) -> Calm:
    """Put a variant through the scenarios and its share of the shards."""
    order = replace(order, examples=order.examples // CALM_SHARE)
    variant = next(one for one in VARIANTS if one.name == name)
    bench = Bench(lambda: Hosted(variant))
    total = Tally()
    try:
        for stage, unit in portions_of_calm(order):
            total.add(stage.play(bench, unit))
    finally:
        bench.close()
    blamed = {clause: found.violation.because for clause, found in total.found.items()}
    return Calm(name, total.schedules, blamed, tuple(trouble.what for trouble in total.troubles))


def kill_named(name: str, order: Order, shortest: int) -> Kill:
    """Hunt the mutant of that name."""
    return kill(next(mutant for mutant in MUTANTS if mutant.name == name), order, shortest)
