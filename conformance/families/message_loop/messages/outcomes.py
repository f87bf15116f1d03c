"""The outcomes with which gates of the message loop are released."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter

from runlock.conformance.families.message_loop.messages.vocabulary import Scope
from runlock.conformance.protocol.outcomes import Acknowledged, Fault, GateOutcome, Usage
from runlock.conformance.protocol.wire import Json, JsonObject, Wire


class ToolCall(Wire):
    """One call that the model asks for; malformed arguments are given as a string."""

    id: str
    name: str
    args: Json = Field(default_factory=dict)

    @property
    def is_malformed(self) -> bool:
        """Whether the arguments are not a JSON object."""
        return isinstance(self.args, str)


class CallPiece(Wire):
    """A piece of a call, before the response is complete."""

    id: str
    name: str | None = None
    args_text: str = ""

    @property
    def whole(self) -> ToolCall | None:
        """The call, if this one piece has all of it."""
        try:
            args = json.loads(self.args_text)
        except ValueError:
            return None
        is_whole = self.name is not None and isinstance(args, dict)
        return ToolCall(id=self.id, name=self.name or "", args=args) if is_whole else None


class Delta(GateOutcome, keeps_open=("delta",)):
    """A part of a streamed response: text, or a piece of a call.  The model gate stays open."""

    kind: Literal["delta"] = "delta"
    text: str = ""
    tool_call: CallPiece | None = None

    @property
    def whole_call(self) -> ToolCall | None:
        """The call, if this part has all of it."""
        return self.tool_call.whole if self.tool_call is not None else None


class Turn(GateOutcome):
    """The whole response; `terminal` says that the turn ends after these calls."""

    kind: Literal["turn"] = "turn"
    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    terminal: bool = False
    usage: Usage = Usage()


class Outcome(GateOutcome, keeps_open=("activity",)):
    """What a tool answered; `activity` is a progress report, after which the gate stays open."""

    kind: Literal["ok", "error", "raise", "activity"]
    content: Json = None
    message: str | None = None


class Answer(GateOutcome):
    """What an interactor answered."""

    kind: Literal["allow", "deny", "defer"]
    scope: Scope = "once"
    message: str | None = None


class HookAnswer(GateOutcome):
    """What a hook answered; `data` replaces the data that it was shown, key by key."""

    kind: Literal["continue", "deny", "rewrite"]
    data: JsonObject | None = None
    message: str | None = None


class Verdict(GateOutcome):
    """The state machine's verdict on a call: approved, or outside the envelope."""

    kind: Literal["approve", "out"]


class Slices(GateOutcome):
    """The slices that a context provider returned."""

    kind: Literal["slices"] = "slices"
    slices: list[str] = Field(default_factory=list)


class Assertion(GateOutcome):
    """The assertion's verdict on a transcript; `slot` is the value that Exit stores."""

    kind: Literal["ok", "retry", "fail"]
    slot: Json = None
    message: str | None = None


RELEASED: Final = (Delta, Turn, Outcome, Answer, HookAnswer, Verdict, Slices, Assertion)
OUTCOMES_BY_GATE: Final[dict[str, TypeAdapter[Any]]] = {
    "model": TypeAdapter(Annotated[Delta | Turn | Fault, Field(discriminator="kind")]),
    "tool": TypeAdapter(Outcome | Fault),
    "prompt": TypeAdapter(Answer | Fault),
    "hook": TypeAdapter(HookAnswer | Fault),
    "sm": TypeAdapter(Verdict | Fault),
    "context": TypeAdapter(Slices | Fault),
    "assert": TypeAdapter(Assertion | Fault),
    "store.put": TypeAdapter(Acknowledged | Fault),
}
