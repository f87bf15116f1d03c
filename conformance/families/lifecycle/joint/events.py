"""Events of the joint model: observations, quiescence, and inputs.

Each is a value, and maps the hypotheses before it to those after it; it depends on nothing else, so that the
result can be cached.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

from runlock.conformance.families.lifecycle.joint.cues import TURNS
from runlock.conformance.families.lifecycle.joint.environment import as_stored
from runlock.conformance.families.lifecycle.joint.hypotheses import (
    Given,
    Ground,
    Hypothesis,
    is_seen,
)
from runlock.conformance.families.lifecycle.joint.labels import BREAKS, Label, Way
from runlock.machines.lifecycle.joint.facts import is_over, is_running
from runlock.machines.lifecycle.joint.state import NOT_ASKED, Call

__all__ = [
    "Asked", "Asking", "Begins", "BeginsAgain", "Ended", "Executing", "Gets", "HasShut", "Loses", "Rests",
    "Shows", "ShowsWhere", "Stored",
]  # fmt: skip

AHEAD: Final = {"closing": "Done", "suspending": "Waiting"}
"""What a checkpoint says of the run before the run does, by what it is at."""

LATE: Final = {
    ("call", "Resuming"): {("run", "Running")},
    ("call", "Cancelled"): {("run", "Running")},
    ("run", "Waiting"): {("call", "Suspended")},
    ("run", "Done"): {("call", "Cancelled"), ("call", "Failed")},
}
"""What a run and its calls show in either order, though the one lets the other come."""

States = Collection[Hypothesis]


# --- what a runtime shows ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shows:
    """The runtime shows a move: what does not lead to it explains nothing any more.

    What a run shows of itself and what it shows of its calls are in no order: the move that let this one
    come may be shown only later.
    """

    label: Label

    def leads(self, ground: Ground, states: States) -> Iterator[Hypothesis]:
        reached = ground.silently(states)
        for one in reached:
            paid = _pay(one, self.label)
            if paid is not None or _says_again(one, self.label):
                yield paid or one
            if paid is None:
                yield from self._after_one_move(ground, one)
        late = [after for one in reached for _, after in ground.steps(one, self._may_be_late)]
        for one in ground.silently(late):
            yield from self._after_one_move(ground, one)

    def _after_one_move(self, ground: Ground, one: Hypothesis) -> Iterator[Hypothesis]:
        after = (_pay(after, self.label) for _, after in ground.steps(one, self._is_shown_by))
        yield from (paid for paid in after if paid is not None)

    def _is_shown_by(self, way: Way) -> bool:
        return self.label in way.shows

    def _may_be_late(self, way: Way) -> bool:
        """Whether a move may be shown only after this one, which it let come."""
        if len(way.shows) != 1:
            return False
        return way.shows[0][::2] in LATE.get((self.label.of, self.label.to), ())


@dataclass(frozen=True, slots=True)
class ShowsWhere:
    """What the runtime shows is no move, and shows only where this is so, or is about to show."""

    is_so: Callable[[Hypothesis], bool]

    def leads(self, ground: Ground, states: States) -> Iterator[Hypothesis]:
        for one in ground.silently(states):
            if self.is_so(one):
                yield one
            else:
                yield from (after for _, after in ground.steps(one, is_seen) if self.is_so(after))


@dataclass(frozen=True, slots=True)
class Rests:
    """The runtime rests: what would move on by itself explains nothing, unless something holds it.

    Where the model is asked its gate is open, and where a tool executes, the gate of its call, by its place.
    """

    model_is_asked: bool
    executing: frozenset[int]
    has_gates: bool

    def leads(self, ground: Ground, states: States) -> Iterator[Hypothesis]:
        for one in ground.silently(states):
            if self._may_rest(one) and not (one.owed or any(ground.due(one, are_held=self.has_gates))):
                yield one

    def _may_rest(self, one: Hypothesis) -> bool:
        if one.control.work == "model":
            return self.model_is_asked
        running = {place for place, call in enumerate(one.calls) if is_running(call)}
        breaks = one.control.work == "ending" and one.control.reason in BREAKS
        return one.control.work == "done" or breaks or running <= self.executing


# --- where something is so --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asking:
    """Whether the run asks the model, and has taken what it was answered before."""

    def __call__(self, one: Hypothesis) -> bool:
        return one.control.work == "model" and not any(TURNS & given.cues for given in one.inbox)


@dataclass(frozen=True, slots=True)
class Executing:
    """Whether the tool of a call is entered, where a replay may be Resuming all along; none is at the end."""

    place: int

    def __call__(self, one: Hypothesis) -> bool:
        at_work = one.calls[self.place].status in ("Running", "Resuming")
        return at_work and one.control.work not in ("closing", "done")


@dataclass(frozen=True, slots=True)
class Ended:
    """Whether a segment has ended so."""

    code: str

    def __call__(self, one: Hypothesis) -> bool:
        return one.control.reason == self.code and one.control.work not in ("ending", "round")


@dataclass(frozen=True, slots=True)
class HasShut:
    """Whether the resume gate is shut."""

    def __call__(self, one: Hypothesis) -> bool:
        return not one.control.gate


@dataclass(frozen=True, slots=True)
class Stored:
    """Whether a checkpoint holds what is so; the end, and a wait, are durable before they are announced."""

    run: str | None
    calls: tuple[tuple[int, str], ...]

    def __call__(self, one: Hypothesis) -> bool:
        is_run = self.run in (None, one.control.run, AHEAD.get(one.control.work))
        return is_run and all(one.calls[place].status == status for place, status in self.calls)


# --- what comes from outside ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Begins:
    """A run begins."""

    def leads(self, ground: Ground, states: States) -> Iterator[Hypothesis]:
        yield Hypothesis(ground.charts.joint.start()[0])


@dataclass(frozen=True, slots=True)
class BeginsAgain:
    """All that was supposed is over: the run begins again as it was stored, with calls of these statuses."""

    run: str
    calls: tuple[str, ...]

    def leads(self, ground: Ground, states: States) -> Iterator[Hypothesis]:
        yield from as_stored(ground.charts.joint, self.run, self.calls)


@dataclass(frozen=True, slots=True)
class Gets:
    """Something is given, surely or perhaps."""

    given: Given
    surely: bool

    def leads(self, ground: Ground, states: States) -> Iterator[Hypothesis]:
        for one in states:
            yield one._replace(inbox=(*one.inbox, self.given))
            if not self.surely:
                yield one


@dataclass(frozen=True, slots=True)
class Loses:
    """Of what was given some may be turned down; all of it, where it is not said what."""

    given: frozenset[Given] | None

    def leads(self, ground: Ground, states: States) -> Iterator[Hypothesis]:
        for one in states:
            yield one
            if self.given is None:
                yield one._replace(inbox=())
            else:
                yield one._replace(inbox=tuple(given for given in one.inbox if given not in self.given))


@dataclass(frozen=True, slots=True)
class Asked:
    """The model asks for a number of calls: they take places after those that are kept."""

    kept: tuple[int, ...]
    calls: int

    def leads(self, ground: Ground, states: States) -> Iterator[Hypothesis]:
        places: dict[int | None, int | None] = {None: None, **{was: now for now, was in enumerate(self.kept)}}
        for one in states:
            yield Hypothesis(
                one.control,
                (*(_formerly(one.calls[place]) for place in self.kept), *(NOT_ASKED,) * self.calls),
                tuple(label._replace(call=places[label.call]) for label in one.owed if label.call in places),
                tuple(given._replace(call=places[given.call]) for given in one.inbox if given.call in places),
            )


def _formerly(call: Call) -> Call:
    """A call as it comes into the next round: if it is over, it counts there as one that had waited."""
    return call._replace(waits=max(1, call.waits)) if is_over(call) else call


# --- what has to be shown still ---------------------------------------------------------------------


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
