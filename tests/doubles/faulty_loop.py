"""A joint model of a message loop with a fault: one move too many, or none where one is due."""

from typing import NamedTuple

from planted import PLANTED, planted

from runlock.machines.joint.model import Changed
from runlock.machines.message_loop.joint.transitions import Joint

__all__ = ["PLANTED", "Fault", "Faulty", "becomes", "enters", "of"]


class Fault(NamedTuple):
    """One move too many: where it may be taken, and what it makes of the control and of a call."""

    clause: str
    where: dict[str, object]  # the fields of the control
    to: dict[str, object] = {}
    one: object = None
    each: object = None
    policies: dict[str, object] = {}
    calls: int = 1
    bounds: dict[str, int] = {}


class Faulty(Joint):
    """The joint charts with a fault; by default no continuation, two interactors and no cancel."""

    def __init__(self, fault, policies):
        bounds = {"iterations": 0, "interactors": 2, "cancels": 0, **fault.bounds}
        super().__init__(policies, fault.calls, **bounds)
        self.fault = fault

    def moves(self, control):
        return planted(self.fault, control, super().moves(control))


def of(call, **facts):
    """Whether a call has these facts."""
    return all(getattr(call, name) == value for name, value in facts.items())


def becomes(changes, **facts):
    """A call with these facts gets others."""
    return lambda call: Changed(call._replace(**changes)) if of(call, **facts) else None


def enters(**facts):
    """The tool of a call with these facts is entered."""

    def enter(call):
        if not call.status or not of(call, **facts):
            return None
        entered = min(call.entered + 1, 2)
        return Changed(call._replace(status="Running", stack="Executing", entered=entered))

    return enter
