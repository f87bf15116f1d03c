"""In words: what no joint state explains, and what one would have explained in its place.

The calls of a run are told by their names, each of which stands at the place of its call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from runlock.conformance.families.lifecycle.joint.labels import Label
from runlock.conformance.families.lifecycle.joint.states import Ahead
from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    GateOpened,
    ResumeEntered,
    RunMoved,
    SegmentEnded,
)
from runlock.conformance.protocol import Observation

__all__ = ["expected", "shown", "untold"]

WAYS_SAID: Final = 6

PLAIN: Final = {
    "is decided: resume": "is resumed by the decision for it",
    "is decided: cancel": "is cancelled by the decision for it",
}
"""What the arrival of a decision comes to, in the words of whoever waits for it."""


def shown(seen: Observation) -> str:
    """What the runtime showed."""
    match seen:
        case RunMoved(to=to):
            return f"the run became {to}"
        case CallMoved(call=call, to=to):
            return f"call {call} became {to}"
        case ResumeEntered(state=state):
            return f"the resume gate was at {state}"
        case GateOpened(on="model"):
            return "the model was asked"
        case GateOpened(on="tool", call=call):
            return f"the tool of call {call} was entered"
        case SegmentEnded(reason=reason):
            return f"the segment ended as {reason.code}"
    return "this was stored"


def expected(ahead: Ahead, names: Sequence[str]) -> str:
    """What would have been explained: what is shown next, or is due, or else what has to come first."""
    led = {_said(label, names) for label in ahead.shown}
    return f"what they lead to is: {_listed(led)}" if led else _due_or_awaited(ahead, names)


def untold(ahead: Ahead, names: Sequence[str]) -> str:
    """What a runtime that rests would have had to tell before, or to do."""
    owed = {_said(label, names) for label in ahead.owed}
    return f"it has not told yet: {_listed(owed)}" if owed else _due_or_awaited(ahead, names)


def _due_or_awaited(ahead: Ahead, names: Sequence[str]) -> str:
    if ahead.due:
        return f"due is: {_listed({_due(what, place, names) for what, place in ahead.due})}"
    awaited = {words for cue, place in ahead.awaited if (words := _awaited(cue, place, names))}
    return f"nothing is due before there is {_listed(awaited)}" if awaited else "nothing more is due"


def _due(what: str, place: int | None, names: Sequence[str]) -> str:
    """A move in words that name its call, where the chart leaves it unsaid who moves."""
    if place is None:
        return what
    call = f"call {names[place]}"
    if what.startswith("its "):
        return f"the {what.removeprefix('its ').replace(' ', f' of {call} ', 1)}"
    says_who = not what.startswith(("is ", "takes ", "has ", "succeeds", "fails"))
    return what if says_who else f"{call} {PLAIN.get(what, what)}"


def _awaited(cue: str, place: int | None, names: Sequence[str]) -> str:
    """Who has to answer before a way may be gone; not who might end it all."""
    call = f" for call {names[place]}" if place is not None else ""
    if cue.startswith("decide "):
        return f"a decision{call}"
    if cue in ("calls", "no calls"):
        return "a turn of the model"
    return f"an answer{call}" if call else ""


def _said(label: Label, names: Sequence[str]) -> str:
    subject = {"run": "the run", "gate": "the resume gate"}.get(label.of)
    return f"{subject or f'call {names[label.call or 0]}'} {label.to}"


def _listed(ways: Collection[str]) -> str:
    """The ways in words, those that end something behind the others, and not too many of them."""
    ordered = sorted(ways, key=lambda way: (way.endswith("Cancelled"), way))
    more = len(ordered) - WAYS_SAID
    said = [*ordered[:WAYS_SAID], *([f"{more} more"] if more > 0 else [])]
    return ", ".join(said) or "nothing"
