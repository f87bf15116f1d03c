"""The observations that a tool runner reports."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Discriminator, Field, Tag

from runlock.conformance.families.tool_runner.messages.vocabulary import RunnerStatus
from runlock.conformance.protocol import (
    GateClosed,
    GateOpened,
    JsonObject,
    Message,
    Observation,
    Report,
    Unlisted,
    Wire,
)
from runlock.conformance.protocol.wire import Json


class RunnerGate(GateOpened):
    """The runner waits at a gate."""

    messages: list[Message] | None = None  # model
    sent: int | None = None  # model
    params: JsonObject | None = None  # model
    tools: list[str] | None = None  # model
    iteration: int | None = None  # yield
    message: Message | None = None  # yield
    name: str | None = None  # tool
    args: Json = None  # tool
    attempt: int | None = None  # tool
    version: int | None = None  # tool


class StopReason(Wire):
    """Which limit ended the run."""

    code: str
    detail: Json = None


class Reason(Wire):
    """Why a run ended."""

    code: Literal["NaturalEnd", "BehaviorRequested", "Stopped", "Cancelled", "Error"]
    detail: Json = None
    stop: StopReason | None = None


class RunMoved(Observation):
    """The status of the run changed."""

    kind: Literal["run.status"] = "run.status"
    origin: RunnerStatus | None = Field(default=None, alias="from")
    to: RunnerStatus
    reason: Reason | None = None


class MessageAppended(Observation):
    """The runner put a message into the state."""

    kind: Literal["message"] = "message"
    message: Message


class Published(Observation):
    """A piece of a stream, or its end, was delivered to the user."""

    kind: Literal["event"] = "event"
    stream: str | None = None
    name: str
    data: Json = None


class Responded(Observation):
    """The tool response that the user asked for; null if there is nothing to answer or it was aborted."""

    kind: Literal["runner.response"] = "runner.response"
    messages: list[Message] | None = None
    cached: bool | None = None


class RunFinished(Observation):
    """The run ended; `message` is the last turn that was received."""

    kind: Literal["run.finished"] = "run.finished"
    reason: Reason
    pending: list[str] = Field(default_factory=list)
    message: Message | None = None


class RunnerCall(Wire):
    """A call as `inspect` shows it."""

    status: str | None = None
    attempts: int | None = None


class RunnerSnapshot(Wire):
    """The run and the state as `inspect` shows them; before the first run the status is null."""

    status: RunnerStatus | None = None
    reason: Reason | None = None
    step: int | None = None
    iteration: int | None = None
    calls: dict[str, RunnerCall] = Field(default_factory=dict)
    messages: list[Message] | None = None
    params: JsonObject | None = None
    tools: list[str] | None = None


class RunnerInspected(RunnerSnapshot, Observation):
    """The answer to `inspect`, as a trace records it."""

    kind: Literal["inspect"] = "inspect"


LISTED: Final[dict[str, type[Observation]]] = {
    "gate.open": RunnerGate,
    "gate.closed": GateClosed,
    "run.status": RunMoved,
    "message": MessageAppended,
    "event": Published,
    "runner.response": Responded,
    "run.finished": RunFinished,
    "inspect": RunnerInspected,
}


def _kind_of(raw: Any) -> str:
    kind = raw.get("kind") if isinstance(raw, dict) else getattr(raw, "kind", None)
    return kind if isinstance(kind, str) and kind in LISTED else "unlisted"


RunnerObservation = Annotated[
    Annotated[RunnerGate, Tag("gate.open")]
    | Annotated[GateClosed, Tag("gate.closed")]
    | Annotated[RunMoved, Tag("run.status")]
    | Annotated[MessageAppended, Tag("message")]
    | Annotated[Published, Tag("event")]
    | Annotated[Responded, Tag("runner.response")]
    | Annotated[RunFinished, Tag("run.finished")]
    | Annotated[RunnerInspected, Tag("inspect")]
    | Annotated[Unlisted, Tag("unlisted")],
    Discriminator(_kind_of),
]


class RunnerReport(Report):
    """The answer to a stimulus: everything that has happened since, in order."""

    observations: list[RunnerObservation] = Field(default_factory=list)  # type: ignore[assignment]
