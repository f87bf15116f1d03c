"""Systematic search: every schedule of enabled moves, shortest first, each replayed from its beginning.

No runtime state is saved between two schedules, so any runtime can be searched.  The first violation is one
of the shortest by construction.  A race counts as the number of stimuli in it.  A move that gets the same
answer as an earlier one, because its limit of turns was not used up or its race lost a part, is not
counted as a schedule of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.session_snapshot import SessionSnapshot
from runlock.conformance.driving.strategies.move_enumeration import (
    EnabledMove,
    Scope,
    enabled_moves,
    pairs,
)
from runlock.conformance.driving.tally import Found
from runlock.conformance.errors import RunlockError
from runlock.conformance.family.parts import Actions
from runlock.conformance.judging.judge import Violation
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.moves import Move

Wanted = Callable[[Violation], bool]
Enumeration = Callable[[Actions, Any, Scope, int], list[EnabledMove]]


def length(moves: Iterable[Move]) -> int:
    """How many stimuli these moves contain."""
    return sum(len(move.parts()) for move in moves)


@dataclass(frozen=True, slots=True)
class Point:
    """A point from which schedules continue: a scenario, the moves so far, and what is cached about them."""

    scenario: Scenario
    options: tuple[EnabledMove, ...] = ()

    @property
    def moves(self) -> list[Move]:
        """The moves so far."""
        return [option.move for option in self.options]

    @property
    def uneven(self) -> int:
        """How many of them were races or limited in turns."""
        return sum(option.is_uneven for option in self.options)

    @property
    def stands_for(self) -> int:
        """How many schedules differ from these moves only in names, including this one."""
        return prod(option.stands_for for option in self.options)

    def after(self, option: EnabledMove) -> Point:
        """The point after this move."""
        return replace(self, options=(*self.options, option))


class Siblings:
    """The moves that are tried at one point, and which of them the runtime completed within its turns."""

    def __init__(self, scope: Scope) -> None:
        self._is_pruned = scope.is_pruned
        self._idle: set[str] = set()

    def is_spare(self, move: Move) -> bool:
        """Whether a lower limit of turns was enough for it: with a higher one it is the same schedule."""
        return move.turns is not None and repr(replace(move, turns=None)) in self._idle

    def is_plain(self, move: Move, session: Session) -> bool:
        """Whether its limit of turns was not used up, so that its continuations are the same without a
        limit."""
        is_idle = self._is_pruned and move.turns is not None and session.state.quiescent
        if is_idle:
            self._idle.add(repr(replace(move, turns=None)))
        return is_idle


@dataclass(slots=True)
class Searched:
    """The result of a search, the number of schedules, and the number of stimuli up to which it is
    complete."""

    found: Found | None = None
    schedules: int = 0
    exhausted: int = 0
    troubles: list[str] = field(default_factory=list)

    @property
    def shortest(self) -> int | None:
        """The number of stimuli of the shortest violation, if one was found."""
        return None if self.found is None else length(self.found.moves)


class OutOfSchedules(Exception):
    """The search has reached its limit of schedules."""


class Search:
    """A search on a bench for a given violation, with a limit of schedules."""

    def __init__(self, bench: Bench, wanted: Wanted, limit: int, scope: Scope | None = None) -> None:
        self.bench = bench
        self.wanted = wanted
        self.limit = limit
        self.scope = scope or Scope()
        self.searched = Searched()

    def run(self, scenarios: Sequence[Scenario], depth_max: int) -> Searched:
        """Search the schedules of one stimulus, then those of two, up to a maximum."""
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
        """The next level: one stimulus more than the last one, or two more than the one before it."""
        for point in levels[-1]:
            yield from self._from(point, enabled_moves)
        for point in levels[-2] if len(levels) > 1 else ():
            yield from self._from(point, pairs)

    def _from(self, point: Point, moves: Enumeration) -> Iterator[Point]:
        """Try every such move at this point; returns the points after those that broke nothing."""
        here = self._played(point.scenario, point.moves) if self.searched.found is None else None
        if here is None:
            return
        mark, siblings = here.snapshot(), Siblings(self.scope)
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

    def _options(self, point: Point, session: Session, moves: Enumeration) -> list[EnabledMove]:
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
        self, scenario: Scenario, moves: Sequence[Move], snapshot: SessionSnapshot | None = None
    ) -> Session | None:
        """The schedule replayed from its beginning; None if it could not be judged, which is recorded."""
        try:
            session = self.bench.session(scenario)
            session.play(moves, snapshot)
            session.close()
        except RunlockError as error:
            self.searched.troubles.append(str(error))
            self.bench.renew(error)
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
    """Search for a shortest violation in these scenarios, or in all that the runtime supports."""
    return Search(bench, wanted, limit, scope).run(scenarios or bench.scenarios, depth_max)
