"""The set of hypotheses that explain a trace so far, and where events lead it.

As soon as a transition depends on an open policy, the set is split by the values of that policy.  The result
of an event depends on the set alone, so it is cached and shared by all schedules that reach the same set.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from runlock.conformance.families.lifecycle.joint.cues import Cue
from runlock.conformance.families.lifecycle.joint.hypotheses import (
    HYPOTHESES_MAX,
    Ground,
    Hypothesis,
    TooMany,
    World,
)
from runlock.conformance.families.lifecycle.joint.labels import (
    ATLASES_MAX,
    Label,
    Open,
    Settled,
    charted,
)

__all__ = ["Ahead", "Event", "JointStates", "Sets", "worked_out"]

LOOKED_AT_MAX: Final = 4_000
"""Upper bound on the hypotheses that are looked at for one run."""

KEPT_MAX: Final = 50_000
"""Upper bound on the hypotheses in the cache, so that a long campaign does not fill the memory."""

ANYWHERE: Final = World()

T = TypeVar("T")

Hypotheses = frozenset[Hypothesis]
Sets = frozenset[tuple[Settled, Hypotheses]]
"""The hypotheses for each way to settle what is open."""


class Event(Protocol):
    """What joint states meet; of two that are equal, one stands for both."""

    def __hash__(self) -> int: ...

    def leads(self, ground: Ground, states: Collection[Hypothesis]) -> Iterable[Hypothesis]:
        """Every hypothesis that explains it, of all that these lead to."""


class Led(NamedTuple):
    """Where an event led, unless that was too much, and how many hypotheses were looked at."""

    sets: Sets | None
    looked_at: int


class Ahead(NamedTuple):
    """What is owed or would be shown next; what is due, and the cues that are waited for, of which call."""

    owed: frozenset[Label] = frozenset()
    shown: frozenset[Label] = frozenset()
    due: frozenset[tuple[str, int | None]] = frozenset()
    awaited: frozenset[tuple[str, int | None]] = frozenset()


class Found(NamedTuple, Generic[T]):
    """What was found where this is supposed of open policies, and how much was looked at so far."""

    supposed: Settled
    found: list[T]
    looked_at: int


class Kept(dict[tuple[Sets, Event, World], Led]):
    """Where events led."""

    hypotheses = 0

    def keep(self, met: tuple[Sets, Event, World], led: Led) -> Led:
        """Keep one more; so much is kept and no more."""
        self.hypotheses += sum(len(states) for _, states in led.sets or ())
        if self.hypotheses > KEPT_MAX:
            self.clear()
            self.hypotheses = 0
        self[met] = led
        return led


@lru_cache(ATLASES_MAX)
def worked_out(settled: Settled, shown: frozenset[str]) -> Kept:
    """What is kept for all who follow a runtime of these policies, of which this is shown."""
    return Kept()


class JointStates:
    """Every hypothesis that explains what was seen of one run, for each way to settle what is open.

    `settled` are the policies that are known, `left` the values of each that is open, and `shown` the
    subjects whose moves are shown.  Where no hypothesis is left, nothing explains what was seen.
    """

    def __init__(
        self, settled: Mapping[str, Any], left: Mapping[str, Collection[Any]], shown: frozenset[str]
    ) -> None:
        self.settled: Settled = tuple(sorted(settled.items()))
        self.left = left
        self.shown = shown
        self.kept = worked_out(self.settled, shown)
        self.looked_at = 0
        self.sets: Sets = frozenset({((), frozenset[Hypothesis]())})

    def __iter__(self) -> Iterator[Hypothesis]:
        """Every hypothesis, however what is open is settled."""
        for _, states in self.sets:
            yield from states

    def meet(self, event: Event, world: World = ANYWHERE) -> None:
        """Keep what explains this; raises `TooMany` where that is not worth following."""
        met = (self.sets, event, world)
        led = self.kept.get(met) or self.kept.keep(met, self._lead(event, world))
        self.looked_at += led.looked_at
        if led.sets is None or self.looked_at > LOOKED_AT_MAX:
            raise TooMany
        self.sets = led.sets

    def _lead(self, event: Event, world: World) -> Led:
        done: dict[Settled, Hypotheses] = {}
        looked_at = 0
        try:
            for one in self._each(event.leads, world):
                done[one.supposed], looked_at = frozenset(one.found), one.looked_at
        except TooMany:
            return Led(None, 0)
        if sum(len(states) for states in done.values()) > HYPOTHESES_MAX:
            return Led(None, 0)
        left = {supposed: states for supposed, states in done.items() if states}
        return Led(frozenset(self._put_together(left).items()), looked_at)

    def _each(
        self, work: Callable[[Ground, Collection[Hypothesis]], Iterable[T]], world: World
    ) -> Iterator[Found[T]]:
        """Work on every set; where what is settled does not say enough, it is taken apart.

        In which order makes a difference only to what is taken apart first.
        """
        in_order = partial(sorted, key=repr) if self.left else list
        waiting = in_order(self.sets)
        looked_at = 0
        while waiting:
            supposed, states = waiting.pop()
            try:
                ground = Ground(charted(self.settled, supposed, self.shown), world)
                found = list(work(ground, in_order(states)))
            except Open as one:
                taken_apart = (tuple(sorted((*supposed, (one.key, value)))) for value in self.left[one.key])
                waiting += [(each, states) for each in taken_apart]
                looked_at += 1
            else:
                looked_at += ground.looked_at
                yield Found(supposed, found, looked_at)
            if looked_at > LOOKED_AT_MAX:
                raise TooMany

    def _put_together(self, sets: dict[Settled, Hypotheses]) -> dict[Settled, Hypotheses]:
        """Where every value of a policy explains the same, nothing was learnt of it: it is open again."""
        for key in sorted({key for supposed in sets for key, _ in supposed}):
            alike: dict[tuple[Settled, Hypotheses], list[Settled]] = {}
            for supposed, states in sets.items():
                others = tuple(one for one in supposed if one[0] != key)
                if len(others) < len(supposed):
                    alike.setdefault((others, states), []).append(supposed)
            for (others, states), same in alike.items():
                if len(same) == len(self.left[key]):
                    sets = {supposed: kept for supposed, kept in sets.items() if supposed not in same}
                    sets[others] = states
        return sets

    def ahead(self, world: World, *, are_held: bool) -> Ahead:
        """What lies ahead of every hypothesis.

        An end in an error, to which everything may lead, is not told of unless there is nothing else.
        """
        look = partial(_ahead, are_held=are_held)
        world = world._replace(bars=world.bars | {Cue.END_ERROR})
        try:
            every = [one for each in self._each(look, world) for one in each.found]
        except TooMany:
            return Ahead()
        return Ahead(*(frozenset().union(*each) for each in zip(*every, strict=True)))


def _ahead(ground: Ground, states: Collection[Hypothesis], *, are_held: bool) -> Iterator[Ahead]:
    in_order = [one for one in states if one.control.reason != "Error"]
    for one in ground.silently(in_order or states):
        shown = {*one.owed, *(label for way, _ in ground.steps(one) for label in way.shows)}
        due = {(way.what, way.call) for way in ground.due(one, are_held=are_held)}
        yield Ahead(frozenset(one.owed), frozenset(shown), frozenset(due), frozenset(ground.awaited(one)))
