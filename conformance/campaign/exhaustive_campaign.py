"""Exhaustive campaign: every schedule within a bound, one length after the other.

A length starts when the previous one is complete, so a cut-off affects the longest schedules.  The
schedules of a length are shared among workers, and added up in the order of their shards.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from runlock.conformance.campaign.interrupts import INTERRUPTED, Limits, polite_interrupt
from runlock.conformance.campaign.order import Exhaustive, Means, Order
from runlock.conformance.campaign.result import ClauseVerdict, Result, Search
from runlock.conformance.campaign.saved_search import SavedSearch
from runlock.conformance.campaign.stages import Stage, Unit, stages_of
from runlock.conformance.campaign.supervisor import (
    broken_in,
    concluded,
    employed,
    facts_of,
    merged,
    played_to_the_end,
    questions_of,
    search_of,
    witnesses_of,
)
from runlock.conformance.campaign.units import Facts, Played
from runlock.conformance.campaign.workforce import Advanced, Finished, Workforce, given_up_at
from runlock.conformance.driving.strategies.exhaustive import GUESSED, PLAYED, PROBED
from runlock.conformance.driving.tally import Tally

SAVED_EVERY_SECONDS: Final = 30.0
"""How often a search saves itself; what it finds does not depend on it."""

UNREACHED: Final = "no schedule within the bound reaches it"
UNREACHED_YET: Final = "no schedule that was played reaches it"


class ProgressCallbacks(Protocol):
    """Progress callbacks of a search."""

    def begins(self, stimuli: int, expected: Mapping[int, int]) -> None:
        """A length starts; gives the estimated sizes of it and of the longer ones."""
        ...

    def advanced(self, played: int) -> None:
        """Number of schedules run at this length."""
        ...

    def resumed(self, file: Path, schedules: int) -> None:
        """A stopped search is resumed; gives the number of schedules run before."""
        ...

    def stopped(self, file: Path) -> None:
        """The search is not complete, and can be resumed from this file."""
        ...


@dataclass(slots=True)
class Progress:
    """The results so far, and the estimated number of schedules of each length."""

    depth: int
    units: list[Unit] = field(default_factory=list)
    played: dict[Unit, Played] = field(default_factory=dict)

    def counted(self, what: str) -> dict[int, int]:
        """The counters of each length, over all results."""
        counts: Counter[int] = Counter()
        for one in self.played.values():
            counts.update({at: many for (at, kind), many in one.tally.searched.items() if kind == what})
        return dict(counts)

    def expected(self, whole: int) -> dict[int, int]:
        """The estimated size of each longer length, corrected by the last complete one."""
        guessed, played = _prolonged(self.counted(GUESSED), self.depth), self.counted(PLAYED)
        actual, said = (played.get(whole, 1), guessed[whole]) if guessed.get(whole) else (1, 1)
        return {at: many * actual // said for at, many in guessed.items() if at > whole}


def _prolonged(guessed: dict[int, int], depth: int) -> dict[int, int]:
    """Beyond the depth of the probes, the last growth factor is assumed."""
    if PROBED in guessed:
        growth = max(1, guessed[PROBED] // guessed.get(PROBED - 1, 1))
        for at in range(PROBED + 1, depth + 1):
            guessed[at] = guessed[at - 1] * growth
    return guessed


def exhaust(
    order: Order[Exhaustive],
    means: Means,
    callbacks: ProgressCallbacks,
    folder: Path,
) -> Result:
    """Run every schedule within the bound of the order, as far as the budget allows.

    A stopped search is resumed from its file in the folder, and a search that is stopped leaves one there.
    """
    limits = Limits.of(means.seconds)
    plan, progress = order.plan, Progress(order.plan.depth)
    with polite_interrupt(limits), employed(order, means) as workforce:
        facts = facts_of(workforce)
        stages = stages_of(plan, facts.family)
        saved = SavedSearch(folder, order, facts)
        progress.played = saved.read()
        if progress.played:
            callbacks.resumed(saved.path, sum(one.tally.schedules for one in progress.played.values()))
        try:
            _play(workforce, facts, stages, progress, limits, callbacks, _Saving(saved, progress))
        except KeyboardInterrupt:  # between two lengths
            limits.cut_off = INTERRUPTED
        _keep(saved, progress, limits, callbacks)
        tally, hopeless = merged(progress.units, progress.played)
        witnesses = witnesses_of(workforce, tally, facts)
        questions = questions_of(workforce, tally, facts)
    budget = asdict(plan) | ({} if means.seconds is None else {"seconds": means.seconds})
    partial = limits.cut_off or hopeless
    result = concluded(
        order.target, order.clauses, facts, tally, witnesses, questions, budget=budget, partial=partial
    )
    result.search = _search(plan, stages, tally, progress)
    why = UNREACHED_YET if partial else UNREACHED
    result.clauses = [_within_the_bound(clause, why) for clause in result.clauses]
    return result


def _play(
    workforce: Workforce,
    facts: Facts,
    stages: Sequence[Stage],
    progress: Progress,
    limits: Limits,
    callbacks: ProgressCallbacks,
    finished: Finished,
) -> None:
    for at, stage in enumerate(stages):
        units = [(at, unit) for unit in range(stage.units)]
        progress.units += units
        fresh = [unit for unit in units if unit not in progress.played]
        if stage.level:
            callbacks.begins(stage.level, progress.expected(stage.level - 1))
            before = sum(progress.played[unit].tally.schedules for unit in units if unit not in fresh)
            muted = broken_in((one for unit, one in progress.played.items() if unit[0] < at), facts)
            progress.played |= played_to_the_end(
                workforce, facts, units, limits, _after(before, callbacks), muted, progress.played, finished
            )
        elif fresh:
            progress.played |= _guessed(workforce, fresh, limits)
        if limits.cut_off or given_up_at(progress.units, progress.played) is not None:
            return


class _Saving:
    """Saves a search every half minute, so that even SIGKILL costs no more."""

    def __init__(self, saved: SavedSearch, progress: Progress) -> None:
        self._saved, self._progress, self._last = saved, progress, time.monotonic()

    def __call__(self, done: Mapping[Unit, Played]) -> None:
        if time.monotonic() - self._last >= SAVED_EVERY_SECONDS:
            self._saved.write({**self._progress.played, **done})
            self._last = time.monotonic()


def _after(before: int, callbacks: ProgressCallbacks) -> Advanced:
    """Reports the progress within a length, including the schedules that were run before."""
    return lambda played: callbacks.advanced(before + played)


def _keep(saved: SavedSearch, progress: Progress, limits: Limits, callbacks: ProgressCallbacks) -> None:
    """Save a search that was cut off, or remove the file of a complete one."""
    if limits.cut_off:
        if saved.write(progress.played):
            callbacks.stopped(saved.path)
    else:
        saved.remove()


def _guessed(workforce: Workforce, units: Sequence[Unit], limits: Limits) -> dict[Unit, Played]:
    """Estimate the sizes, independent of the budget, so that the report can say what is left."""
    unhurried = Limits()
    guessed = workforce.play(units, unhurried, lambda _: None)
    limits.cut_off = unhurried.cut_off
    return guessed


def _search(plan: Exhaustive, stages: Sequence[Stage], tally: Tally, progress: Progress) -> Search | None:
    search = search_of(plan, stages, tally, progress.played)
    if search is None or search.is_exhaustive:
        return search
    expected = progress.expected(search.exhausted)
    missing = (max(0, expected.get(level.stimuli, 0) - level.played) for level in search.levels)
    return replace(search, left=sum(missing))


def _within_the_bound(clause: ClauseVerdict, why: str) -> ClauseVerdict:
    """Do not require coverage: a clause that the bound does not reach does not leave the result undecided."""
    is_unreached = clause.verdict == "untested" and clause.offered and clause.level != "MAY"
    return replace(clause, offered=False, why=why) if is_unreached else clause
