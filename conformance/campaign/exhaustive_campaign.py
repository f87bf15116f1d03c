"""Exhaustion: a campaign of every schedule within a bound, one length after the other.

A length is begun when the one before it is played whole, so that what is cut off is the longest; the
schedules of a length are shared among workers, and add up in the order of their shards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from runlock.conformance.campaign.result import ClauseVerdict, Result, Search
from runlock.conformance.campaign.saved_search import Kept
from runlock.conformance.campaign.stages import Order, Stage, stages_of
from runlock.conformance.campaign.supervisor import (
    INTERRUPTED,
    Advanced,
    Limits,
    Workforce,
    concluded,
    employed,
    given_up_at,
    merged,
    search_of,
    witnesses_of,
)
from runlock.conformance.campaign.units import Played, Unit
from runlock.conformance.driving.strategies.exhaustive import GUESSED, PLAYED, PROBED
from runlock.conformance.driving.tally import Tally

UNREACHED: Final = "no schedule within the bound reaches it"
UNREACHED_YET: Final = "no schedule that was played reaches it"


class Told(Protocol):
    """Who is told how far the search is."""

    def begins(self, stimuli: int, expected: Mapping[int, int]) -> None:
        """A length begins; it and the longer ones have about so many schedules."""
        ...

    def advanced(self, played: int) -> None:
        """So many schedules of this length were played."""
        ...

    def resumed(self, file: Path, schedules: int) -> None:
        """A search goes on that was stopped after so many schedules."""
        ...

    def stopped(self, file: Path) -> None:
        """It is not over, and goes on from this file."""
        ...


@dataclass(slots=True)
class Progress:
    """What is played so far, and how many schedules each length seems to have."""

    depth: int
    units: list[Unit] = field(default_factory=list)
    played: dict[Unit, Played] = field(default_factory=dict)

    def counted(self, what: str) -> dict[int, int]:
        """What was counted of each length, over all that was played."""
        counts: Counter[int] = Counter()
        for one in self.played.values():
            counts.update({at: many for (at, kind), many in one.tally.searched.items() if kind == what})
        return dict(counts)

    def expected(self, whole: int) -> dict[int, int]:
        """About how many schedules each longer length has: guessed, and corrected by the last one played."""
        guessed, played = _prolonged(self.counted(GUESSED), self.depth), self.counted(PLAYED)
        actual, said = (played.get(whole, 1), guessed[whole]) if guessed.get(whole) else (1, 1)
        return {at: many * actual // said for at, many in guessed.items() if at > whole}


def _prolonged(guessed: dict[int, int], depth: int) -> dict[int, int]:
    """Beyond where the probes went, each length has as many times more as the last one had."""
    if PROBED in guessed:
        growth = max(1, guessed[PROBED] // guessed.get(PROBED - 1, 1))
        for at in range(PROBED + 1, depth + 1):
            guessed[at] = guessed[at - 1] * growth
    return guessed


def exhaust(order: Order, jobs: int, budget_seconds: float | None, told: Told, folder: Path) -> Result:
    """Play every schedule within the bound of the order, or as many as the budget lets.

    What was stopped before goes on from what it left in the folder; what is stopped leaves it there.
    """
    limits = Limits.of(budget_seconds)
    progress = Progress(order.depth)
    with employed(order, jobs) as workforce:
        facts = workforce.facts()
        stages = stages_of(order, facts.family)
        kept = Kept(folder, order, facts)
        progress.played = kept.read()
        if progress.played:
            told.resumed(kept.path, sum(one.tally.schedules for one in progress.played.values()))
        try:
            _play(workforce, stages, progress, limits, told)
        except KeyboardInterrupt:  # between two lengths
            limits.cut_off = INTERRUPTED
        _keep(kept, progress, limits, told)
        tally, hopeless = merged(progress.units, progress.played)
        witnesses = witnesses_of(workforce, tally, facts)
    seconds = {} if budget_seconds is None else {"seconds": budget_seconds}
    bound = {"depth": order.depth, "races": order.races, "one_order": order.one_order}
    budget = {**bound, **seconds}
    partial = limits.cut_off or hopeless
    result = concluded(order, facts, tally, witnesses, budget=budget, partial=partial)
    result.search = _search(order, stages, tally, progress)
    why = UNREACHED_YET if partial else UNREACHED
    result.clauses = [_within_the_bound(clause, why) for clause in result.clauses]
    return result


def _play(
    workforce: Workforce, stages: Sequence[Stage], progress: Progress, limits: Limits, told: Told
) -> None:
    for at, stage in enumerate(stages):
        units = [(at, unit) for unit in range(stage.units)]
        progress.units += units
        fresh = [unit for unit in units if unit not in progress.played]
        if stage.level:
            told.begins(stage.level, progress.expected(stage.level - 1))
            before = sum(progress.played[unit].tally.schedules for unit in units if unit not in fresh)
            progress.played |= workforce.play(fresh, limits, _behind(before, told))
        elif fresh:
            progress.played |= _guessed(workforce, fresh, limits)
        if limits.cut_off or given_up_at(progress.units, progress.played) is not None:
            return


def _behind(before: int, told: Told) -> Advanced:
    """Tells how far a length is of which so many schedules were played before."""
    return lambda played: told.advanced(before + played)


def _keep(kept: Kept, progress: Progress, limits: Limits, told: Told) -> None:
    """Leave behind what a search goes on from that was cut off, and nothing of one that is over."""
    if limits.cut_off:
        kept.write(progress.played)
        told.stopped(kept.path)
    else:
        kept.remove()


def _guessed(workforce: Workforce, units: Sequence[Unit], limits: Limits) -> dict[Unit, Played]:
    """The guess is made whatever the budget is: without it nobody knows what is left."""
    unhurried = Limits()
    guessed = workforce.play(units, unhurried, lambda _: None)
    limits.cut_off = unhurried.cut_off
    return guessed


def _search(order: Order, stages: Sequence[Stage], tally: Tally, progress: Progress) -> Search | None:
    search = search_of(order, stages, tally, progress.played)
    if search is None or search.is_exhaustive:
        return search
    expected = progress.expected(search.exhausted)
    missing = (max(0, expected.get(level.stimuli, 0) - level.played) for level in search.levels)
    return replace(search, left=sum(missing))


def _within_the_bound(clause: ClauseVerdict, why: str) -> ClauseVerdict:
    """A bound owes no clause a schedule: one that is not reached leaves nothing undecided."""
    is_unreached = clause.verdict == "untested" and clause.offered and clause.level != "MAY"
    return replace(clause, offered=False, why=why) if is_unreached else clause
