"""The messages between the kit and a runtime under test, protocol version 1, as pydantic models.

Everything here is the wire: what a request carries, what an answer carries, and nothing of what either
means.  The JSON Schemas in `schemas/` are generated from these models; fields that a model does not
name are ignored, and an observation of a kind that is not listed is kept and judged by nothing.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

JsonObject = dict[str, JsonValue]

PROTOCOL_VERSION: Final = 1
SPEC_REVISION: Final = "1.0"

RunStatus = Literal["Created", "Running", "Waiting", "Done"]
CallStatus = Literal["New", "Running", "Suspended", "Resuming", "Succeeded", "Failed", "Cancelled"]
GateKind = Literal["model", "permission", "tool", "hook", "store.put"]
ResumeMode = Literal["replay", "use_as_result", "pass_to_tool"]
Action = Literal["resume", "cancel"]
Disposition = Literal["accepted", "buffered", "ignored", "refused", "duplicate"]
ReasonCode = Literal[
    "NaturalEnd", "BehaviorRequested", "Stopped", "Cancelled", "Blocked", "Suspended", "Error"
]
Trigger = Literal["UserMessage", "AssistantTurnCommitted", "ToolResultsCommitted", "StepEnd", "RunFinished"]
StimulusKind = Literal[
    "decide", "cancel", "cancel.waiting", "run.input", "run.again", "clock.advance", "deliver", "watch"
]  # fmt: skip
PhaseName = Literal[
    "RunStart", "StepStart", "BeforeInference", "AfterInference", "ToolGate",
    "BeforeToolExecute", "AfterToolExecute", "StepEnd", "RunEnd",
]  # fmt: skip
ToolOutcome = Literal["ok", "warning", "error", "raise", "fault", "pending", "activity"]
HookOutcome = Literal["continue", "terminate", "skip_inference", "rewrite", "fault"]
StreamKind = Literal["native", "ai-sdk-v6", "ag-ui"]
ResumeState = Literal[
    "DrainDecisionChannel", "NoDecision", "ResolveDecision", "PersistResumeDecision", "Replay",
    "ReplayCancel", "ReplayResume", "ExecuteReplayedTool", "SetNextSuspended", "ClearResolved",
    "SnapshotIfStateChanged", "CommitReplay",
]  # fmt: skip

FINAL_CALL_STATUSES: Final[frozenset[CallStatus]] = frozenset({"Succeeded", "Failed", "Cancelled"})

UNSUPPORTED: Final = -32001
ILLEGAL_STIMULUS: Final = -32002
NO_SUCH_GATE: Final = -32003
DID_NOT_SETTLE: Final = -32004
SUT_CRASHED: Final = -32005
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603


class ProtocolError(Exception):
    """An answer that is an error: a JSON-RPC `code`, a sentence, and optional `data`."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


_NEVER_NULL: dict[type[Wire], frozenset[str]] = {}


class Wire(BaseModel):
    """A message part: immutable, strictly typed, tolerant of fields it does not know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_left_out(cls, raw: Any) -> Any:
        """A null where the protocol has no null is the same as a field that was left out."""
        if not isinstance(raw, dict) or None not in raw.values():
            return raw
        return {key: value for key, value in raw.items() if value is not None or key not in cls._never_null()}

    @classmethod
    def _never_null(cls) -> frozenset[str]:
        known = _NEVER_NULL.get(cls)
        if known is None:
            known = frozenset(
                field.alias or name
                for name, field in cls.model_fields.items()
                if not field.is_required() and field.get_default(call_default_factory=True) is not None
            )
            _NEVER_NULL[cls] = known
        return known

    def to_wire(self) -> dict[str, Any]:
        """The JSON object that this part is on the wire, without the fields that were left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


# --- what the model, the permission hook, the tools and the store answer ------------------------


class Usage(Wire):
    """Tokens that one turn of the model cost."""

    input: int = 0
    output: int = 0


class ToolCall(Wire):
    """One call that the model asks for: `id` comes from the kit and may repeat."""

    id: str
    name: str
    args: dict[str, JsonValue] = Field(default_factory=dict)


class Turn(Wire):
    """What the model answered: text, and the calls it asks for."""

    kind: Literal["turn"] = "turn"
    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    usage: Usage = Usage()


class Verdict(Wire):
    """What the permission hook answered."""

    kind: Literal["allow", "block", "suspend", "set_result"]
    content: JsonValue = None
    message: str | None = None


