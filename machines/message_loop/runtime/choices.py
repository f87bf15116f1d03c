"""Default values of the reference loop for policies that its profile leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.spec.model import load_spec

CHOICES: Final[Mapping[str, Any]] = {
    "round.executor": "parallel",
    "results.order": "call",
    "tool.raises": "failed_call",
    "call.malformed": "failed_call",
    "call.terminal": "render",
    "prompt.place": "first",
    "prompt.line": "serial",
    "prompt.siblings": "one",
    "prompt.defer": "passes",
    "prompt.unanswered": "deny",
    "reject.reach": "call",
    "grant.scopes": ["once", "stage", "session"],
    "grant.match": "tool",
    "grant.spent": "approval",
    "guard.place": "after_approval",
    "rewrite.place": "before_approval",
    "hook.order": "listed",
    "hook.fault": "deny",
    "input.refused": "dropped",
    "bound.counts": "continuations",
    "bound.end": "error",
    "turn.bracket": "outside",
    "turn.end": "always",
    "persist.results": "round",
    "partial.text": "kept",
    "cancel.inflight": "abort",
    "cancel.results": "kept",
    "late.answer": "refused",
    "told": "apart",
    "model.fault": "end_run",
    "context.over": "cut",
    "stage.render": "yes",
    "stage.history": "none",
    "exit.on_fail": "no",
    "assert.retry": "fresh",
}


def policies_of(profile: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Every policy with its value: the profile's, else the default above; `overrides` win over both."""
    return {**CHOICES, **load_spec("message-loop").policies_of(profile, {}), **overrides}
