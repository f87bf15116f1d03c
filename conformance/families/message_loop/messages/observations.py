"""The observations that a message loop reports."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from runlock.conformance.families.message_loop.messages.outcomes import ToolCall
from runlock.conformance.families.message_loop.messages.vocabulary import (
    CallStatus,
    ExecutionStatus,
    Point,
    ReasonCode,
    ResultStatus,
    Role,
    RunStatus,
    StageName,
)
from runlock.conformance.families.message_loop.messages.words import (
    appended,
    finished,
    opened,
    published,
)
from runlock.conformance.protocol import observations as shared
from runlock.conformance.protocol.observations import GateClosed, Observation, OfKind, listed
from runlock.conformance.protocol.wire import Json, JsonObject, Wire


class StopReason(Wire):
    """Which bound was reached."""

    code: str
    detail: Json = None


class Reason(Wire):
    """Why a turn ended."""

    code: ReasonCode
    detail: Json = None
    stop: StopReason | None = None

    @property
    def is_bound(self) -> bool:
        """Whether the turn ended because the bound was reached."""
        return self.stop is not None and self.stop.code == "max_iterations"


class Message(Wire):
    """One message of the session history or of a stage transcript."""

    role: Literal["user", "assistant", "tool", "system"]
    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    call: str | None = None
    status: ResultStatus | Literal["pending"] | None = None


class GateOpened(shared.GateOpened, words=opened):
    """The SUT waits for the environment at a gate."""

    stage: str | None = None  # the id of the stage execution
    system: str | None = None  # model
    tools: list[str] | None = None  # model
    messages: list[Message] | None = None  # model
    context: list[str] | None = None  # model
    params: JsonObject | None = None  # model
    name: str | None = None  # tool, prompt, sm
    args: Json = None  # tool, prompt, sm
    origin: str | None = None  # tool
    attempt: int | None = None  # tool, assert
    prompt: str | None = None  # prompt
    interactor: str | None = None  # prompt
    ask: Literal["mode", "grant"] | None = None  # prompt
    hook: str | None = None  # hook
    at: StageName | None = None  # hook
    point: Point | None = None  # hook
    role: Role | None = None  # hook
    data: JsonObject | None = None  # hook
    provider: str | None = None  # context
    budget: int | None = None  # context
    transcript: list[Message] | None = None  # assert
    cap_hit: bool | None = None  # assert
    trigger: str | None = None  # store.put
    cause: str | None = None  # store.put
    force: bool | None = None  # store.put
    state: JsonObject | None = None  # store.put


class RunMoved(Observation, words="{run} is {to}"):
    """The run's status changed."""

    kind: Literal["run.status"] = "run.status"
    origin: RunStatus | None = Field(default=None, alias="from")
    to: RunStatus
    reason: Reason | None = None


class CallMoved(Observation, words="{call} is {to}"):
    """A call's status changed."""

    kind: Literal["call.status"] = "call.status"
    stage: str | None = None
    call: str
    origin: CallStatus | None = Field(default=None, alias="from")
    to: CallStatus


class MessageAppended(Observation, words=appended):
    """A message was appended to the session history or to a stage transcript."""

    kind: Literal["message"] = "message"
    stage: str | None = None
    transcript: Literal["session", "stage"] = "session"
    message: Message


class Checkpointed(Observation, words="stored: {cause}"):
    """A checkpoint was stored."""

    kind: Literal["checkpoint"] = "checkpoint"
    stage: str | None = None
    trigger: str | None = None
    cause: str | None = None
    force: bool | None = None
    state: JsonObject | None = None


class Published(Observation, words=published):
    """An event was published; `watcher` names the receiver, and null means the kit itself."""

    kind: Literal["event"] = "event"
    stage: str | None = None
    name: str
    data: Json = None
    watcher: str | None = None

    def get(self, key: str) -> Any:
        """A field of the event's data."""
        return self.data.get(key) if isinstance(self.data, dict) else None


class TurnEnded(Observation, words=finished):
    """The turn is over."""

    kind: Literal["run.finished"] = "run.finished"
    reason: Reason
    pending: list[str] = Field(default_factory=list)


class CallSnapshot(Wire):
    """A call as `inspect` shows it."""

    status: CallStatus
    attempts: int | None = None


class Standing(Wire):
    """A standing grant as `inspect` shows it."""

    tool: str
    scope: str | None = None
    stage: str | None = None


class ExecutionSnapshot(Wire):
    """A stage execution as `inspect` shows it."""

    name: str | None = None
    status: ExecutionStatus | None = None
    attempt: int | None = None
    cap_hit: bool | None = None
    transcript: list[Message] = Field(default_factory=list)


class Snapshot(Wire):
    """A turn as `inspect` shows it; before the first turn the status is null."""

    status: RunStatus | None = None
    reason: Reason | None = None
    step: int | None = None
    rounds: int | None = None
    messages: list[Message] = Field(default_factory=list)
    calls: dict[str, CallSnapshot] = Field(default_factory=dict)
    prompts: list[str] = Field(default_factory=list)
    standing: list[Standing] = Field(default_factory=list)
    stages: dict[str, ExecutionSnapshot] = Field(default_factory=dict)


class RunInspected(Snapshot, Observation):
    """The answer to `inspect`, as a trace records it."""

    kind: Literal["inspect"] = "inspect"


LISTED: Final = listed(
    GateOpened, GateClosed, RunMoved, CallMoved, MessageAppended, Checkpointed, Published, TurnEnded,
    RunInspected,
)  # fmt: skip

AnyObservation = Annotated[Observation, OfKind(LISTED)]
