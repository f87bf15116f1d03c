"""The joint states of run, calls, gate and store that explain what was seen so far.

An observation leads through the joint charts; what a runtime does not show leads on silently, what the
outside world gave is used when the runtime gets to it, and a policy that is open is taken to have each of its
values apart, as soon as a move depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from interlock.conformance.joint_charts import Charted, Label, Open, Settled, Way, charted
from interlock.machines.explore.joint import Joint
from interlock.machines.explore.terms import Call, Control

__all__ = ["Allows", "Given", "Hypothesis", "JointStates", "Sets", "TooMany"]

HYPOTHESES_MAX: Final = 300
"""So many hypotheses at once, and what explains so much explains nothing."""

LOOKED_AT_MAX: Final = 2_000
"""So many hypotheses are looked at for one run: what shows little is not worth more."""


class TooMany(Exception):
    """So many hypotheses explain what was seen that following them is given up."""


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


Allows = Callable[[Way, Hypothesis], bool]
Sets = dict[Settled, frozenset[Hypothesis]]
"""The hypotheses for each way to settle what is open."""

Work = Callable[[Charted, Collection[Hypothesis]], Iterable[Hypothesis]]


class JointStates:
    """Every hypothesis that explains what was seen of one run, for each way to settle what is open.

    `settled` are the policies that are known, `left` the values of each that is open; `allows` says whether
    the outside world lets a way be gone for which nothing was given.  Where no hypothesis is left, nothing
    explains what was seen.
    """

    def __init__(
        self,
        settled: Mapping[str, Any],
        left: Mapping[str, Collection[Any]],
        shown: frozenset[str],
        allows: Allows,
    ) -> None:
        self.settled: Settled = tuple(sorted(settled.items()))
        self.left = left
        self.shown = shown
        self.allows = allows
        self.looked_at = 0
        self.sets: Sets = {(): frozenset()}
        self._each(lambda charts, _: {Hypothesis(charts.joint.start()[0])})

    def _each(self, work: Work) -> None:
        """Take every set on; where what is settled does not say enough, it is taken apart."""
        done: Sets = {}
        waiting = list(self.sets.items())
        while waiting:
            supposed, states = waiting.pop()
            try:
                after = frozenset(work(charted(self.settled, supposed, self.shown), states))
            except Open as one:
                taken_apart = [tuple(sorted((*supposed, (one.key, value)))) for value in self.left[one.key]]
                waiting += [(each, states) for each in taken_apart]
                continue
            if after:
                done[supposed] = after
        if sum(len(states) for states in done.values()) > HYPOTHESES_MAX:
            raise TooMany
        self.sets = self._put_together(done)

    def _put_together(self, sets: Sets) -> Sets:
        """Where every value of a policy explains the same, nothing was learnt of it: it is open again."""
        for key in sorted({key for supposed in sets for key, _ in supposed}):
            alike: dict[tuple[Settled, frozenset[Hypothesis]], list[Settled]] = {}
            for supposed, states in sets.items():
                others = tuple(one for one in supposed if one[0] != key)
                if len(others) < len(supposed):
                    alike.setdefault((others, states), []).append(supposed)
            for (others, states), same in alike.items():
                if len(same) == len(self.left[key]):
                    sets = {supposed: kept for supposed, kept in sets.items() if supposed not in same}
                    sets[others] = states
        return sets

    def __iter__(self) -> Iterator[Hypothesis]:
        """Every hypothesis, however what is open is settled."""
        for states in self.sets.values():
            yield from states

    def change(self, change: Callable[[Hypothesis], Iterable[Hypothesis]]) -> None:
        """Something came from outside, and made of each hypothesis any of these."""
        self._each(lambda _, states: [after for one in states for after in change(one)])

    def begin_again(self, begin: Callable[[Joint], Iterable[Hypothesis]]) -> None:
        """All that was supposed is over; however what is open is settled, it begins as these."""
        self._each(lambda charts, _: begin(charts.joint))

    def see(self, label: Label) -> None:
        """The runtime shows a move: what does not lead to it explains nothing any more."""

        def seeing(charts: Charted, states: Collection[Hypothesis]) -> Iterator[Hypothesis]:
            for one in self._silently(charts, states):
                paid = _pay(one, label)
                if paid is not None or _says_again(one, label):
                    yield paid or one
                steps = self._steps(charts, one) if paid is None else ()
                after = (_pay(after, label) for way, after in steps if label in way.shows)
                yield from (paid for paid in after if paid is not None)

        self._each(seeing)

    def hold(self, is_so: Callable[[Hypothesis], bool]) -> None:
        """What the runtime shows is no move, and shows only where this is so, or is about to show."""

        def held(charts: Charted, states: Collection[Hypothesis]) -> Iterator[Hypothesis]:
            for one in self._silently(charts, states):
                if is_so(one):
                    yield one
                else:
                    steps = self._steps(charts, one)
                    yield from (after for way, after in steps if way.shows and is_so(after))

        self._each(held)

    def rest(self, is_held: Allows, may_rest: Callable[[Hypothesis], bool]) -> None:
        """The runtime rests: what would move on by itself explains nothing, unless something holds it."""

        def resting(charts: Charted, states: Collection[Hypothesis]) -> Iterator[Hypothesis]:
            for one in self._silently(charts, states):
                if may_rest(one) and not (one.owed or any(_due(charts, one, is_held))):
                    yield one

        self._each(resting)

    def ahead(self, is_held: Allows) -> tuple[set[Label], set[str]]:
        """What every hypothesis would show next, and what is due in one that rests."""
        shown, due = set[Label](), set[str]()

        def look(charts: Charted, states: Collection[Hypothesis]) -> Iterable[Hypothesis]:
            for one in self._silently(charts, states):
                shown.update(one.owed, *(way.shows for way, _ in self._steps(charts, one)))
                due.update(way.what for way in _due(charts, one, is_held))
            return states

        self._each(look)
        return shown, due

    def _silently(self, charts: Charted, states: Collection[Hypothesis]) -> set[Hypothesis]:
        """These, and all that they lead to with nothing to see."""
        reached = set(states)
        ahead = list(reached)
        while ahead:
            for way, after in self._steps(charts, ahead.pop()):
                if not way.shows and after not in reached:
                    reached.add(after)
                    ahead.append(after)
            if len(reached) > HYPOTHESES_MAX:
                raise TooMany
        self.looked_at += len(reached)
        if self.looked_at > LOOKED_AT_MAX:
            raise TooMany
        return reached

    def _steps(self, charts: Charted, one: Hypothesis) -> Iterator[tuple[Way, Hypothesis]]:
        """Every way that may be gone now, and the hypothesis that it leads to."""
        control, calls, owed, given = one
        for way in charts.ways(control, calls):
            inbox: tuple[Given, ...] | None = given
            if way.cue:
                inbox = _use(given, way) if given else None
                if inbox is None and self.allows(way, one):
                    inbox = given
            if inbox is not None:
                yield way, Hypothesis(way.control, way.calls, owed + way.shows, inbox)


def _due(charts: Charted, one: Hypothesis, is_held: Allows) -> Iterator[Way]:
    """The ways that a runtime would go by itself, or by what it was given."""
    for way in charts.ways(one.control, one.calls):
        if _use(one.inbox, way) is not None if way.cue else not is_held(way, one):
            yield way


def _use(inbox: tuple[Given, ...], way: Way) -> tuple[Given, ...] | None:
    """What is left of what was given, if a way can use some of it."""
    for place, given in enumerate(inbox):
        if way.cue in given.cues and way.call in (None, given.call):
            return (*inbox[:place], *inbox[place + 1 :])
    return None


def _pay(one: Hypothesis, label: Label) -> Hypothesis | None:
    """What is left to show once this was shown, if it comes next of its subject."""
    for place, owed in enumerate(one.owed):
        if owed[:2] == label[:2]:
            return one._replace(owed=(*one.owed[:place], *one.owed[place + 1 :])) if owed == label else None
    return None


def _says_again(one: Hypothesis, label: Label) -> bool:
    """Whether a label says once more what a call, or the run, is."""
    if any(owed[:2] == label[:2] for owed in one.owed):
        return False
    if label.call is not None:
        return one.calls[label.call].status == label.to
    return label.of == "run" and one.control.run == label.to
