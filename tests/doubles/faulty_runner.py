"""A joint model of a tool runner with a fault: one move too many, or none where one is due."""

from typing import NamedTuple

from planted import PLANTED, planted

from runlock.machines.joint.model import Changed
from runlock.machines.tool_runner.joint.state import Call
from runlock.machines.tool_runner.joint.transitions import Joint

__all__ = ["PLANTED", "Fault", "Faulty"]


class Fault(NamedTuple):
    """One move too many: where it may be taken, and what it makes of the control and of a call."""

    clause: str
    where: dict[str, object]  # the fields of the control
    to: dict[str, object]
    one: object = None
    each: object = None
    policies: dict[str, str] = {}
    limit: int = 1
    cancels: int = 0


class Faulty(Joint):
    """The joint charts with a fault."""

    def __init__(self, fault, policies):
        super().__init__(policies, 1, limit=fault.limit, cancels=fault.cancels)
        self.fault = fault

    def moves(self, control):
        return planted(self.fault, control, super().moves(control))


def enters(call):
    """The body is entered, whatever the call is."""
    return Changed(call._replace(status="Running", entered=min(call.entered + 1, 2))) if call.status else None


def enters_ended(call):
    """The body of a call that has a result is entered."""
    return enters(call) if call.status == "Succeeded" else None


def enters_running(call):
    """The body is entered while it runs."""
    return enters(call) if call.status == "Running" else None


def has_result_of(who):
    """A result is put into the state."""
    return lambda call: Changed(call._replace(result=who)) if call.status else None


def becomes(status):
    """The call has another status."""
    return lambda call: Changed(call._replace(status=status)) if call.status else None


def never_entered(call):
    """The call of another turn has a result that no tool gave."""
    return Changed(Call("Succeeded"))


def given_up(call):
    """A tool that runs is given up."""
    return Changed(call._replace(status="Cancelled") if call.status == "Running" else call)


def unchanged(runner, stop, **fields):
    """An iteration in which the user changed nothing."""
    return {"runner": runner, "stop": stop, "pushed": False, "was_set": False, **fields}


def changed(runner, stop, **fields):
    """An iteration in which the user pushed something."""
    return {"runner": runner, "stop": stop, "pushed": True, **fields}
