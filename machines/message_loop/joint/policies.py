"""What is explored where a profile leaves a policy open: what the reference runtime chooses there too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runlock.machines.joint.policies import Chosen, chosen
from runlock.machines.message_loop.runtime.choices import CHOICES as MADE
from runlock.spec.model import Value

__all__ = ["CHOICES", "choose"]

NOT_READ: Final = (
    "results.order", "prompt.siblings", "grant.spent", "hook.order", "input.refused", "turn.bracket",
    "turn.end", "persist.results", "partial.text", "cancel.results", "late.answer", "told", "context.over",
    "stage.render", "stage.history", "exit.on_fail", "assert.retry",
)  # fmt: skip
"""These are about texts, the history, the store, events, the order of hooks, and stage executions."""

CHOICES: Final[Mapping[str, Value]] = {key: value for key, value in MADE.items() if key not in NOT_READ}
"""The policies that the joint charts read, with the value that stands for an open one."""


def choose(profile: str, asked: Mapping[str, Value]) -> Chosen:
    """Every policy that is read, with its value; raises `NotExplored` and the spec's own errors."""
    return chosen("message-loop", CHOICES, profile, asked)
