"""What a runtime shows; each family adds its own kinds."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from runlock.conformance.protocol.outcomes import ToolCall
from runlock.conformance.protocol.wire import Wire


class Message(Wire):
    """One message of the thread."""

    role: Literal["user", "assistant", "tool", "system"]
    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    call: str | None = None
    status: Literal["ok", "error", "pending", "cancelled"] | None = None


class Observation(Wire):
    """Something that happened in the SUT, of one of the listed kinds or of its own."""

    kind: str
    run: str | None = None

    @classmethod
    def _never_null(cls) -> frozenset[str]:
        return super()._never_null() - {"kind"}  # by which it was told apart


class GateOpened(Observation):
    """The SUT waits for the outside world at a gate; a family adds what the gate shows."""

    kind: Literal["gate.open"] = "gate.open"
    gate: str
    on: str
    step: int | None = None
    call: str | None = None


class GateClosed(Observation):
    """The SUT gave the gate up."""

    kind: Literal["gate.closed"] = "gate.closed"
    gate: str
    because: str = ""


class Unlisted(Observation):
    """An observation of the SUT's own kind, kept with all its fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")
