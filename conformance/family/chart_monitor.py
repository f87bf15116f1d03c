"""Follows a chart whose states are observable and whose events are not.

Of a flow, the kit observes phases, checkpoints and gates.  A `Reading` says which of these labels show that a
state was entered, and which are allowed while it is active.  A `Follower` keeps every state that explains
the observations so far; the first label that no state explains is not allowed by the chart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final, NamedTuple

from runlock.machines.table import Row, Table


class Detour(NamedTuple):
    """A transition that is followed in some cases only: from a state, or from anywhere, to a state."""

    source: str | None
    target: str
    row: Row | None = None  # the arrow that draws it, of this chart or of another one


Detours = frozenset[Detour]
NO_DETOURS: Final[Detours] = frozenset()

Way = tuple[Row | None, ...]
"""Consecutive arrows; a detour is not among them."""

Ways = tuple[tuple[str, frozenset[Way]], ...]
"""How each state may have been reached since the state was last certain."""

NO_WAY: Final[frozenset[Way]] = frozenset({()})
"""Nothing was taken since then."""

WAYS_MAX: Final = 8

NOT_BEGUN: Final = ""


@dataclass(frozen=True, eq=False)
class Reading:
    """How observations map to a chart.

    `enters` gives the labels that show that a state was entered, `within` those that are allowed while
    it is active.  States in `silent` may be passed without an observation.  Arrows whose clause is in
    `conditional` are taken only where they are among the detours.
    """

    table: Table
    enters: Mapping[str, tuple[str, ...]]
    within: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()
    conditional: frozenset[str] = frozenset()

    @cache  # noqa: B019  # there is a handful of readings, and each lives as long as the kit
    def ways(self, before: str, after: str, detours: Detours = NO_DETOURS) -> frozenset[Way]:
        """Every path from one state to another without an observable label."""
        return frozenset(self._ways(before, after, detours, frozenset()))

    def _ways(self, before: str, after: str, detours: Detours, passed: frozenset[str]) -> Iterator[Way]:
        for row, target in self._arrows(before, detours):
            if target == after:
                yield (row,)
            elif target in self.silent and target not in passed:
                for rest in self._ways(target, after, detours, passed | {target}):
                    yield (row, *rest)

    def _arrows(self, state: str, detours: Detours) -> Iterator[tuple[Row | None, str]]:
        """Every arrow out of a state, and every detour that is not also an arrow."""
        if state == NOT_BEGUN:
            yield None, self.table.initial
        for row in self._drawn(state):
            yield row, row.target
        drawn = {row.target for row in self._drawn(state)}
        for one in detours:
            if one.source in (None, state) and one.target not in drawn:
                yield one.row, one.target

    @cache  # noqa: B019
    def _drawn(self, state: str) -> tuple[Row, ...]:
        """The arrows out of a state that are taken in every case."""
        rows = self.table.rows
        return tuple(row for row in rows if row.source == state and row.clause not in self.conditional)

    def _targets(self, state: str, detours: Detours) -> list[str]:
        """The states that one move leads to."""
        drawn = [row.target for row in self._drawn(state)] if state != NOT_BEGUN else [self.table.initial]
        return [*drawn, *(one.target for one in detours if one.source in (None, state))]

    @cache  # noqa: B019
    def ahead(self, states: frozenset[str], detours: Detours) -> frozenset[str]:
        """Every state after one move, including moves through silent states."""
        seen: set[str] = set()
        ahead = [target for state in states for target in self._targets(state, detours)]
        while ahead:
            state = ahead.pop()
            if state not in seen:
                seen.add(state)
                if state in self.silent:
                    ahead += self._targets(state, detours)
        return frozenset(seen)

    @cache  # noqa: B019
    def after(self, states: frozenset[str], label: str, detours: Detours) -> frozenset[str]:
        """The states that explain this label next, from a set of states."""
        stays = {state for state in states if label in self.within.get(state, ())}
        enters = {state for state in self.ahead(states, detours) if label in self.enters.get(state, ())}
        return frozenset(stays | enters)

    @cache  # noqa: B019
    def on(
        self, ways: Ways, states: frozenset[str], label: str, detours: Detours, *, surely: bool
    ) -> Ways | None:
        """The paths to each state that is possible after a label; None if there are too many."""
        found = [
            (
                now,
                frozenset(
                    (*way, *rest)
                    for was, known in ways
                    for rest in self._more(was, now, label, detours, surely)
                    for way in known
                ),
            )
            for now in states
        ]
        return tuple(found) if max((len(known) for _, known in found), default=0) <= WAYS_MAX else None

    def _more(self, was: str, now: str, label: str, detours: Detours, surely: bool) -> Iterator[Way]:
        if was == now and (not surely or label in self.within.get(was, ())):
            yield ()
        if label in self.enters.get(now, ()):
            yield from self.ways(was, now, detours)

    @cached_property
    def closed(self) -> str:
        """The clause that allows only the transitions of the chart."""
        return next(iter(self.table.closed.values()))

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label once, in the order of the states."""
        every = [
            label for shown in (self.enters, self.within) for labels in shown.values() for label in labels
        ]
        return tuple(dict.fromkeys(every))


