"""What a runtime shows: something that happened in it, of a listed kind or of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from runlock.conformance.families.lifecycle.messages.vocabulary import (
    Action,
    CallStatus,
    Disposition,
    PhaseName,
    ReasonCode,
    ResumeMode,
    ResumeState,
    RunStatus,
)
from runlock.conformance.families.lifecycle.messages.words import (
    appended,
    closed,
    ended,
    entered,
    exchanged,
    inspected,
    moved,
    opened,
    prompted,
    published,
    shown_as,
)
from runlock.conformance.protocol import observations as shared
from runlock.conformance.protocol.observations import GateClosed, Message, Observation, OfKind, listed
from runlock.conformance.protocol.wire import PART_OF_A_WHOLE, Json, JsonObject, Wire


class StopReason(Wire):
    """Which stop condition fired."""

    code: str
    detail: Json = None


class Reason(Wire):
    """Why a run, or a segment of it, ended."""

    code: ReasonCode
    detail: Json = None  # a sentence, or what the runtime says
    stop: StopReason | None = None  # of reason Stopped: which condition


class Resumption(Wire):
    """The decision that a replay acts on."""

    decision: str | None = None  # its id
    action: Action = "resume"  # what was decided
    payload: Json = None  # the answer of the person


class DurableRun(Wire):
    """The run in a checkpoint."""

    status: RunStatus | None = None
    reason: Reason | None = None
    step: int | None = None


class DurableCall(Wire):
    """A call in a checkpoint."""

    status: CallStatus | None = None
    name: str | None = None
    args: Json = None
    resume_mode: ResumeMode | None = None
    suspension: int | None = None


class DurableDecision(Wire):
    """A decision in a checkpoint."""

    id: str | None = None
    action: Action | None = None
    payload: Json = None
    edit: JsonObject | None = None


class DurableState(Wire):
    """What the state of a checkpoint holds at least; the rest is the runtime's own."""

    run: DurableRun | None = None
    calls: dict[str, DurableCall] | None = None
    decisions: dict[str, DurableDecision] | None = None
    messages: list[Message] | None = None


def _with_its_parts(state: dict[str, Any]) -> dict[str, Any]:
    try:
        DurableState.model_validate(state)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise PydanticCustomError(
            PART_OF_A_WHOLE,
            "its {place} does not fit: {msg}",
            {
                "place": ".".join(map(str, first["loc"])),
                **{key: first[key] for key in ("type", "loc", "input", "msg")},
            },
        ) from None
    return state


State = Annotated[JsonObject, AfterValidator(_with_its_parts)]
"""A state as the runtime gave it, of which the listed parts fit."""


class GateOpened(shared.GateOpened, line="gate.open {gate} {on} {name}", words=opened):
    """The SUT waits for the outside world at a gate."""

    messages: list[Message] | None = None  # model
    system: str | None = None  # model
    params: JsonObject | None = None  # model
    tools: list[str] | None = None  # model: the tools that it is offered; left out: all of the scenario
    at: PhaseName | None = None  # hook
    data: JsonObject | None = None  # hook: what the plugin may look at, or rewrite
    name: str | None = None  # permission, tool
    args: Json = None  # permission, tool; what a decision gave for them may be no object
    attempt: int | None = None  # tool, from 1
    resume: Resumption | None = None  # permission, tool
    results: list[str] | None = None  # apply: the calls whose results are about to be applied
    trigger: str | None = None  # store.put
    cause: str | None = None  # store.put
    force: bool | None = None  # store.put
    state: State | None = None  # store.put


def gate_name(opened: Mapping[str, Any]) -> str:
    """What waits at a gate, as schedules and scenario files name it: `model`, `tool:c1`, `hook:RunStart`.

    Of a run within a call, a gate that is about no call bears that one: `model:c1`.
    """
    _, within, call = str(opened.get("run")).rpartition("/")
    named = (opened.get("on"), opened.get("at"), opened.get("call") or (call if within else None))
    return ":".join(str(part) for part in named if part is not None)


class RunMoved(Observation, words=moved, implied={"reason": None}):
    """The run's status changed."""

    kind: Literal["run.status"] = "run.status"
    origin: RunStatus | None = Field(default=None, alias="from")
    to: RunStatus
    reason: Reason | None = None


class CallMoved(Observation, words="{call} is {to}"):
    """A call's status changed; `suspension` counts from 1 and comes with Suspended."""

    kind: Literal["call.status"] = "call.status"
    call: str
    origin: CallStatus | None = Field(default=None, alias="from")
    to: CallStatus
    suspension: int | None = None


class PhaseEntered(Observation, words=entered):
    """A phase fired."""

    kind: Literal["phase"] = "phase"
    phase: PhaseName
    step: int | None = None
    call: str | None = None
    verdict: str | None = None


class ResumeEntered(Observation, words="resume gate: {state}"):
    """The RESUME_TOOL_CALL machine entered a state."""

    kind: Literal["resume"] = "resume"
    state: ResumeState
    call: str | None = None
    decision: str | None = None


class DecisionTaken(
    Observation,
    line="decision {decision} {disposition} {call}",
    words="decision {decision} is {disposition}",
):
    """What became of a decision."""

    kind: Literal["decision"] = "decision"
    decision: str
    call: str | None = None
    disposition: Disposition


