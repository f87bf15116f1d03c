"""The closed vocabularies of the family message-loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from runlock.spec.needs import needs_of

StageName = Literal[
    "RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE", "TOOL_CALL", "RENDER"
]  # fmt: skip
Point = Literal["pre", "post"]
Role = Literal["guard", "transform", "observer"]
Mode = Literal["ask", "allowlist", "yolo"]
Scope = Literal["once", "stage", "session"]
RunStatus = Literal["Running", "Done"]
CallStatus = Literal["New", "Running", "Succeeded", "Failed", "Cancelled"]
ExecutionStatus = Literal["Running", "Exited", "Failed", "Cancelled"]
ReasonCode = Literal["NaturalEnd", "Stopped", "Cancelled", "Blocked", "Error"]
ResultStatus = Literal["ok", "error", "cancelled"]

STAGES: Final[tuple[StageName, ...]] = (
    "RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE", "TOOL_CALL", "RENDER"
)  # fmt: skip
NEEDS: Final = needs_of("message-loop")
"""What a clause can need: the words that a handshake offers."""

GATES: Final = tuple(NEEDS["gate"])
STIMULI: Final = tuple(NEEDS["stimulus"])
MODES: Final = tuple(NEEDS["mode"])
SCOPES: Final = tuple(NEEDS["grant"])
TURNS: Final = tuple(NEEDS["turn"])
BOUNDS: Final = tuple(NEEDS["bound"])
SLOTS: Final = tuple(NEEDS["hook"])
"""The slots at which the kit can place a hook: stage, point and role."""

EVENTS: Final = tuple(NEEDS["event"])
OUTCOMES: Final[Mapping[str, tuple[str, ...]]] = {
    gate: tuple(one.removeprefix(f"{gate}.") for one in NEEDS["outcome"] if one.startswith(f"{gate}."))
    for gate in GATES
}
"""The outcomes that may release each gate; `terminal` and `malformed` are kinds of turns."""

ITERATIONS_DEFAULT: Final = 50
"""The default bound of a pass."""
