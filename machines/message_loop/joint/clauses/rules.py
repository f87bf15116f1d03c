"""What several rules ask of a joint state or a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from runlock.machines.joint.rules import StepTest, Where, Which
from runlock.machines.message_loop.joint.state import Call, Control
from runlock.spec.model import Value

Policies = Mapping[str, Value]

HAS_RESULT: Final = ("Succeeded", "Failed", "Cancelled")
ENDED_EARLY: Final = ("Blocked", "Cancelled", "Failed")
PASS_OVER: Final = ("Rendered", "Finished", "Bounded", *ENDED_EARLY)


@dataclass(frozen=True, slots=True)
class Terms:
    """What the words of the clauses mean under a profile's policies."""

    policies: Policies
    calls: int

    @property
    def several(self) -> bool:
        """Whether a response has calls that can be in each other's way."""
        return self.calls > 1

    def says(self, policy: str, *values: str) -> bool:
        """Whether a policy has one of these values."""
        return self.policies[policy] in values

    def denial_ends(self, control: Control) -> bool:
        """Whether a denial by a person ends the turn."""
        return control.rejected and self.says("reject.reach", "turn")

    def silence_ends(self, control: Control) -> bool:
        """Whether a prompt without an answer ends the turn."""
        return control.unanswered and self.says("prompt.unanswered", "halt")


def at(*stages: str, given: bool = True) -> Where:
    """Whether the pass is in one of these stages; never, unless what is given holds."""
    return lambda control: given and control.stage in stages


def has(*statuses: str) -> Which:
    """Whether a call has one of these statuses."""
    return lambda call: call.status in statuses


def is_asked_for(call: Call) -> bool:
    """Whether the model asked for a call that has no result."""
    return call.status in ("New", "Running")


def is_entered(c: Control, call: Call, to: Control, after: Call) -> bool:
    """Whether this step enters the tool of a call."""
    return after.entered > call.entered or (call.status != "Running" and after.status == "Running")


def is_prompted(c: Control, call: Call, to: Control, after: Call) -> bool:
    """Whether this step opens a prompt about a call."""
    return call.stack != "Prompting" and after.stack == "Prompting"


def gets(*approvals: str) -> StepTest:
    """Whether a call gets one of these approvals in this step."""
    return lambda c, call, to, after: after.by in approvals and after.by != call.by


def continues(c: Control, call: Call, to: Control, after: Call) -> bool:
    """Whether a continuation begins with this step."""
    return c.stage == "TOOL_CALL" and to.stage == "COMPOSE_REQUEST"


def turn_ends(c: Control, call: Call, to: Control, after: Call) -> bool:
    """Whether this step ends the turn."""
    return c.run != "Done" and to.run == "Done"


def leaves_round(c: Control, call: Call, to: Control, after: Call) -> bool:
    """Whether this step ends a round."""
    return c.stage == "TOOL_CALL" and to.stage != "TOOL_CALL"