class CallShown(Observation, words=shown_as):
    """Those who decide are shown a call that waits."""

    kind: Literal["call.shown"] = "call.shown"
    call: str
    name: str
    args: Json = None


class MessageAppended(Observation, line="message {role} {text}", words=appended):
    """A message joined the thread."""

    kind: Literal["message"] = "message"
    message: Message


class Checkpointed(
    Observation,
    line="checkpoint {trigger} {cause}",
    words="checkpoint {trigger}",
    implied={"force": False},
):
    """A state is durable now."""

    kind: Literal["checkpoint"] = "checkpoint"
    trigger: str
    cause: str | None = None
    force: bool | None = None
    state: State | None = None


class Published(Observation, line="event {stream} {name}", words=published):
    """An event went to the watcher; `watcher` names the receiver."""

    kind: Literal["event"] = "event"
    stream: str | None = None
    name: str
    data: Json = None
    watcher: str | None = None


class StreamClosed(Observation, line="stream.closed {watcher}", words=closed):
    """The runtime closed the stream of a watcher."""

    kind: Literal["stream.closed"] = "stream.closed"
    watcher: str | None = None


class Exchanged(Observation, line="exchange {ended}", words=exchanged):
    """One request over AG-UI and the events that answered it, in their order, as they came.

    `ended` says who ended the stream: the server, which `closed` or `refused` it, or the client, which
    `left`; of a recording it may be `unknown`.  Without `request`, the request was not recorded.
    """

    kind: Literal["exchange"] = "exchange"
    request: JsonObject | None = None
    events: list[JsonObject] = Field(default_factory=list)
    ended: Literal["closed", "refused", "left", "unknown"] = "closed"


class Prompted(Observation, line="prompt {ended}", words=prompted):
    """One prompt over the Agent Client Protocol, and all that both sides said of it, in their order.

    What comes before the event `prompt` belongs to the prompt before; `ended` says whether it was answered.
    """

    kind: Literal["prompt"] = "prompt"
    events: list[JsonObject] = Field(default_factory=list)
    ended: Literal["answered", "open"] = "answered"


class InputReturned(Observation, line="input.returned {text}", words="input {text!q} is given back"):
    """An input that was taken and not shown to the model is given back to its sender."""

    kind: Literal["input.returned"] = "input.returned"
    text: str


class SegmentEnded(Observation, line="run.finished {reason}", words=ended, implied={"pending": []}):
    """This segment of the run ended; `pending` are the calls that wait for a decision."""

    kind: Literal["run.finished"] = "run.finished"
    reason: Reason
    pending: list[str] = Field(default_factory=list)

    @property
    def leaves(self) -> Literal["Waiting", "Done"]:
        """The status in which it leaves its run."""
        return "Waiting" if self.reason.code == "Suspended" else "Done"


class CallSnapshot(Wire):
    """A call as `inspect` shows it; `attempts` counts the entries of its body."""

    status: CallStatus
    attempts: int | None = None  # how often its body was entered


class Snapshot(Wire):
    """A run as `inspect` shows it; before the first run the status is null."""

    status: RunStatus | None = None  # of the run
    reason: Reason | None = None  # of a run that is Done
    step: int | None = None  # the number of the model call
    calls: dict[str, CallSnapshot] = Field(default_factory=dict)  # by id
    messages: list[Message] = Field(default_factory=list)  # the thread


class RunInspected(Snapshot, Observation, line="inspect {status}", words=inspected, implied={"reason": None}):
    """What a look at the run showed: the answer to `inspect`, as a trace keeps it."""

    kind: Literal["inspect"] = "inspect"


class ThreadEdited(
    Observation, line="thread.edited {why}", words="{why}: the thread is edited at message {at}"
):
    """A part of the thread has given way to other messages; `at` counts the messages from 0."""

    kind: Literal["thread.edited"] = "thread.edited"
    why: Literal["compaction", "dropped", "skipped", "timeout"]
    at: int = Field(ge=0)
    cut: list[Message] = Field(default_factory=list)
    instead: list[Message] = Field(default_factory=list)


class Nested(Observation):
    """What a run within a call showed: clauses about the run around it do not look at it."""

    seen: Observation

    @property
    def call(self) -> str:
        """The call that the run is within."""
        return str(self.run).rpartition("/")[2]


def kept_apart(seen: Observation) -> Observation:
    """An observation of a run within a call, whose id is that of the run around it, `/`, and the call."""
    if seen.run is None or "/" not in seen.run:
        return seen
    return Nested.model_construct(kind=seen.kind, run=seen.run, seen=seen)


LISTED: Final = listed(
    GateOpened, GateClosed, RunMoved, CallMoved, PhaseEntered, ResumeEntered, DecisionTaken, CallShown,
    MessageAppended, Checkpointed, Published, StreamClosed, Exchanged, Prompted, InputReturned, SegmentEnded,
    RunInspected, ThreadEdited,
)  # fmt: skip
"""The kinds of observations that clauses know, each with its model."""

AnyObservation = Annotated[Observation, OfKind(LISTED)]
