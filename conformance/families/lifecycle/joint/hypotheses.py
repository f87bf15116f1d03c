"""Hypotheses about a run: states of the joint charts that are reachable given what the environment has done.

Internal transitions lead on without an observation.  An input waits in the inbox of a hypothesis until a
transition uses it, and some transitions are permitted without one.
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
"""Upper bound on simultaneous hypotheses; beyond it the trace is too ambiguous to judge."""


class TooMany(Exception):
    """Too many hypotheses explain the trace; the run is not followed any further."""


def is_silent(way: Way) -> bool:
    """Whether the transition is internal."""
    return not way.shows


def is_seen(way: Way) -> bool:
    """Whether the transition is observable."""
    return bool(way.shows)


class Given(NamedTuple):
    """An input: any one of these cues, for a call by its place, or for the run."""

    cues: frozenset[str]
    call: int | None = None


class Hypothesis(NamedTuple):
    """A joint state, the observations it still owes, and the inputs not yet consumed."""

    control: Control
    calls: tuple[Call, ...] = ()
    owed: tuple[Label, ...] = ()
    inbox: tuple[Given, ...] = ()


class Unsaid(NamedTuple):
    """Unreported outcomes allowed for a call that is New or Resuming."""

    new: tuple[str, ...] = ()
    resuming: tuple[str, ...] = ()


class World(NamedTuple):
    """Transitions that the environment permits without a matching input.

    `bars` are the ends that it excludes; `given_before` inputs from before a crash that may still be known;
    `unsaid` the unreported outcomes by the place of each call; `entered` the calls whose tool is running.
    """

    bars: frozenset[str] = frozenset()
    given_before: frozenset[tuple[str, int | None]] = frozenset()
    unsaid: tuple[Unsaid, ...] = ()
    entered: frozenset[int] = frozenset()

    def allows(self, way: Way, one: Hypothesis) -> bool:
        """Whether the transition is enabled in this hypothesis without an input."""
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
    """The hypothesis space: the joint charts in an environment.  Counts the hypotheses looked at."""

    def __init__(self, charts: Charted, world: World) -> None:
        self.charts = charts
        self.world = world
        self.looked_at = 0

    def silently(self, states: Collection[Hypothesis]) -> Collection[Hypothesis]:
        """These, and all that internal transitions lead to, always in the same order."""
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
        """Every enabled transition of those that are wanted, and the hypothesis that it leads to."""
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
        """The transitions that a runtime takes by itself or on its inputs, without those of held calls."""
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
        """The inputs that would enable a transition: the cue, and the call's place."""
        for way in self.charts.ways(one.control, one.calls):
            if way.cue and _use(one.inbox, way) is None and not self.world.allows(way, one):
                yield way.cue, way.call


def _use(inbox: tuple[Given, ...], way: Way) -> tuple[Given, ...] | None:
    """The inbox after a transition has used an input, or None if it can use none."""
    for place, given in enumerate(inbox):
        if way.cue in given.cues and way.call in (None, given.call):
            return (*inbox[:place], *inbox[place + 1 :])
    return None