class Outcome(Wire):
    """What a tool answered; `error` is an answer, `raise` is its body throwing, `pending` is neither.

    With `activity` it tells something and stays at work: its gate stays open.
    """

    kind: Literal["ok", "warning", "error", "raise", "pending", "activity"]
    content: JsonValue = None
    message: str | None = None


class HookAnswer(Wire):
    """What the plugin does at the phase that it is held at; `data` takes the place of what it was shown."""

    kind: Literal["continue", "terminate", "skip_inference", "rewrite"]
    data: dict[str, JsonValue] | None = None
    message: str | None = None


class Fault(Wire):
    """The outside world broke: a runtime-level error, at any gate."""

    kind: Literal["fault"] = "fault"
    message: str = "the outside world broke"


class Acknowledged(Wire):
    """The store has it."""

    kind: Literal["ok"] = "ok"


GateOutcome = Annotated[
    Turn | Verdict | Outcome | HookAnswer | Fault | Acknowledged, Field(union_mode="left_to_right")
]

OUTCOMES_BY_GATE: Final[dict[str, TypeAdapter[Any]]] = {
    "model": TypeAdapter(Turn | Fault),
    "permission": TypeAdapter(Verdict | Fault),
    "tool": TypeAdapter(Outcome | Fault),
    "hook": TypeAdapter(HookAnswer | Fault),
    "store.put": TypeAdapter(Acknowledged | Fault),
}


# --- handshake ----------------------------------------------------------------------------------


class VersionRange(Wire):
    """Protocol versions that the kit speaks."""

    min: int = PROTOCOL_VERSION
    max: int = PROTOCOL_VERSION


class Party(Wire):
    """Who speaks."""

    name: str
    version: str
    language: str | None = None


class SpecRevision(Wire):
    """The revision of the clauses that the kit judges by."""

    revision: str = SPEC_REVISION


class Initialize(Wire):
    """The kit's half of the handshake."""

    protocol: VersionRange = VersionRange()
    kit: Party
    spec: SpecRevision = SpecRevision()


class Control(Wire):
    """How far the kit can steer the SUT.  The defaults are the weakest value of each."""

    settle: Literal["exact", "observed"] = "observed"
    crash: list[Literal["soft", "kill"]] = Field(default_factory=list)
    store: Literal["kit", "own", "none"] = "none"
    clock: Literal["virtual", "real"] = "real"
    step: Literal["turns", "none"] = "none"


class DecisionSupport(Wire):
    """What the SUT can take in a decision; without `after_error` one would try again what an error ended."""

    live: bool = True
    ids: bool = True
    suspensions: bool = False
    payload: bool = True
    after_error: bool = True


class OfferedOutcomes(Wire):
    """Outcomes that the SUT can take at each gate; a gate that is left out takes all of them."""

    model: list[Literal["turn", "fault"]] = ["turn", "fault"]
    permission: list[Literal["allow", "block", "suspend", "set_result", "fault"]] = [
        "allow", "block", "suspend", "set_result",
    ]  # fmt: skip
    tool: list[ToolOutcome] = [
        "ok", "warning", "error", "raise", "fault", "pending",
    ]  # fmt: skip
    hook: list[HookOutcome] = [
        "continue", "terminate", "skip_inference", "rewrite",
    ]  # fmt: skip
    store_put: list[Literal["ok", "fault"]] = Field(default=["ok", "fault"], alias="store.put")


ALL_STIMULI: Final[list[StimulusKind]] = [
    "decide", "cancel", "cancel.waiting", "run.input", "run.again", "clock.advance", "deliver",
]  # fmt: skip


class Handshake(Wire):
    """The SUT's half of the handshake: who it is, what it claims, what it shows, what it takes."""

    protocol: int = PROTOCOL_VERSION
    implementation: Party
    family: Literal["lifecycle", "tool-runner", "message-loop"] = "lifecycle"
    profile: str = "core"
    policies: dict[str, JsonValue] = Field(default_factory=dict)
    control: Control = Control()
    gates: list[str] = Field(default=["model", "tool"])
    observes: list[str] = Field(default_factory=list)
    stimuli: list[StimulusKind] = Field(default=ALL_STIMULI)
    outcomes: OfferedOutcomes = OfferedOutcomes()
    tools: list[Literal["allow", "ask", "gate"]] = Field(default=["allow", "ask", "gate"])
    decisions: DecisionSupport = DecisionSupport()
    hooks: list[PhaseName] = Field(default_factory=list)  # where a plugin can be held, at a hook gate
    streams: list[StreamKind] = Field(default=["native"])  # what a watcher can ask for


# --- scenario -----------------------------------------------------------------------------------


