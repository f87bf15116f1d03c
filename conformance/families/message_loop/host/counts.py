"""Counters for a hosted adapter: requests, and attempts of calls and of stage executions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.families.message_loop.messages import Turn
from runlock.conformance.protocol import Fault, Wire

COMPOSING: Final = frozenset({"COMPOSE_REQUEST.pre", "COMPOSE_REQUEST.post", "SEND_REQUEST.pre"})
"""Hook slots that belong to the next request."""


@dataclass(slots=True)
class PassCounts:
    """One pass: how many requests it has sent, and whether the last one failed."""

    requests: int = 0
    failed: bool = False
    attempt: int = 1


@dataclass(slots=True)
class Counts:
    """The counters of the current turn; a stage is the id of a stage execution, None in a chat turn."""

    passes: defaultdict[str | None, PassCounts] = field(default_factory=lambda: defaultdict(PassCounts))
    attempts: Counter[tuple[str | None, str]] = field(default_factory=Counter)

    def pass_of(self, stage: str | None) -> PassCounts:
        """The counters of the current pass."""
        return self.passes[stage]

    def begin_attempt(self, stage: str) -> None:
        """Begin another attempt of a stage execution, which is a new pass."""
        self.passes[stage] = PassCounts(attempt=self.passes[stage].attempt + 1)

    def step(self, stage: str | None, on: str, fields: Mapping[str, Any]) -> int:
        """The number within its pass of the request that a gate belongs to; a resent one keeps its number."""
        counted = self.passes[stage]
        place = f"{fields.get('at')}.{fields.get('point')}"
        following = counted.requests + (0 if counted.failed else 1)
        if on == "model":
            counted.requests, counted.failed = following, False
        composes = on in ("model", "context") or (on == "hook" and place in COMPOSING)
        return following if composes else counted.requests

    def attempt(self, stage: str | None, call: str) -> int:
        """Count an entry of the call's body; returns how often it was entered."""
        self.attempts[stage, call] += 1
        return self.attempts[stage, call]

    def released(self, stage: str | None, on: str, answer: Wire) -> None:
        """Record a release: a failed request, and the calls of a response, whose attempts start anew."""
        if on == "model":
            self.passes[stage].failed = isinstance(answer, Fault)
        if isinstance(answer, Turn):
            for call in answer.tool_calls:
                self.attempts.pop((stage, call.id), None)
