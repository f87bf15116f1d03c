"""What the reference runtime chooses where its profile leaves a policy open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.spec.model import load_spec

CHOICES: Final[Mapping[str, Any]] = {
    "run.created": "no",
    "phases": "eight",
    "round.executor": "parallel",
    "round.rest": "deferred",
    "decision.early": "buffer",
    "decision.batch": "each",
    "decision.cancel_path": "direct",
    "decision.kept": "no",
    "edit.tool": "taken",
    "grant.scopes": ["once", "run", "session"],
    "grant.match": "tool",
    "expire.end": "call",
    "expire.crash": "kept",
    "replay.gate": "yes",
    "stop.conditions": [
        "max_rounds", "timeout", "token_budget", "consecutive_errors", "stop_on_tool", "content_match",
        "loop_detection",
    ],
    "stop.threshold": "exceeds",
    "stop.tools": "drained",
    "cancel.inflight": "abort",
    "cancel.results": "kept",
    "end.live": "closed",
    "input.waiting": "refuse",
    "input.late": "goes_on",
    "input.fate": "dropped",
    "input.round": "goes_on",
    "tool.raises": "failed_call",
    "round.failure": "isolated",
    "turn.cut": "refused",
    "wait.reshown": "yes",
}  # fmt: skip


def policies_of(profile: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Every policy with its value: the profile's, then the choice above; `overrides` win over both."""
    return {**CHOICES, **load_spec("lifecycle").policies_of(profile, {}), **overrides}