class ToolSpec(Wire):
    """A tool of the scenario and what holds it back."""

    name: str
    permission: Literal["allow", "ask", "gate"] = "allow"
    resume_mode: ResumeMode = "replay"


class StopCondition(Wire):
    """One declared stop condition; each kind reads the field named beside it."""

    kind: Literal[
        "max_rounds", "timeout", "token_budget", "consecutive_errors", "stop_on_tool", "content_match",
        "loop_detection",
    ]  # fmt: skip
    rounds: int | None = None  # max_rounds
    seconds: float | None = None  # timeout
    max_total: int | None = None  # token_budget, in tokens
    max: int | None = None  # consecutive_errors
    tool_name: str | None = None  # stop_on_tool
    pattern: str | None = None  # content_match
    window: int | None = None  # loop_detection, in calls


class HookSpec(Wire):
    """A plugin of the scenario, which the kit plays: it is held wherever this phase fires."""

    at: PhaseName


class Agent(Wire):
    """How the agent of the scenario is configured."""

    stop: list[StopCondition] = Field(default_factory=list)


class Scenario(Wire):
    """What one scenario starts from: tools, agent, an empty folder, gates to hold."""

    scenario: str
    data: str | None = None
    tools: list[ToolSpec] = Field(default_factory=list)
    agent: Agent = Agent()
    hooks: list[HookSpec] = Field(default_factory=list)
    hold: list[str] = Field(default_factory=list)


class Closed(Wire):
    """The answer to `scenario.close`: gates or tasks that are still alive."""

    leaks: list[JsonValue] = Field(default_factory=list)


# --- stimuli ------------------------------------------------------------------------------------


class Decision(Wire):
    """What someone decided about a call; `suspension` (from 1) says which of its suspensions it answers."""

    id: str
    call: str
    action: Action
    payload: JsonValue = None
    suspension: int | None = None


class Stimulus(Wire):
    """What every stimulus may carry: the most turns of its scheduler that the SUT may run."""

    method: ClassVar[str]
    turns: int | None = None


class RunStart(Stimulus):
    """A new run on the thread; optional `decisions` come with its input, and a `watcher` of its events."""

    method: ClassVar[str] = "run.start"
    run: str
    input: str
    decisions: list[Decision] = Field(default_factory=list)
    watcher: str | None = None
    stream: StreamKind | None = None


class GateRelease(Stimulus):
    """The outside world answers at an open gate."""

    method: ClassVar[str] = "gate.release"
    gate: str
    outcome: dict[str, JsonValue]


class Decide(Stimulus):
    """Decisions for calls of a run; the request that brings them may bring a `watcher` as well."""

    method: ClassVar[str] = "decide"
    run: str
    decisions: list[Decision]
    watcher: str | None = None
    stream: StreamKind | None = None


class Cancel(Stimulus):
    """The external cancel signal."""

    method: ClassVar[str] = "cancel"
    run: str


class RunInput(Stimulus):
    """New user input for a run that is not Done."""

    method: ClassVar[str] = "run.input"
    run: str
    input: str
    decisions: list[Decision] = Field(default_factory=list)


class Watch(Stimulus):
    """Somebody watches the events of the run from now on, in the place of whoever did."""

    method: ClassVar[str] = "watch"
    run: str
    watcher: str
    stream: StreamKind | None = None


class Unwatch(Stimulus):
    """The stream of whoever watches is cut from outside."""

    method: ClassVar[str] = "unwatch"
    run: str


class ClockAdvance(Stimulus):
    """Virtual time passes, in milliseconds."""

    method: ClassVar[str] = "clock.advance"
    ms: int


class Settle(Stimulus):
    """No stimulus: the SUT runs until only the kit can move it on."""

    method: ClassVar[str] = "settle"


class Request(Wire):
    """A method and its parameters, as one member of a race."""

    method: Literal[
        "run.start", "gate.release", "decide", "cancel", "run.input", "clock.advance", "watch", "unwatch"
    ]
    params: dict[str, JsonValue]


class Deliver(Stimulus):
    """A race: all of these are handed over, in this order, before the SUT runs again."""

    method: ClassVar[str] = "deliver"
    stimuli: list[Request]


class Crash(Stimulus):
    """The runtime and everything in memory is dropped, without clean-up."""

    method: ClassVar[str] = "crash"


class Recover(Stimulus):
    """Start again from the last durable state; `store` is null when the SUT keeps its own."""

    method: ClassVar[str] = "recover"
    run: str
    store: JsonValue = None


class Inspect(Wire):
    """Look at a run without touching it."""

    run: str


