"""How scenario files of the family lifecycle are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import (
    LISTED,
    METHODS,
    Decision,
    Handshake,
    HookAnswer,
    HookSpec,
    MessageAppended,
    Outcome,
    Scenario,
    StateKey,
    StopCondition,
    ToolSpec,
    Verdict,
    gate_name,
)
from runlock.conformance.protocol import Fault, Message, Turn
from runlock.conformance.trace.line_formats import (
    RACE,
    RELEASE,
    LineFormat,
    LineFormats,
    ListFormat,
    MemberFormat,
    reason_of,
)


def _observed(kind: str, *positions: str, is_change: bool = False, **implied: Any) -> LineFormat:
    models = (LISTED[kind],)
    return LineFormat(kind, positions, models, implied=implied, about_a_run=True, is_change=is_change)


def _sent(
    word: str, method: str, *positions: str, about_a_run: bool = True, items: ListFormat | None = None
) -> LineFormat:
    return LineFormat(word, positions, (METHODS[method][0],), about_a_run=about_a_run, items=items)


OBSERVATIONS: Final[Mapping[str, LineFormat]] = {
    "run.status": _observed("run.status", is_change=True, reason=None),
    "call.status": _observed("call.status", "call", is_change=True),
    "gate.open": _observed("gate.open", "gate", "on", "name"),
    "gate.closed": _observed("gate.closed", "gate", "because"),
    "phase": _observed("phase", "phase"),
    "resume": _observed("resume", "state"),
    "decision": _observed("decision", "decision", "disposition", "call"),
    "call.shown": _observed("call.shown", "call", "name"),
    "message": LineFormat(
        "message", ("role", "text"), (MessageAppended, Message), about_a_run=True, inner="message"
    ),
    "checkpoint": _observed("checkpoint", "trigger", "cause", force=False),
    "event": _observed("event", "stream", "name"),
    "stream.closed": _observed("stream.closed", "watcher"),
    "run.finished": _observed("run.finished", "reason", pending=[]),
    "inspect": _observed("inspect", "status", reason=None),
}

DECISIONS: Final = ListFormat(
    field="decisions",
    format=LineFormat("decide", ("id", "action", "call"), (Decision,)),
    noun="decision",
    example="decide d1 resume c1 payload=false; d2 cancel c2",
)

STIMULI: Final[Mapping[str, LineFormat]] = {
    "run.start": _sent("start", "run.start", "run", "input", about_a_run=False),
    "gate.release": _sent(RELEASE, "gate.release", about_a_run=False),
    "decide": _sent("decide", "decide", items=DECISIONS),
    "cancel": _sent("cancel", "cancel"),
    "run.input": _sent("input", "run.input", "input"),
    "watch": _sent("watch", "watch", "watcher", "stream"),
    "unwatch": _sent("unwatch", "unwatch"),
    "clock.advance": _sent("advance", "clock.advance", "ms", about_a_run=False),
    "deliver": _sent(RACE, "deliver", about_a_run=False),
    "settle": _sent("settle", "settle", about_a_run=False),
    "recover": _sent("recover", "recover"),
    "inspect": _sent("look", "inspect"),
}

MEMBERS: Final[Mapping[str, MemberFormat]] = {
    "tool": MemberFormat(("tools",), LineFormat("tool", ("name", "permission", "resume_mode"), (ToolSpec,))),
    "stop": MemberFormat(("agent", "stop"), LineFormat("stop", ("kind",), (StopCondition,))),
    "hook": MemberFormat(("hooks",), LineFormat("hook", ("at",), (HookSpec,))),
    "key": MemberFormat(("keys",), LineFormat("key", ("name", "persistent"), (StateKey,))),
    "hold": MemberFormat(("hold",)),
}

OUTCOME_TEXT: Final[Mapping[str, str]] = {
    "turn": "text", "ok": "content", "warning": "content", "error": "content", "set_result": "content",
    "raise": "message", "fault": "message", "block": "message", "activity": "content", "rewrite": "data",
    "terminate": "message", "skip_inference": "message",
}  # fmt: skip


def _call_gate(call: str) -> Mapping[str, Any]:
    return {"args": {"k": call}, "resume": None}


LINE_FORMATS: Final = LineFormats(
    family="lifecycle",
    handshake=LineFormat("handshake", (), (Handshake,)),
    scenario=LineFormat("scenario", ("scenario",), (Scenario,)),
    stimuli=STIMULI,
    observations=OBSERVATIONS,
    outcome=LineFormat(RELEASE, (), (Turn, Verdict, Outcome, HookAnswer, Fault)),
    gate_name=gate_name,
    members=MEMBERS,
    outcome_text=OUTCOME_TEXT,
    keeps_open=frozenset({"activity"}),
    codes={"reason": reason_of},
    call_gate=_call_gate,
)
