"""Gate outcomes that every family has: a turn of the model, a fault, a plain acknowledgement."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runlock.conformance.protocol.wire import JsonObject, Wire


class Usage(Wire):
    """Tokens that one turn of the model cost."""

    input: int = 0
    output: int = 0


class ToolCall(Wire):
    """One call that the model asks for: `id` comes from the kit and may repeat."""

    id: str
    name: str
    args: JsonObject = Field(default_factory=dict)


class Turn(Wire):
    """What the model answered: text, and the calls it asks for."""

    kind: Literal["turn"] = "turn"
    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    usage: Usage = Usage()


class Fault(Wire):
    """The outside world broke: a runtime-level error, at any gate."""

    kind: Literal["fault"] = "fault"
    message: str = "the outside world broke"


class Acknowledged(Wire):
    """The store has it."""

    kind: Literal["ok"] = "ok"
