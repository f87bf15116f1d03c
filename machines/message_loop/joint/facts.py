"""What can be asked of a call in a joint state, and what happens to every call at once."""

from __future__ import annotations

from runlock.machines.joint.model import Changed, Test
from runlock.machines.message_loop.joint.state import ENDED, NOT_ASKED, Call

__all__ = [
    "at",
    "forget",
    "has_no_result",
    "is_approved",
    "is_executing",
    "is_prompting",
    "is_unjudged",
    "lose_gates",
    "may_run",
]


def at(*states: str) -> Test:
    """Whether a call stands in one of these states of its stack."""
    return lambda call: call.stack in states


def is_prompting(call: Call) -> bool:
    """Whether a prompt about it is open."""
    return call.stack == "Prompting"


def is_executing(call: Call) -> bool:
    """Whether its tool runs."""
    return call.stack == "Executing"


def is_approved(call: Call) -> bool:
    """Whether it was approved and is not over."""
    return call.by != ""


def may_run(call: Call) -> bool:
    """Whether it has come through its stack, and no hook of it is to be asked any more."""
    return call.stack in ("Guards", "Approved") and call.ready


def is_unjudged(call: Call) -> bool:
    """Whether its approver or a hook of it is still to be asked."""
    return call.status == "New" and not may_run(call)


def has_no_result(call: Call) -> bool:
    """Whether the model asked for it, and it is not over."""
    return call.status != "" and call.status not in ENDED


def forget(call: Call) -> Changed:
    """The next request holds its result."""
    return Changed(NOT_ASKED)


def lose_gates(call: Call) -> Changed:
    """Its prompt is with no interactor any more."""
    return Changed(call._replace(open=0) if call.open else call)
