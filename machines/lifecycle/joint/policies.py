"""What is explored where a profile leaves a policy open, and which policies the joint charts depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from runlock.spec.model import Value, load_spec

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


class NotExplored(ValueError):
    """A policy, or a value of one, that the joint charts do not distinguish, with the reason."""


class Chosen(NamedTuple):
    """The policies of an exploration: all that are read, those asked for, and what stands for open ones."""

    policies: dict[str, Value]
    asked: dict[str, Value]
    open: dict[str, Value]


def choose(profile: str, asked: Mapping[str, Value]) -> Chosen:
    """Every policy that is read, with its value; raises `NotExplored` and the spec's own errors."""
    for key, value in asked.items():
        if key not in CHOICES:
            load_spec("lifecycle").policy(key)
            raise NotExplored(f"The joint charts do not depend on {key}; they do on {', '.join(CHOICES)}.")
        if (key, value) == ("round.executor", "sequential"):
            raise NotExplored(
                "Rounds are explored with their calls side by side: write round.executor=parallel. "
                "A sequential round is not explored by itself."
            )
    declared = load_spec("lifecycle").policies_of(profile, asked)
    open_ones = {key: value for key, value in CHOICES.items() if key not in declared}
    read = {key: declared.get(key, value) for key, value in CHOICES.items()}
    return Chosen(read, dict(asked), open_ones)
