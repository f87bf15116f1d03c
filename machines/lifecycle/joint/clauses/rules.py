"""The kinds of rules, and what several of them ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from runlock.machines.lifecycle.joint.state import Call, Control

FINAL: Final = ("Succeeded", "Failed", "Cancelled")
BUSY: Final = ("New", "Running", "Resuming")

Where = Callable[[Control], bool]
Which = Callable[[Call], bool]
Occasion = Callable[[Control, Call], bool]
StepTest = Callable[[Control, Call, Control, Call], bool]


@dataclass(frozen=True, slots=True)
class Never:
    """A joint state that must not be: `where` holds, each of `some` of some call, and `none` of no call."""

    clause: str
    because: str
    where: Where
    some: tuple[Which, ...] = ()
    none: Which | None = None
    at_rest: bool = False  # checked only when the runtime has nothing to do
    only: tuple[str, str] = ("", "")  # asked only under this value of a policy


@dataclass(frozen=True, slots=True)
class NeverStep:
    """A step that must not be: one that is `asked` and for which `when` holds, of a call before and after."""

    clause: str
    because: str
    when: StepTest
    asked: StepTest = lambda control, call, to, after: True


@dataclass(frozen=True, slots=True)
class Due:
    """A step of a run, call, decision or gate that must be possible: taken `when`, due where `due` says."""

    clause: str
    subject: str
    source: str
    target: str
    due: Occasion
    when: Occasion = lambda control, call: True


Rule = Never | NeverStep | Due


def is_in(*statuses: str) -> Which:
    """Whether a call has one of these statuses."""
    return lambda call: call.status in statuses


def runs(*statuses: str) -> Where:
    """Whether the run has one of these statuses."""
    return lambda control: control.run in statuses


def works(*at: str) -> Where:
    """Whether the run is at one of these."""
    return lambda control: control.work in at


def has_crashed(before: Control, after: Control) -> bool:
    """Whether this step is a crash."""
    return after.crashes < before.crashes


def is_entered(c: Control, call: Call, to: Control, after: Call) -> bool:
    """Whether this step enters the body of a call."""
    return call.status != "Running" and after.status == "Running" and not has_crashed(c, to)


def asks_the_model(c: Control, to: Control) -> bool:
    """Whether this step asks the model."""
    return to.work == "model" and c.work != "model" and not has_crashed(c, to)


def is_decided(call: Call) -> bool:
    """Whether a call waits no longer for its decision, and still for what comes of it."""
    return call.status == "Suspended" and call.decided in ("resume", "cancel")
