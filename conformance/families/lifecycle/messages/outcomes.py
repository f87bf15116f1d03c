"""What the outside world answers at a gate: the model, the permission hook, the tools, plugins, the store."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter

from runlock.conformance.protocol.outcomes import Acknowledged, Fault, Turn
from runlock.conformance.protocol.wire import Json, JsonObject, Wire


class Verdict(Wire):
    """What the permission hook answered."""

    kind: Literal["allow", "block", "suspend", "set_result"]
    content: Json = None
    message: str | None = None


class Outcome(Wire):
    """What a tool answered; `error` is an answer, `raise` is its body throwing, `pending` is neither.

    With `activity` it tells something and stays at work: its gate stays open.
    """

    kind: Literal["ok", "warning", "error", "raise", "pending", "activity"]
    content: Json = None
    message: str | None = None


class HookAnswer(Wire):
    """What the plugin does at the phase that it is held at; `data` takes the place of what it was shown."""

    kind: Literal["continue", "terminate", "skip_inference", "rewrite", "block"]
    data: JsonObject | None = None
    message: str | None = None


GateOutcome = Annotated[
    Turn | Verdict | Outcome | HookAnswer | Fault | Acknowledged, Field(union_mode="left_to_right")
]

OUTCOMES_BY_GATE: Final[dict[str, TypeAdapter[Any]]] = {
    "model": TypeAdapter(Turn | Fault),
    "permission": TypeAdapter(Verdict | Fault),
    "tool": TypeAdapter(Outcome | Fault),
    "hook": TypeAdapter(HookAnswer | Fault),
    "apply": TypeAdapter(Acknowledged | Fault),
    "store.put": TypeAdapter(Acknowledged | Fault),
}
