"""The ground that a runtime is supposed to go over: the joint charts, as the outside world lets them be gone.

A hypothesis is one place on it.  What a runtime does not show leads on silently; what the outside world gave
is used when the runtime gets to it, and some things may come to be for which it gave nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final, NamedTuple

from runlock.conformance.families.lifecycle.joint.cues import Cue, is_end
from runlock.conformance.families.lifecycle.joint.labels import (
    Charted,
    Label,
    Way,
)
from runlock.machines.lifecycle.joint.state import Call, Control

__all__ = ["HYPOTHESES_MAX", "Given", "Ground", "Hypothesis", "TooMany", "Unsaid", "World", "is_seen"]

HYPOTHESES_MAX: Final = 300
"""So many hypotheses at once, and what explains so much explains nothing."""


class TooMany(Exception):
    """So many hypotheses explain what was seen that following them is given up."""


def is_silent(way: Way) -> bool:
    """Whether there is nothing to see of a way."""
    return not way.shows


def is_seen(way: Way) -> bool:
    """Whether there is something to see of a way."""
    return bool(way.shows)


class Given(NamedTuple):
    """What the outside world gave: any one of these cues, to a call by its place, or to the run."""

    cues: frozenset[str]
    call: int | None = None


class Hypothesis(NamedTuple):
    """A joint state; what the moves that led to it have still to show, and what was given and not used."""

    control: Control
    calls: tuple[Call, ...] = ()
    owed: tuple[Label, ...] = ()
    inbox: tuple[Given, ...] = ()


class Unsaid(NamedTuple):
    """What may become of a call while it is New, and while it is Resuming, though no answer said so."""

    new: tuple[str, ...] = ()
    resuming: tuple[str, ...] = ()


class World(NamedTuple):
    """What the outside world lets be, for which it gave nothing.

    The ends that it bars; what it gave before a crash (a cue, and the place of a call) and may be known
    still; by the place of each call what is unsaid of it; and the places of the calls whose tool was entered.
    """

    bars: frozenset[str] = frozenset()
    given_before: frozenset[tuple[str, int | None]] = frozenset()
    unsaid: tuple[Unsaid, ...] = ()
    entered: frozenset[int] = frozenset()

    def allows(self, way: Way, one: Hypothesis) -> bool:
        """Whether a way may be gone from here."""
        cue, place = way.cue, way.call
        if is_end(cue):
            return cue not in self.bars
        if cue == Cue.UNENTERED:
            return not any(one.calls[place].status in ("Running", "Resuming") for place in self.entered)
        if cue in (Cue.MAY, Cue.DRAINED) or (cue, place) in self.given_before:
            return True
        if place is None:
            return False
        status = one.calls[place].status
        unsaid = self.unsaid[place]
        return (status == "New" and cue in unsaid.new) or (status == "Resuming" and cue in unsaid.resuming)


class Ground:
    """The joint charts as a world lets them be gone over; it counts the hypotheses that were looked at."""

    def __init__(self, charts: Charted, world: World) -> None:
        self.charts = charts
        self.world = world
        self.looked_at = 0

    def silently(self, states: Collection[Hypothesis]) -> Collection[Hypothesis]:
        """These, and all that they lead to with nothing to see, always in the same order."""
        reached = dict.fromkeys(states)
        ahead = list(reached)
        while ahead:
            for _, after in self.steps(ahead.pop(), is_silent):
                if after not in reached:
                    reached[after] = None
                    ahead.append(after)
            if len(reached) > HYPOTHESES_MAX:
                raise TooMany
        self.looked_at += len(reached)
        return reached

    def steps(
        self, one: Hypothesis, is_wanted: Callable[[Way], bool] | None = None
    ) -> Iterator[tuple[Way, Hypothesis]]:
        """Every way that may be gone now, of those that are wanted, and the hypothesis that it leads to."""
        control, calls, owed, given = one
        ways = self.charts.ways(control, calls)
        for way in ways if is_wanted is None else filter(is_wanted, ways):
            inbox: tuple[Given, ...] | None = given
            if way.cue:
                inbox = _use(given, way) if given else None
                if inbox is None and self.world.allows(way, one):
                    inbox = given
            if inbox is not None:
                yield way, Hypothesis(way.control, way.calls, owed + way.shows, inbox)

    def due(self, one: Hypothesis, *, are_held: bool) -> Iterator[Way]:
        """The ways that a runtime would go by itself or by what it was given; not those of calls held up."""
        for way in self.charts.ways(one.control, one.calls):
            if way.cue == Cue.DRAINED:
                is_due = not are_held
            elif way.cue:
                is_due = _use(one.inbox, way) is not None
            else:
                is_due = not (are_held and way.call is not None)
            if is_due:
                yield way

    def awaited(self, one: Hypothesis) -> Iterator[tuple[str, int | None]]:
        """What the outside world would have to give for a way to be gone: the cue, and the call's place."""
        for way in self.charts.ways(one.control, one.calls):
            if way.cue and _use(one.inbox, way) is None and not self.world.allows(way, one):
                yield way.cue, way.call


def _use(inbox: tuple[Given, ...], way: Way) -> tuple[Given, ...] | None:
    """What is left of what was given, if a way can use some of it."""
    for place, given in enumerate(inbox):
        if way.cue in given.cues and way.call in (None, given.call):
            return (*inbox[:place], *inbox[place + 1 :])
    return None
