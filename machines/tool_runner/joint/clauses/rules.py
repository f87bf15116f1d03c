"""What several rules ask of a joint state or a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from runlock.machines.joint.rules import Where, Which
from runlock.machines.tool_runner.joint.state import Call, Control
from runlock.spec.model import Value

Policies = Mapping[str, Value]

DONE: Final = ("Left", "Broken", "Finished", "Limited", "Cancelled", "Over")
WITH_USER: Final = ("Streaming", "Yielded")
HAS_RESULT: Final = ("Succeeded", "Failed", "Cancelled")


@dataclass(frozen=True, slots=True)
class Terms:
    """What the words of the clauses mean under a profile's policies."""

    policies: Policies
    limit: int

    def says(self, policy: str, *values: str) -> bool:
        """Whether a policy has one of these values."""
        return self.policies[policy] in values

    def changed(self, control: Control) -> bool:
        """Whether the user changed the state in this iteration, as `runner.append` counts it."""
        if self.says("runner.append", "unless_pushed"):
            return control.pushed
        return control.pushed or control.was_set

    def unchanged(self, control: Control) -> bool:
        """Whether the user did not."""
        return not self.changed(control)


def at(*states: str) -> Where:
    """Whether the runner is in one of these states."""
    return lambda control: control.runner in states


def has(*statuses: str) -> Which:
    """Whether a call has one of these statuses."""
    return lambda call: call.status in statuses


def is_entered(c: Control, call: Call, to: Control, after: Call) -> bool:
    """Whether this step enters the body of a call."""
    return after.entered > call.entered or (call.status != "Running" and after.status == "Running")


def is_handled(c: Control, call: Call, to: Control, after: Call) -> bool:
    """Whether this step enters the body of a call that the runner handles after a resume."""
    return to.runner == "Handling" and is_entered(c, call, to, after)


def sends(c: Control, to: Control) -> bool:
    """Whether this step sends a request."""
    return to.runner == "Asked" and c.runner != "Asked"
