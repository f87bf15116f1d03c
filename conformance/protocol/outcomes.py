"""Gate outcomes that every family has: a turn of the model, a fault, a plain acknowledgement."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runlock.conformance.protocol.wire import JsonObject, Wire


class Usage(Wire):
    """Token counts of one turn of the model."""

    input: int = 0
    output: int = 0


class ToolCall(Wire):
    """One call that the model asks for; `id` comes from the kit and may repeat."""

    id: str
    name: str
    args: JsonObject = Field(default_factory=dict)


class Turn(Wire):
    """An answer of the model: text, and the calls that it asks for."""

    kind: Literal["turn"] = "turn"
    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    usage: Usage = Usage()


class Fault(Wire):
    """The environment failed: a runtime-level error, at any gate."""

    kind: Literal["fault"] = "fault"
    message: str = "the outside world broke"


class Acknowledged(Wire):
    """The store has written the checkpoint."""

    kind: Literal["ok"] = "ok"
