"""What several rules ask of a joint state or a step."""

from __future__ import annotations

from typing import Final

from runlock.machines.joint.rules import Where, Which
from runlock.machines.lifecycle.joint.state import Call, Control

FINAL: Final = ("Succeeded", "Failed", "Cancelled")
BUSY: Final = ("New", "Running", "Resuming")


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
