"""What can be asked of a call in a joint state."""

from __future__ import annotations

from runlock.machines.joint.model import Changed
from runlock.machines.tool_runner.joint.state import NOT_ASKED, Call

__all__ = [
    "answered_by_user", "ask", "entered", "forget", "is_asked", "is_at_work", "is_cancelled", "is_entered",
    "is_queued", "is_running", "is_unanswered",
]  # fmt: skip


def is_asked(call: Call) -> bool:
    """Whether the model asked for it."""
    return bool(call.status)


def is_entered(call: Call) -> bool:
    """Whether its body was entered."""
    return call.entered > 0


def is_running(call: Call) -> bool:
    """Whether its body is running."""
    return call.status == "Running"


def is_queued(call: Call) -> bool:
    """Whether it waits for its turn in a round."""
    return call.status == "Queued"


def is_at_work(call: Call) -> bool:
    """Whether its round waits for it."""
    return call.status in ("Running", "Queued")


def is_cancelled(call: Call) -> bool:
    """Whether it was given up."""
    return call.status == "Cancelled"


def is_unanswered(call: Call) -> bool:
    """Whether it has no result in the state."""
    return not call.result


# --- what happens to every call at once ---------------------------------------------------------


def forget(call: Call) -> Changed:
    """Its iteration is over."""
    return Changed(NOT_ASKED)


def ask(call: Call) -> Changed:
    """The turn is whole, and asks for the call, which may have started from the stream."""
    return Changed(call if call.status else Call("New"))


def answered_by_user(call: Call) -> Changed | None:
    """The user puts its result into the state."""
    return Changed(call._replace(result="user")) if call.status and not call.result else None


def entered(call: Call) -> Call:
    """Its body is entered."""
    return call._replace(status="Running", entered=min(call.entered + 1, 2), early=False)
