"""What is explored where a profile leaves a policy open, and which policies the joint charts depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runlock.machines.joint.policies import Chosen, NotExplored, chosen
from runlock.spec.model import Value

__all__ = ["CHOICES", "Chosen", "NotExplored", "choose"]

CHOICES: Final[Mapping[str, Value]] = {
    "run.created": "no",
    "round.mixed": "wait",
    "round.executor": "parallel",
    "round.block": "end_run",
    "decision.window": "waiting",
    "decision.early": "buffer",
    "decision.cancel_path": "direct",
    "replay.gate": "yes",
    "replay.commit": "no",
    "replay.start": "end_if_any",
    "waiting": "parked",
    "checkpoint.at": "step_end",
    "durability": "step",
    "stop.conditions": ["timeout"],
    "cancel.inflight": "abort",
    "end.live": "closed",
    "resume": "partial",
}
"""The policies that the joint charts read, with the value that stands for an open one."""

REFUSED: Final[Mapping[tuple[str, Value], str]] = {
    ("round.executor", "sequential"): (
        "Rounds are explored with their calls side by side: write round.executor=parallel. "
        "A sequential round is not explored by itself."
    )
}


def choose(profile: str, asked: Mapping[str, Value]) -> Chosen:
    """Every policy that is read, with its value; raises `NotExplored` and the spec's own errors."""
    return chosen("lifecycle", CHOICES, profile, asked, REFUSED)
