"""The line formats of scenario files of the family tool-runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.tool_runner.messages import (
    LISTED,
    METHODS,
    OUTCOMES_BY_GATE,
    RELEASED,
    RunnerHandshake,
    RunnerScenario,
)
from runlock.conformance.trace.plain_formats import plain_formats


def _reason_of(code: str) -> dict[str, Any]:
    return {"code": code}


def _call_gate(call: str) -> Mapping[str, Any]:
    return {"args": {"k": call}, "version": 1}


LINE_FORMATS: Final = plain_formats(
    "tool-runner",
    METHODS,
    LISTED,
    RunnerScenario,
    OUTCOMES_BY_GATE,
    handshake=RunnerHandshake,
    released=RELEASED,
    codes={"reason": _reason_of},
    call_gate=_call_gate,
)