class Follower:
    """Every state that one instance of a chart may be in."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.states = frozenset({NOT_BEGUN})
        self.last = ""  # the last label
        self.taken: Way = ()  # the arrows that it certainly took, as of the last label
        self.is_lost = True  # whether the arrow before the last certain one is unknown
        self._ways: Ways | None = ((NOT_BEGUN, NO_WAY),)

    @classmethod
    def at(cls, reading: Reading, state: str) -> Follower:
        """An instance that is certainly in this state."""
        follower = cls(reading)
        follower.states, follower._ways = frozenset({state}), ((state, NO_WAY),)
        return follower

    def lose(self) -> None:
        """The observations no longer determine the state: any state is possible."""
        self.states = frozenset({NOT_BEGUN, *self.reading.table.states})
        self._ways = None

    def see(self, label: str, detours: Detours = NO_DETOURS, *, surely: bool = True) -> str:
        """Process a label; returns the clause of the arrow that was certainly taken, if any.

        A label that may belong to something else is not `surely` this instance's.
        """
        before, after = self.states, self.after(label, detours)
        self.states = after if surely else before | after
        self.last = label
        self._look_back(label, detours, surely)
        arrows = self.reading.table.arrow(*before, *after) if len(before) == len(after) == 1 else ()
        return arrows[0].clause if surely and len(arrows) == 1 else ""

    def _look_back(self, label: str, detours: Detours, surely: bool) -> None:
        """Determine which arrows were certainly taken, also through silent states."""
        self.taken, self.is_lost = (), False
        ways = self._ways
        if ways is not None:
            ways = self.reading.on(ways, self.states, label, detours, surely=surely)
        if len(self.states) > 1:
            self._ways, self.is_lost = ways, ways is None
            return
        only = [way for _, known in ways or () for way in known]
        self.is_lost = len(only) != 1
        self.taken = () if self.is_lost else only[0]
        self._ways = tuple((state, NO_WAY) for state in self.states)

    def begin(self, label: str, detours: Detours = NO_DETOURS) -> None:
        """Start a new instance with this label."""
        self.states = frozenset({NOT_BEGUN})
        self._ways = ((NOT_BEGUN, NO_WAY),)
        self.see(label, detours)

    def after(self, label: str, detours: Detours = NO_DETOURS) -> frozenset[str]:
        """The states that explain this label next; none if no transition allows it."""
        return self.reading.after(self.states, label, detours)

    def may_begin(self, ends: Collection[str], detours: Detours = NO_DETOURS) -> bool:
        """Whether it has not started, or may be in one of these final states."""
        unseen = self.reading.ahead(self.states, detours) & self.reading.silent
        return any(state in (NOT_BEGUN, *ends) for state in (*self.states, *unseen))

    def right(self, detours: Detours = NO_DETOURS) -> list[str]:
        """The labels that are allowed next."""
        return [label for label in self.reading.labels if self.after(label, detours)]