class Refusal(Wire):
    """A stimulus, or one of its decisions, that the SUT turned down: it has changed nothing."""

    stimulus: int = 0
    decision: str | None = None
    why: str = ""


# --- observations -------------------------------------------------------------------------------


class StopReason(Wire):
    """Which stop condition fired."""

    code: str
    detail: str | None = None


class Reason(Wire):
    """Why a run, or a segment of it, ended."""

    code: ReasonCode
    detail: str | None = None
    stop: StopReason | None = None


class Message(Wire):
    """One message of the thread."""

    role: Literal["user", "assistant", "tool", "system"]
    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    call: str | None = None
    status: Literal["ok", "error", "pending", "cancelled"] | None = None


class Resumption(Wire):
    """The decision that a replay acts on."""

    decision: str | None = None
    action: Action = "resume"
    payload: JsonValue = None


class DurableRun(Wire):
    """The run in a checkpoint."""

    status: RunStatus | None = None
    reason: Reason | None = None
    step: int | None = None


class DurableCall(Wire):
    """A call in a checkpoint."""

    status: CallStatus | None = None
    name: str | None = None
    args: dict[str, JsonValue] | None = None
    resume_mode: ResumeMode | None = None
    suspension: int | None = None


class DurableDecision(Wire):
    """A decision in a checkpoint."""

    id: str | None = None
    action: Action | None = None
    payload: JsonValue = None


class DurableState(Wire):
    """What the state of a checkpoint holds at least; the rest is the runtime's own."""

    run: DurableRun | None = None
    calls: dict[str, DurableCall] | None = None
    decisions: dict[str, DurableDecision] | None = None
    messages: list[Message] | None = None


PART_OF_A_STATE: Final = "part_of_a_state"
"""The type of an error about a listed part of a state; its context is the error of that part."""


def _with_its_parts(state: dict[str, Any]) -> dict[str, Any]:
    try:
        DurableState.model_validate(state)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise PydanticCustomError(
            PART_OF_A_STATE,
            "its {place} does not fit: {msg}",
            {
                "place": ".".join(map(str, first["loc"])),
                **{key: first[key] for key in ("type", "loc", "input", "msg")},
            },
        ) from None
    return state


State = Annotated[dict[str, JsonValue], AfterValidator(_with_its_parts)]
"""A state as the runtime gave it, of which the listed parts fit."""


class Observation(Wire):
    """Something that happened in the SUT, of one of the listed kinds or of its own."""

    kind: str
    run: str | None = None


class GateOpened(Observation):
    """The SUT waits for the outside world at a gate."""

    kind: Literal["gate.open"] = "gate.open"
    gate: str
    on: str
    step: int | None = None
    messages: list[Message] | None = None  # model
    system: str | None = None  # model
    params: dict[str, JsonValue] | None = None  # model
    at: PhaseName | None = None  # hook
    data: dict[str, JsonValue] | None = None  # hook: what the plugin may look at, or rewrite
    call: str | None = None  # permission, tool, hook
    name: str | None = None  # permission, tool
    args: dict[str, JsonValue] | None = None  # permission, tool
    attempt: int | None = None  # tool, from 1
    resume: Resumption | None = None  # permission, tool
    trigger: str | None = None  # store.put
    cause: str | None = None  # store.put
    force: bool | None = None  # store.put
    state: State | None = None  # store.put


def gate_name(on: str, at: str | None, call: str | None) -> str:
    """What waits at a gate, as schedules and scenario files name it: `model`, `tool:c1`, `hook:RunStart`."""
    return ":".join(part for part in (on, at, call) if part is not None)


class GateClosed(Observation):
    """The SUT gave the gate up."""

    kind: Literal["gate.closed"] = "gate.closed"
    gate: str
    because: str = ""


class RunMoved(Observation):
    """The run's status changed."""

    kind: Literal["run.status"] = "run.status"
    origin: RunStatus | None = Field(default=None, alias="from")
    to: RunStatus
    reason: Reason | None = None


class CallMoved(Observation):
    """A call's status changed; `suspension` counts from 1 and comes with Suspended."""

    kind: Literal["call.status"] = "call.status"
    call: str
    origin: CallStatus | None = Field(default=None, alias="from")
    to: CallStatus
    suspension: int | None = None


class PhaseEntered(Observation):
    """A phase fired."""

    kind: Literal["phase"] = "phase"
    phase: PhaseName
    step: int | None = None
    call: str | None = None
    verdict: str | None = None


class ResumeEntered(Observation):
    """The RESUME_TOOL_CALL machine entered a state."""

    kind: Literal["resume"] = "resume"
    state: ResumeState
    call: str | None = None
    decision: str | None = None


