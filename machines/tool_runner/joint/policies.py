"""What is explored where a profile leaves a policy open, and which policies the joint charts depend on.

The reference runtime makes the same choices.  Not read: `results.order`, `tools.added`, `tools.removed` and
`runner.history`, which are about the order of messages, the set of tools and what a request carries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runlock.machines.joint.policies import Chosen, chosen
from runlock.spec.model import Value

__all__ = ["CHOICES", "choose"]

CHOICES: Final[Mapping[str, Value]] = {
    "runner.append": "if_unchanged",
    "runner.inspects": "state",
    "runner.results": "appended",
    "runner.answered": "skipped",
    "runner.finish": "state",
    "runner.cache": "kept",
    "runner.cut_off": "not_run",
    "runner.pause": "resent",
    "pause.changed": "dropped",
    "end.turn": "kept",
    "round.executor": "parallel",
    "tool.raises": "failed_call",
    "tools.start": "after_resume",
    "limit.zero": "no_limit",
    "limit.counts": "turns",
    "stop.tools": "drained",
    "again.break": "goes_on",
    "again.fault": "retries",
    "cancel.inflight": "abort",
    "cancel.handed_over": "not_run",
}
"""The policies that the joint charts read, with the value that stands for an open one."""


def choose(profile: str, asked: Mapping[str, Value]) -> Chosen:
    """Every policy that is read, with its value; raises `NotExplored` and the spec's own errors."""
    return chosen("tool-runner", CHOICES, profile, asked)
