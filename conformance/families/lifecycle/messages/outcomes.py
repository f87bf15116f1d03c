"""What the outside world answers at a gate: the model, the permission hook, the tools, plugins, the store."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import TypeAdapter

from runlock.conformance.protocol.outcomes import Acknowledged, Fault, GateOutcome, ToolCall, Turn
from runlock.conformance.protocol.wire import Json, JsonObject


class Delta(GateOutcome, text={"delta": "text"}, keeps_open=("delta",)):
    """A piece of a turn that the model streams: text, or a call, whose arguments may be a part of their text.

    The turn is whole when it comes as `turn`, which has all of it; a fault before that breaks the stream.
    """

    kind: Literal["delta"] = "delta"
    text: str = ""
    tool_call: ToolCall | None = None


class Verdict(GateOutcome, text={"block": "message", "set_result": "content"}):
    """What the permission hook answered."""

    kind: Literal["allow", "block", "suspend", "set_result"]
    content: Json = None  # of `set_result`: the result
    message: str | None = None  # of `block`: why


class Outcome(
    GateOutcome,
    text={**dict.fromkeys(("ok", "warning", "error", "activity"), "content"), "raise": "message"},
    keeps_open=("activity",),
):
    """What a tool answered; `error` is an answer, `raise` is its body throwing, `pending` is neither.

    With `activity` it tells something and stays at work: its gate stays open.
    """

    kind: Literal["ok", "warning", "error", "raise", "pending", "activity"]
    content: Json = None  # of a result, or of its activity
    message: str | None = None  # of `raise`


class HookAnswer(
    GateOutcome,
    text={"rewrite": "data", **dict.fromkeys(("terminate", "skip_inference", "block"), "message")},
):
    """What the plugin does at the phase that it is held at; `data` takes the place of what it was shown."""

    kind: Literal["continue", "terminate", "skip_inference", "rewrite", "block"]
    data: JsonObject | None = None  # of `rewrite`
    message: str | None = None  # of `terminate`, `skip_inference` and `block`: why


RELEASED: Final = (Turn, Delta, Verdict, Outcome, HookAnswer, Fault)

OUTCOMES_BY_GATE: Final[dict[str, TypeAdapter[Any]]] = {
    "model": TypeAdapter(Turn | Delta | Fault),
    "permission": TypeAdapter(Verdict | Fault),
    "tool": TypeAdapter(Outcome | Fault),
    "hook": TypeAdapter(HookAnswer | Fault),
    "apply": TypeAdapter(Acknowledged | Fault),
    "store.put": TypeAdapter(Acknowledged | Fault),
}
