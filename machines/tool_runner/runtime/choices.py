"""Default values of the reference tool runner for policies that its profile leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.spec.model import load_spec

CHOICES: Final[Mapping[str, str]] = {
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
    "results.order": "call",
    "tool.raises": "failed_call",
    "tools.start": "after_resume",
    "limit.zero": "no_limit",
    "limit.counts": "turns",
    "stop.tools": "drained",
    "tools.added": "at_once",
    "tools.removed": "at_once",
    "again.break": "goes_on",
    "again.fault": "retries",
    "cancel.inflight": "abort",
    "cancel.handed_over": "not_run",
    "runner.history": "delta",
}


def policies_of(profile: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Every policy with its value: the profile's, else the default above; `overrides` win over both."""
    return {**CHOICES, **load_spec("tool-runner").policies_of(profile, {}), **overrides}
