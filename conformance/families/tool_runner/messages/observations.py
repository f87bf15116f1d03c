"""The observations that a tool runner reports."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from runlock.conformance.families.tool_runner.messages.vocabulary import RunnerStatus
from runlock.conformance.families.tool_runner.messages.words import (
    appended,
    finished,
    opened,
    responded,
)
from runlock.conformance.protocol import (
    GateClosed,
    GateOpened,
    JsonObject,
    Message,
    Observation,
    Report,
    Wire,
)
from runlock.conformance.protocol.observations import OfKind, listed
from runlock.conformance.protocol.wire import Json


class RunnerGate(GateOpened, line="gate.open {gate} {on} {name}", words=opened):
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


class RunMoved(Observation, words="{run} is {to}"):
    """The status of the run changed."""

    kind: Literal["run.status"] = "run.status"
    origin: RunnerStatus | None = Field(default=None, alias="from")
    to: RunnerStatus
    reason: Reason | None = None


class MessageAppended(Observation, line="message {role} {text}", words=appended):
    """The runner put a message into the state."""

    kind: Literal["message"] = "message"
    message: Message


class Published(Observation, line="event {stream} {name}", words="{name} {data}"):
    """A piece of a stream, or its end, was delivered to the user."""

    kind: Literal["event"] = "event"
    stream: str | None = None
    name: str
    data: Json = None


class Responded(Observation, words=responded):
    """The tool response that the user asked for; null if there is nothing to answer or it was aborted."""

    kind: Literal["runner.response"] = "runner.response"
    messages: list[Message] | None = None
    cached: bool | None = None


class RunFinished(Observation, line="run.finished {reason}", words=finished, implied={"pending": []}):
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


class RunnerInspected(RunnerSnapshot, Observation, line="inspect {status}"):
    """The answer to `inspect`, as a trace records it."""

    kind: Literal["inspect"] = "inspect"


LISTED: Final = listed(
    RunnerGate, GateClosed, RunMoved, MessageAppended, Published, Responded, RunFinished, RunnerInspected
)

RunnerObservation = Annotated[Observation, OfKind(LISTED)]


class RunnerReport(Report):
    """The answer to a stimulus: everything that has happened since, in order."""

    observations: list[RunnerObservation] = Field(default_factory=list)
