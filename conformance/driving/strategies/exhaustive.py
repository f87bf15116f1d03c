"""Levels: every schedule of so many stimuli, cut into shards that can be played alone.

A schedule is reached by playing what leads to it, since nothing of a runtime is kept; but what leads to
several is judged once.  Only schedules of the level's own length are entered.  Which shard plays one is read
off its first two moves, so that the shards of a level hold each schedule once, whoever plays them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.session_snapshot import Bookmark
from runlock.conformance.driving.shards import SHARDS
from runlock.conformance.driving.strategies.commutation import are_alike, is_second
from runlock.conformance.driving.strategies.move_enumeration import (
    Option,
    Scope,
    menu,
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
"""What is counted of a level when it is played."""

PROBES: Final = 4
"""So many ways down are tried in each scenario, to guess how many schedules there are."""

PROBED: Final = 4
"""So many stimuli a probe goes down; beyond, each is taken to multiply as the last one did."""


def play_level(bench: Bench, stimuli: int, shard: int, scope: Scope) -> Tally:
    """Play a shard of the schedules of so many stimuli."""
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
        self.way: list[Bookmark | None] = []  # the points that are being gone on from, the newest last

    def descend(self, point: Point, here: Session | None = None) -> None:
        """Try every move from this point that leads to a schedule of the level."""
        session = here or self.bench.judged(point.scenario, _schedule([]), self.tally)
        if session is None:
            return
        siblings = Siblings(self.scope)
        ahead = list(self._options(point, session))
        self.way.append(session.bookmark() if ahead else None)
        for option in ahead:
            self._try(point, option, siblings)
        self.way.pop()

    def _options(self, point: Point, session: Session) -> Iterator[Option]:
        left = self.stimuli - length(point.moves)
        return (one for one in options(point, session, self.scope, left) if self._is_mine(point, one))

    def _is_mine(self, point: Point, option: Option) -> bool:
        """The limits of turns of one move are in one shard, since each is compared with the others."""
        is_last = length([*point.moves, option.move]) == self.stimuli
        if len(point.options) > 1 or not (point.options or is_last):
            return True
        moves = [*point.moves, Move(option.move.method, option.move.params)]
        return crc32(repr((point.scenario.scenario, moves)).encode()) % SHARDS == self.shard

    def _try(self, point: Point, option: Option, siblings: Siblings) -> None:
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
        elif not is_plain and not self._stands_behind(beyond):
            self.descend(beyond, session)

    def _stands_behind(self, point: Point) -> bool:
        """Whether the other order of its last two moves stands for this one in all that follows."""
        if not self.scope.one_order or not is_second(point.moves):
            return False
        before = self.way[-2] if len(self.way) > 1 else None
        is_left_out = are_alike(
            self.bench, point.scenario, point.moves, self.scope, self.tally, behind=before
        )
        self._count(REORDERED, is_left_out and length(point.moves) == self.stimuli - 1)
        return is_left_out

    def _count(self, what: str, is_here: bool) -> None:
        self.tally.searched[self.stimuli, what] += is_here

    def _enter(self, session: Session, point: Point) -> None:
        self.bench.enter(session, self.tally)
        self.tally.searched[self.stimuli, PLAYED] += 1
        self.tally.searched[self.stimuli, NAMED] += point.stands_for


def options(point: Point, session: Session, scope: Scope, left: int) -> list[Option]:
    """Every move at this point that takes no more stimuli than are left."""
    counts = dict(point.options[-1].counts) if point.options else {}
    actions = session.family.actions
    context = actions.new_context(session.state, counts)
    races = pairs(actions, context, scope, point.uneven) if left > 1 else []
    return [*menu(actions, context, scope, point.uneven), *races]


class _schedule:
    """Sends these moves, judged from a bookmark on if there is one, and closes the scenario."""

    def __init__(self, moves: list[Move], behind: Bookmark | None = None) -> None:
        self.moves = moves
        self.behind = behind

    def __call__(self, session: Session) -> None:
        session.play(self.moves, self.behind)
        session.close()


# --- how many there are -------------------------------------------------------------------------


def guess_levels(bench: Bench, depth: int, scope: Scope) -> Tally:
    """Guess how many schedules each level has: ways down at random, each counted for all it passed by."""
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
    """Goes ways down at random, to so many stimuli."""

    bench: Bench
    depth: int
    scope: Scope
    tally: Tally

    def down(self, scenario: Scenario, chooser: Chooser) -> Iterator[tuple[int, int]]:
        """One way: at each length, how many schedules there would be if every way were like this one."""
        point, weight = Point(scenario), 1
        while (left := self.depth - length(point.moves)) > 0:
            found = self._options(point, left)
            if not found:
                return
            weight *= len(found)
            point = point.after(found[chooser.choose(len(found))])
            yield length(point.moves), weight

    def _options(self, point: Point, left: int) -> list[Option]:
        session = self.bench.judged(point.scenario, _schedule(point.moves), self.tally)
        if session is None or session.violation is not None:
            return []
        return options(point, session, self.scope, left)
