"""Gate outcomes that every family has: a turn of the model, a fault, a plain acknowledgement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from runlock.conformance.protocol.declared import Declared
from runlock.conformance.protocol.wire import JsonObject, Wire


class GateOutcome(Wire):
    """The base of what a gate is released with.

    `text` is the field that needs no name in a line, for each kind that has one; after the kinds in
    `keeps_open` the gate is still open.
    """

    declared: ClassVar[Declared] = Declared()

    def __init_subclass__(
        cls, *, text: Mapping[str, str] | None = None, keeps_open: tuple[str, ...] = (), **config: Any
    ) -> None:
        super().__init_subclass__(**config)
        cls.declared = Declared(text=text or {}, keeps_open=frozenset(keeps_open))


class Usage(Wire):
    """Token counts of one turn of the model."""

    input: int = 0
    output: int = 0


class ToolCall(Wire):
    """One call that the model asks for; `id` comes from the kit and may repeat.

    Arguments that do not parse are the text that the model wrote.
    """

    id: str
    name: str  # of a tool, which may not exist
    args: JsonObject | str = Field(default_factory=dict)


TurnStop = Literal["end", "tool_calls", "length", "refusal", "pause"]
"""How a turn ended: the model was done, or asks for calls, ran out of tokens, refused, or has more to say."""


class Turn(GateOutcome, text={"turn": "text"}):
    """An answer of the model: text, the calls that it asks for, and how it ended.

    Without `stop` it ended with the calls that it asks for, or else because the model was done.
    """

    kind: Literal["turn"] = "turn"
    text: str = ""  # what the model says
    tool_calls: list[ToolCall] = Field(default_factory=list)  # what it asks for; an id may be there twice
    stop: TurnStop | None = None  # how it ended
    usage: Usage = Usage()  # in tokens


class Fault(GateOutcome, text={"fault": "message"}):
    """The environment failed: a runtime-level error, at any gate."""

    kind: Literal["fault"] = "fault"
    message: str = "the outside world broke"


class Acknowledged(GateOutcome):
    """The store has written the checkpoint."""

    kind: Literal["ok"] = "ok"
