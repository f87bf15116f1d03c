"""The line formats of scenario files of the family tool-runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.tool_runner.messages import (
    LISTED,
    METHODS,
    Delta,
    MessageAppended,
    Resume,
    RunnerHandshake,
    RunnerOutcome,
    RunnerScenario,
    RunnerTool,
    RunnerTurn,
)
from runlock.conformance.protocol import Fault, Message
from runlock.conformance.trace.line_formats import (
    RACE,
    RELEASE,
    LineFormat,
    LineFormats,
    MemberFormat,
    named_by,
)


def _observed(kind: str, *positions: str, is_change: bool = False, **implied: Any) -> LineFormat:
    models = (LISTED[kind],)
    return LineFormat(kind, positions, models, implied=implied, about_a_run=True, is_change=is_change)


def _sent(word: str, method: str, *positions: str, about_a_run: bool = False) -> LineFormat:
    return LineFormat(word, positions, (METHODS[method][0],), about_a_run=about_a_run)


def _reason_of(code: str) -> dict[str, Any]:
    return {"code": code}


def _call_gate(call: str) -> Mapping[str, Any]:
    return {"args": {"k": call}, "version": 1}


OBSERVATIONS: Final[Mapping[str, LineFormat]] = {
    "run.status": _observed("run.status", is_change=True),
    "gate.open": _observed("gate.open", "gate", "on", "name"),
    "gate.closed": _observed("gate.closed", "gate", "because"),
    "message": LineFormat(
        "message", ("role", "text"), (MessageAppended, Message), about_a_run=True, inner="message"
    ),
    "event": _observed("event", "stream", "name"),
    "runner.response": _observed("runner.response"),
    "run.finished": _observed("run.finished", "reason", pending=[]),
    "inspect": _observed("inspect", "status"),
}

STIMULI: Final[Mapping[str, LineFormat]] = {
    "run.start": _sent("start", "run.start", "run", "input"),
    "gate.release": _sent(RELEASE, "gate.release"),
    "runner.push": _sent("push", "runner.push"),
    "runner.set": _sent("set", "runner.set"),
    "runner.respond": _sent("respond", "runner.respond"),
    "runner.tools": _sent("tools", "runner.tools"),
    "runner.again": _sent("again", "runner.again", "run"),
    "cancel": _sent("cancel", "cancel", about_a_run=True),
    "clock.advance": _sent("advance", "clock.advance", "ms"),
    "deliver": _sent(RACE, "deliver"),
    "settle": _sent("settle", "settle"),
    "inspect": _sent("look", "inspect", about_a_run=True),
}

OUTCOME_TEXT: Final[Mapping[str, str]] = {
    "turn": "text", "delta": "text", "ok": "content", "error": "content", "raise": "message",
    "fault": "message",
}  # fmt: skip

LINE_FORMATS: Final = LineFormats(
    family="tool-runner",
    handshake=LineFormat("handshake", (), (RunnerHandshake,)),
    scenario=LineFormat("scenario", ("scenario",), (RunnerScenario,)),
    stimuli=STIMULI,
    observations=OBSERVATIONS,
    outcome=LineFormat(RELEASE, (), (RunnerTurn, Delta, RunnerOutcome, Fault, Resume)),
    gate_name=named_by("on", "call"),
    members={"tool": MemberFormat(("tools",), LineFormat("tool", ("name",), (RunnerTool,)))},
    outcome_text=OUTCOME_TEXT,
    keeps_open=frozenset({"delta"}),
    begins_run=frozenset({"run.start", "runner.again"}),
    codes={"reason": _reason_of},
    call_gate=_call_gate,
)
