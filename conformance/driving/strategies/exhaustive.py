"""Iterative deepening: every schedule of a given number of stimuli, cut into independent shards.

Schedules are replayed from the start because runtime state is not saved; a shared prefix is judged once.
Only schedules of the level's own length are added to the tally.  The first two moves of a schedule
determine its shard, so the shards of a level are disjoint and complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.session_snapshot import SessionSnapshot
from runlock.conformance.driving.shards import SHARDS
from runlock.conformance.driving.strategies.commutation import commute, is_second
from runlock.conformance.driving.strategies.move_enumeration import (
    EnabledMove,
    Scope,
    enabled_moves,
    pairs,
)
from runlock.conformance.driving.strategies.shortest_first import Point, Siblings, length
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import Chooser, Seeded
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.moves import Move

PLAYED: Final = "played"
NAMED: Final = "with every name told apart"
SPARE: Final = "bounded in turns that were not used up"
BROKEN: Final = "broken before"
REORDERED: Final = "gone on with in the other order"
GUESSED: Final = "guessed"

COUNTED: Final = (PLAYED, NAMED, SPARE, BROKEN, REORDERED)
"""Counters of a level."""

PROBES: Final = 4
"""Number of random descents in each scenario, for the estimate of the number of schedules."""

PROBED: Final = 4
"""Maximum depth of a descent; beyond it, the branching factor of the last step is assumed."""


def play_level(bench: Bench, stimuli: int, shard: int, scope: Scope) -> Tally:
    """Run a shard of the schedules with this number of stimuli."""
    level = Level(bench, stimuli, shard, scope)
    for scenario in bench.scenarios:
        level.descend(Point(scenario))
    return level.tally


class Level:
    """One shard of a level under way."""

    def __init__(self, bench: Bench, stimuli: int, shard: int, scope: Scope) -> None:
        self.bench = bench
        self.stimuli = stimuli
        self.shard = shard
        self.scope = scope
        self.tally = Tally()
        self.way: list[
            SessionSnapshot | None
        ] = []  # the points that are being continued from, the newest last

    def descend(self, point: Point, here: Session | None = None) -> None:
        """Try every move from this point that leads to a schedule of the level."""
        session = here or self.bench.judged(point.scenario, _schedule([]), self.tally)
        if session is None:
            return
        siblings = Siblings(self.scope)
        ahead = list(self._options(point, session))
        self.way.append(session.snapshot() if ahead else None)
        for option in ahead:
            self._try(point, option, siblings)
        self.way.pop()

    def _options(self, point: Point, session: Session) -> Iterator[EnabledMove]:
        left = self.stimuli - length(point.moves)
        return (one for one in options(point, session, self.scope, left) if self._is_mine(point, one))

    def _is_mine(self, point: Point, option: EnabledMove) -> bool:
        """Moves that differ in their limit of turns are in the same shard, since they are compared."""
        is_last = length([*point.moves, option.move]) == self.stimuli
        if len(point.options) > 1 or not (point.options or is_last):
            return True
        moves = [*point.moves, Move(option.move.method, option.move.params)]
        return crc32(repr((point.scenario.scenario, moves)).encode()) % SHARDS == self.shard

    def _try(self, point: Point, option: EnabledMove, siblings: Siblings) -> None:
        beyond = point.after(option)
        is_last = length(beyond.moves) == self.stimuli
        if siblings.is_spare(option.move):
            self._count(SPARE, is_last)
            return
        schedule = _schedule(beyond.moves, self.way[-1])
        session = self.bench.judged(point.scenario, schedule, self.tally)
        if session is None or session.sent[-1:] != [option.move]:
            return
        is_plain = siblings.is_plain(option.move, session)
        if is_last:
            self._enter(session, beyond)
        elif session.violation is not None:
            self._count(BROKEN, length(beyond.moves) == self.stimuli - 1)
        elif not is_plain and not self._can_follow(beyond):
            self.descend(beyond, session)

    def _can_follow(self, point: Point) -> bool:
        """Whether the other order of its last two moves represents this one in all continuations."""
        if not self.scope.one_order or not is_second(point.moves):
            return False
        before = self.way[-2] if len(self.way) > 1 else None
        is_left_out = commute(
            self.bench, point.scenario, point.moves, self.scope, self.tally, snapshot=before
        )
        self._count(REORDERED, is_left_out and length(point.moves) == self.stimuli - 1)
        return is_left_out

    def _count(self, what: str, is_here: bool) -> None:
        self.tally.searched[self.stimuli, what] += is_here

    def _enter(self, session: Session, point: Point) -> None:
        self.bench.enter(session, self.tally)
        self.tally.searched[self.stimuli, PLAYED] += 1
        self.tally.searched[self.stimuli, NAMED] += point.stands_for


def options(point: Point, session: Session, scope: Scope, left: int) -> list[EnabledMove]:
    """Every move at this point within the remaining number of stimuli."""
    counts = dict(point.options[-1].counts) if point.options else {}
    actions = session.family.actions
    context = actions.new_context(session.state, counts)
    races = pairs(actions, context, scope, point.uneven) if left > 1 else []
    return [*enabled_moves(actions, context, scope, point.uneven), *races]


class _schedule:
    """Sends these moves, judged from a snapshot if there is one, and closes the scenario."""

    def __init__(self, moves: list[Move], snapshot: SessionSnapshot | None = None) -> None:
        self.moves = moves
        self.snapshot = snapshot

    def __call__(self, session: Session) -> None:
        session.play(self.moves, self.snapshot)
        session.close()


# --- how many there are -------------------------------------------------------------------------


def guess_levels(bench: Bench, depth: int, scope: Scope) -> Tally:
    """Estimate the size of each level from random descents, weighted by the branches that they pass."""
    tally = Tally()
    probe = Probe(bench, min(depth, PROBED), scope, tally)
    for scenario in bench.scenarios:
        for way in range(PROBES):
            for stimuli, weight in probe.down(scenario, Seeded(way)):
                tally.searched[stimuli, GUESSED] += weight
    for level in tally.searched:
        tally.searched[level] = max(1, tally.searched[level] // PROBES)
    return tally


@dataclass(frozen=True, slots=True)
class Probe:
    """Descends at random, to a maximum number of stimuli."""

    bench: Bench
    depth: int
    scope: Scope
    tally: Tally

    def down(self, scenario: Scenario, chooser: Chooser) -> Iterator[tuple[int, int]]:
        """One descent: the estimated number of schedules at each length."""
        point, weight = Point(scenario), 1
        while (left := self.depth - length(point.moves)) > 0:
            found = self._options(point, left)
            if not found:
                return
            weight *= len(found)
            point = point.after(found[chooser.choose(len(found))])
            yield length(point.moves), weight

    def _options(self, point: Point, left: int) -> list[EnabledMove]:
        session = self.bench.judged(point.scenario, _schedule(point.moves), self.tally)
        if session is None or session.violation is not None:
            return []
        return options(point, session, self.scope, left)
