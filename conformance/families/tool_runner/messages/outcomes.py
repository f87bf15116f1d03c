"""The outcomes with which gates of a tool runner are released."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, TypeAdapter, field_validator

from runlock.conformance.families.tool_runner.messages.vocabulary import StopReasonName
from runlock.conformance.protocol import Fault, Message, ToolCall, Usage
from runlock.conformance.protocol.outcomes import GateOutcome
from runlock.conformance.protocol.wire import Json


class RunnerTurn(GateOutcome, text={"turn": "text"}):
    """What the model answered, and why it stopped."""

    kind: Literal["turn"] = "turn"
    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    stop_reason: StopReasonName | None = None
    usage: Usage = Usage()

    @field_validator("tool_calls")
    @classmethod
    def _has_arguments_that_parse(cls, calls: list[ToolCall]) -> list[ToolCall]:
        if any(isinstance(call.args, str) for call in calls):
            raise ValueError("the arguments of a call of a runner are an object")
        return calls

    @property
    def stop(self) -> StopReasonName:
        """The stop reason, or its default if it was left out."""
        return self.stop_reason or ("tool_use" if self.tool_calls else "end_turn")

    @property
    def message(self) -> Message:
        """The turn as a message of the thread."""
        return Message(role="assistant", text=self.text, tool_calls=self.tool_calls)


class Delta(GateOutcome, text={"delta": "text"}, keeps_open=("delta",)):
    """A piece of a turn: some text, or a whole call."""

    kind: Literal["delta"] = "delta"
    text: str | None = None
    tool_call: ToolCall | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The piece as the data of an event."""
        return self.model_dump(mode="json", exclude={"kind"}, exclude_none=True)


class RunnerOutcome(GateOutcome, text={"ok": "content", "error": "content", "raise": "message"}):
    """What a tool answered; `raise` means that its body throws."""

    kind: Literal["ok", "error", "raise"]
    content: Json = None
    message: str | None = None


class Resume(GateOutcome):
    """The user takes the next item, or leaves the loop."""

    kind: Literal["resume", "break"]


RELEASED: Final = (RunnerTurn, Delta, RunnerOutcome, Fault, Resume)
OUTCOMES_BY_GATE: Final[dict[str, TypeAdapter[Any]]] = {
    "model": TypeAdapter(RunnerTurn | Delta | Fault),
    "tool": TypeAdapter(RunnerOutcome | Fault),
    "yield": TypeAdapter(Resume),
}
