"""Systematic search: every schedule of the menu, those of few stimuli first, each played from its beginning.

Nothing of a runtime is kept between two schedules, so any runtime can be searched; the first violation is
one of the shortest by construction, where a race counts as the stimuli that it holds.  A move that a
runtime answers as it answered a move before it, since the limit of turns was not used up or a race lost a
part, is no schedule of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.session_snapshot import Bookmark
from runlock.conformance.driving.strategies.move_enumeration import (
    Option,
    Scope,
    menu,
    pairs,
)
from runlock.conformance.driving.tally import Found
from runlock.conformance.errors import RunlockError
from runlock.conformance.family.family import Actions
from runlock.conformance.judging.judge import Violation
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.moves import Move

Wanted = Callable[[Violation], bool]
Menu = Callable[[Actions, Any, Scope, int], list[Option]]


def length(moves: Iterable[Move]) -> int:
    """How many stimuli these moves hand over."""
    return sum(len(move.parts()) for move in moves)


@dataclass(frozen=True, slots=True)
class Point:
    """Where schedules go on from: a scenario, the moves so far, and what is remembered of them."""

    scenario: Scenario
    options: tuple[Option, ...] = ()

    @property
    def moves(self) -> list[Move]:
        """The moves so far."""
        return [option.move for option in self.options]

    @property
    def uneven(self) -> int:
        """How many of them were races or bounded in turns."""
        return sum(option.is_uneven for option in self.options)

    @property
    def stands_for(self) -> int:
        """How many schedules differ from these moves by names alone, these among them."""
        return prod(option.stands_for for option in self.options)

    def after(self, option: Option) -> Point:
        """Where this move leads."""
        return replace(self, options=(*self.options, option))


class Siblings:
    """The moves that are tried at one point, and which of them the runtime ended within its turns."""

    def __init__(self, scope: Scope) -> None:
        self._is_pruned = scope.is_pruned
        self._idle: set[str] = set()

    def is_spare(self, move: Move) -> bool:
        """Whether fewer turns were enough for it: with more of them it is the same schedule."""
        return move.turns is not None and repr(replace(move, turns=None)) in self._idle

    def is_plain(self, move: Move, session: Session) -> bool:
        """Whether its turns were not used up, so that whatever follows it follows it without a limit too."""
        is_idle = self._is_pruned and move.turns is not None and session.state.quiescent
        if is_idle:
            self._idle.add(repr(replace(move, turns=None)))
        return is_idle


@dataclass(slots=True)
class Searched:
    """What a search found, how many schedules it tried, and up to how many stimuli it tried all of them."""

    found: Found | None = None
    schedules: int = 0
    exhausted: int = 0
    troubles: list[str] = field(default_factory=list)

    @property
    def shortest(self) -> int | None:
        """How many stimuli the shortest violation takes, if one was found."""
        return None if self.found is None else length(self.found.moves)


class OutOfSchedules(Exception):
    """The search has tried as many schedules as it may."""


class Search:
    """A search on a bench for a violation that is wanted, within so many schedules."""

    def __init__(self, bench: Bench, wanted: Wanted, limit: int, scope: Scope | None = None) -> None:
        self.bench = bench
        self.wanted = wanted
        self.limit = limit
        self.scope = scope or Scope()
        self.searched = Searched()

    def run(self, scenarios: Sequence[Scenario], depth_max: int) -> Searched:
        """Search the schedules of one stimulus, then those of two, up to so many."""
        levels = [[Point(scenario) for scenario in scenarios]]
        try:
            for depth in range(1, depth_max + 1):
                levels.append(list(self._level(levels)))
                if self.searched.found is not None:
                    break
                self.searched.exhausted = depth
        except OutOfSchedules:
            pass
        return self.searched

    def _level(self, levels: Sequence[Sequence[Point]]) -> Iterator[Point]:
        """One stimulus more than the last level has, or two more than the one before it."""
        for point in levels[-1]:
            yield from self._from(point, menu)
        for point in levels[-2] if len(levels) > 1 else ():
            yield from self._from(point, pairs)

    def _from(self, point: Point, moves: Menu) -> Iterator[Point]:
        """Try every such move at this point; gives where those lead that broke nothing."""
        here = self._played(point.scenario, point.moves) if self.searched.found is None else None
        if here is None:
            return
        mark, siblings = here.bookmark(), Siblings(self.scope)
        for option in self._options(point, here, moves):
            if self.searched.found is not None:
                return
            move = option.move
            if siblings.is_spare(move):
                continue
            session = self._played(point.scenario, [*point.moves, move], mark)
            if session is None or session.sent[-1:] != [move]:
                continue
            self._enter(session)
            if not siblings.is_plain(move, session) and session.violation is None:
                yield point.after(option)

    def _options(self, point: Point, session: Session, moves: Menu) -> list[Option]:
        counts = dict(point.options[-1].counts) if point.options else {}
        actions = session.family.actions
        return moves(actions, actions.new_context(session.state, counts), self.scope, point.uneven)

    def _enter(self, session: Session) -> None:
        self.searched.schedules += 1
        violation = session.violation
        if violation is not None and self.wanted(violation):
            self.searched.found = Found(violation, session.scenario, tuple(session.sent), session.trace)
        elif self.searched.schedules >= self.limit:
            raise OutOfSchedules

    def _played(
        self, scenario: Scenario, moves: Sequence[Move], behind: Bookmark | None = None
    ) -> Session | None:
        """The schedule played from its beginning; nothing if it could not be judged, which is noted."""
        try:
            session = self.bench.session(scenario)
            session.play(moves, behind)
            session.close()
        except RunlockError as error:
            self.searched.troubles.append(str(error))
            self.bench.renew()
            return None
        return session


def search(
    bench: Bench,
    wanted: Wanted,
    *,
    limit: int,
    depth_max: int,
    scenarios: Sequence[Scenario] = (),
    scope: Scope | None = None,
) -> Searched:
    """Search for a shortest violation in these scenarios, or in those that the runtime is put into."""
    return Search(bench, wanted, limit, scope).run(scenarios or bench.scenarios, depth_max)
