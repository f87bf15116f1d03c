"""How scenario files of the family lifecycle are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import (
    LISTED,
    METHODS,
    OUTCOMES_BY_GATE,
    RELEASED,
    Decide,
    Decision,
    Handshake,
    HookSpec,
    Scenario,
    StateKey,
    StopCondition,
    ToolSpec,
    gate_name,
)
from runlock.conformance.trace.line_formats import LineFormat, ListFormat, MemberFormat, reason_of
from runlock.conformance.trace.plain_formats import plain_formats

DECISIONS: Final = ListFormat(
    field="decisions",
    format=LineFormat("decide", ("id", "action", "call"), (Decision,)),
    noun="decision",
    example="decide d1 resume c1 payload=false; d2 cancel c2",
)

MEMBERS: Final[Mapping[str, MemberFormat]] = {
    "tool": MemberFormat(("tools",), LineFormat("tool", ("name", "permission", "resume_mode"), (ToolSpec,))),
    "stop": MemberFormat(("agent", "stop"), LineFormat("stop", ("kind",), (StopCondition,))),
    "hook": MemberFormat(("hooks",), LineFormat("hook", ("at",), (HookSpec,))),
    "key": MemberFormat(("keys",), LineFormat("key", ("name", "persistent"), (StateKey,))),
    "hold": MemberFormat(("hold",)),
}


def _call_gate(call: str) -> Mapping[str, Any]:
    return {"args": {"k": call}, "resume": None}


LINE_FORMATS: Final = plain_formats(
    "lifecycle",
    METHODS,
    LISTED,
    Scenario,
    OUTCOMES_BY_GATE,
    handshake=Handshake,
    lists={Decide.method: DECISIONS},
    members=MEMBERS,
    released=RELEASED,
    gate_name=gate_name,
    codes={"reason": reason_of},
    call_gate=_call_gate,
)
