"""What is explored where a profile leaves a policy open, and which policies the joint charts depend on.

The reference runtime makes the same choices.  Not read are policies about texts, the history, the store,
events, the order of hooks, stage executions, and what an answer does that comes late.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runlock.machines.joint.policies import Chosen, chosen
from runlock.spec.model import Value

__all__ = ["CHOICES", "choose"]

CHOICES: Final[Mapping[str, Value]] = {
    "round.executor": "parallel",
    "tool.raises": "failed_call",
    "call.malformed": "failed_call",
    "call.terminal": "render",
    "prompt.place": "first",
    "prompt.line": "serial",
    "prompt.defer": "passes",
    "prompt.unanswered": "deny",
    "reject.reach": "call",
    "grant.scopes": ["once", "stage", "session"],
    "grant.match": "tool",
    "guard.place": "after_approval",
    "rewrite.place": "before_approval",
    "hook.fault": "deny",
    "bound.counts": "continuations",
    "bound.end": "error",
    "cancel.inflight": "abort",
    "model.fault": "end_run",
}
"""The policies that the joint charts read, with the value that stands for an open one."""


def choose(profile: str, asked: Mapping[str, Value]) -> Chosen:
    """Every policy that is read, with its value; raises `NotExplored` and the spec's own errors."""
    return chosen("message-loop", CHOICES, profile, asked)