class DecisionTaken(Observation):
    """What became of a decision."""

    kind: Literal["decision"] = "decision"
    decision: str
    call: str | None = None
    disposition: Disposition


class MessageAppended(Observation):
    """A message joined the thread."""

    kind: Literal["message"] = "message"
    message: Message


class Checkpointed(Observation):
    """A state is durable now."""

    kind: Literal["checkpoint"] = "checkpoint"
    trigger: str
    cause: str | None = None
    force: bool | None = None
    state: State | None = None


class Published(Observation):
    """An event went to whoever watches; `watcher` names the receiver."""

    kind: Literal["event"] = "event"
    stream: str | None = None
    name: str
    data: JsonValue = None
    watcher: str | None = None


class StreamClosed(Observation):
    """The runtime closed the stream of a watcher."""

    kind: Literal["stream.closed"] = "stream.closed"
    watcher: str | None = None


class SegmentEnded(Observation):
    """This segment of the run ended; `pending` are the calls that wait for a decision."""

    kind: Literal["run.finished"] = "run.finished"
    reason: Reason
    pending: list[str] = Field(default_factory=list)


class Unlisted(Observation):
    """An observation of the SUT's own kind, kept with all its fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")


LISTED: Final[dict[str, type[Observation]]] = {
    "gate.open": GateOpened,
    "gate.closed": GateClosed,
    "run.status": RunMoved,
    "call.status": CallMoved,
    "phase": PhaseEntered,
    "resume": ResumeEntered,
    "decision": DecisionTaken,
    "message": MessageAppended,
    "checkpoint": Checkpointed,
    "event": Published,
    "stream.closed": StreamClosed,
    "run.finished": SegmentEnded,
}


def _kind_of(raw: Any) -> str:
    kind = raw.get("kind") if isinstance(raw, dict) else getattr(raw, "kind", None)
    return kind if isinstance(kind, str) and kind in LISTED else "unlisted"


AnyObservation = Annotated[
    Annotated[GateOpened, Tag("gate.open")]
    | Annotated[GateClosed, Tag("gate.closed")]
    | Annotated[RunMoved, Tag("run.status")]
    | Annotated[CallMoved, Tag("call.status")]
    | Annotated[PhaseEntered, Tag("phase")]
    | Annotated[ResumeEntered, Tag("resume")]
    | Annotated[DecisionTaken, Tag("decision")]
    | Annotated[MessageAppended, Tag("message")]
    | Annotated[Checkpointed, Tag("checkpoint")]
    | Annotated[Published, Tag("event")]
    | Annotated[StreamClosed, Tag("stream.closed")]
    | Annotated[SegmentEnded, Tag("run.finished")]
    | Annotated[Unlisted, Tag("unlisted")],
    Discriminator(_kind_of),
]


class Report(Wire):
    """The answer to a stimulus: all that happened since, in order."""

    observations: list[AnyObservation] = Field(default_factory=list)
    quiescent: bool = True
    refused: list[Refusal] = Field(default_factory=list)


class CallSnapshot(Wire):
    """A call as `inspect` shows it."""

    status: CallStatus
    attempts: int | None = None


class Snapshot(Wire):
    """A run as `inspect` shows it; before the first run the status is null."""

    status: RunStatus | None = None
    reason: Reason | None = None
    step: int | None = None
    calls: dict[str, CallSnapshot] = Field(default_factory=dict)
    messages: list[Message] = Field(default_factory=list)


class Empty(Wire):
    """No parameters, or an answer that only says: done."""


METHODS: Final[dict[str, tuple[type[Wire], type[Wire]]]] = {
    "initialize": (Initialize, Handshake),
    "scenario.open": (Scenario, Empty),
    "scenario.close": (Empty, Closed),
    "shutdown": (Empty, Empty),
    "run.start": (RunStart, Report),
    "gate.release": (GateRelease, Report),
    "decide": (Decide, Report),
    "cancel": (Cancel, Report),
    "run.input": (RunInput, Report),
    "watch": (Watch, Report),
    "unwatch": (Unwatch, Report),
    "clock.advance": (ClockAdvance, Report),
    "deliver": (Deliver, Report),
    "settle": (Settle, Report),
    "crash": (Crash, Empty),
    "recover": (Recover, Report),
    "inspect": (Inspect, Snapshot),
}
"""Each verb of the protocol with the model of its parameters and of its answer."""

STIMULI: Final[tuple[str, ...]] = tuple(name for name, (_, answer) in METHODS.items() if answer is Report)
