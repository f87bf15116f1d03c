"""The messages of the family tool-runner, as pydantic models: what its requests and answers carry.

What every family has (messages of a thread, faults, reports) is taken from the protocol as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, TypeAdapter
from pydantic_core import PydanticCustomError

from runlock.conformance.protocol import (
    Cancel,
    ClockAdvance,
    Closed,
    Empty,
    Fault,
    GateClosed,
    GateOpened,
    GateRelease,
    Handshake,
    Initialize,
    Inspect,
    JsonObject,
    Message,
    Observation,
    Report,
    Scenario,
    Settle,
    Stimulus,
    ToolCall,
    Unlisted,
    Usage,
    Wire,
    not_misspelt,
)
from runlock.conformance.protocol.vocabulary import Vocabulary
from runlock.conformance.protocol.wire import Json

RunnerStatus = Literal["Running", "Done"]
StopReasonName = Literal["tool_use", "end_turn", "max_tokens", "refusal", "pause_turn", "stop_sequence"]
RunnerGateKind = Literal["model", "tool", "yield"]
RunnerStimulus = Literal[
    "runner.push", "runner.set.params", "runner.set.messages", "runner.respond", "runner.tools",
    "runner.again", "cancel", "cancel.yield", "clock.advance", "deliver",
]  # fmt: skip
REQUIRED_GATES: Final = ("model", "tool", "yield")


# -- the handshake


def _all_gates(gates: list[RunnerGateKind]) -> list[RunnerGateKind]:
    """Refuse a runner that lacks a gate: a runner without a yield is not of this family."""
    missing = [gate for gate in REQUIRED_GATES if gate not in gates]
    if missing:
        raise PydanticCustomError("gate", "Input should name '{gate}' too", {"gate": missing[0]})
    return gates


class RunnerOutcomes(Wire):
    """Outcomes that the runner can take at each gate; what is left out is not offered."""

    model: list[Literal["turn", "delta", "fault"]] = ["turn"]
    tool: list[Literal["ok", "error", "raise", "fault"]] = ["ok"]
    yield_: list[Literal["resume", "break"]] = Field(default=["resume"], alias="yield")

    def at(self, gate: str) -> tuple[str, ...]:
        """The outcomes that are offered at a gate."""
        if gate == "model":
            return tuple(self.model)
        if gate == "tool":
            return tuple(self.tool)
        return tuple(self.yield_) if gate == "yield" else ()


class RunnerOffer(Wire):
    """What a scenario may ask of the runner."""

    stream: list[bool] = [False]
    read: list[Literal["all", "none"]] = ["all"]
    max_iterations: bool = False


class RunnerHandshake(Handshake):
    """What a runner says of itself; stimuli, outcomes and stop reasons that are left out are not offered."""

    family: Literal["tool-runner"] = "tool-runner"
    profile: str = "tool-runner"
    gates: Annotated[list[RunnerGateKind], AfterValidator(_all_gates)]  # type: ignore[assignment]
    observes: list[Annotated[str, AfterValidator(lambda kind: not_misspelt(kind, LISTED))]] = Field(
        default_factory=list
    )
    stimuli: list[RunnerStimulus] = Field(default_factory=list)  # type: ignore[assignment]
    outcomes: RunnerOutcomes = RunnerOutcomes()
    stops: list[StopReasonName] = Field(default_factory=list)
    runner: RunnerOffer = RunnerOffer()


# -- the scenario


class RunnerTool(Wire):
    """A tool that the user knows; one that is not offered is in no request before the user adds it."""

    name: str
    offered: bool = True


class RunnerOptions(Wire):
    """How the runner of a scenario is configured."""

    max_iterations: int | None = None
    stream: bool = False
    read: Literal["all", "none"] = "all"


class RunnerScenario(Scenario):
    """What a scenario starts from: the tools, and how the runner is configured."""

    tools: list[RunnerTool] = Field(default_factory=list)
    runner: RunnerOptions = RunnerOptions()

    @cached_property
    def in_full(self) -> Mapping[str, Any]:
        """Every field as the runtime gets it; a limit that is left out stays left out."""
        return {
            "scenario": self.scenario,
            "tools": [tool.model_dump() for tool in self.tools],
            "runner": self.runner.model_dump(exclude_none=True),
        }


# -- stimuli


class RunStart(Stimulus):
    """The runner is made, with one user message, and begins to iterate."""

    method: ClassVar[str] = "run.start"
    run: str
    input: str


class Push(Stimulus):
    """The user appends messages to the state."""

    method: ClassVar[str] = "runner.push"
    messages: list[Message]


class SetState(Stimulus):
    """The user replaces messages, params, or both."""

    method: ClassVar[str] = "runner.set"
    messages: list[Message] | None = None
    params: JsonObject | None = None


class Respond(Stimulus):
    """The user asks for the tool response to the received turn."""

    method: ClassVar[str] = "runner.respond"


class ChangeTools(Stimulus):
    """The user changes the set of tools: removes first, then adds or redefines."""

    method: ClassVar[str] = "runner.tools"
    add: list[str] = Field(default_factory=list)
    remove: list[str] = Field(default_factory=list)


class Again(Stimulus):
    """The user iterates over the same runner again."""

    method: ClassVar[str] = "runner.again"
    run: str


class RunnerPart(Wire):
    """A stimulus as a member of a race."""

    method: Literal[
        "run.start", "gate.release", "cancel", "clock.advance", "runner.push", "runner.set", "runner.respond",
        "runner.tools", "runner.again",
    ]  # fmt: skip
    params: JsonObject


class RunnerDeliver(Stimulus):
    """Several stimuli are handed over, in this order, before the runner goes on."""

    method: ClassVar[str] = "deliver"
    stimuli: list[RunnerPart]


# -- outcomes of gates


class RunnerTurn(Wire):
    """What the model answered, and why it stopped."""

    kind: Literal["turn"] = "turn"
    text: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    stop_reason: StopReasonName | None = None
    usage: Usage = Usage()

    @property
    def stop(self) -> StopReasonName:
        """Why it stopped, also where that was left out."""
        return self.stop_reason or ("tool_use" if self.tool_calls else "end_turn")

    @property
    def message(self) -> Message:
        """The turn as a message of the thread."""
        return Message(role="assistant", text=self.text, tool_calls=self.tool_calls)


class Delta(Wire):
    """A piece of a turn: some text, or a whole call."""

    kind: Literal["delta"] = "delta"
    text: str | None = None
    tool_call: ToolCall | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The piece as an event shows it."""
        return self.model_dump(mode="json", exclude={"kind"}, exclude_none=True)


class RunnerOutcome(Wire):
    """What a tool answered; `raise` is its body throwing."""

    kind: Literal["ok", "error", "raise"]
    content: Json = None
    message: str | None = None


class Resume(Wire):
    """The user takes the next item, or leaves the loop."""

    kind: Literal["resume", "break"]


OUTCOMES_BY_GATE: Final[dict[str, TypeAdapter[Any]]] = {
    "model": TypeAdapter(RunnerTurn | Delta | Fault),
    "tool": TypeAdapter(RunnerOutcome | Fault),
    "yield": TypeAdapter(Resume),
}


# -- observations


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
    """A piece of a stream, or its end, reached the user."""

    kind: Literal["event"] = "event"
    stream: str | None = None
    name: str
    data: Json = None


class Responded(Observation):
    """The tool response that the user asked for; null if there is nothing to answer or it was given up."""

    kind: Literal["runner.response"] = "runner.response"
    messages: list[Message] | None = None
    cached: bool | None = None


class RunFinished(Observation):
    """The walk over the runner ended; `message` is the last turn that was received."""

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
    """What a look at the run showed: the answer to `inspect`, as a trace keeps it."""

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
    """The answer to a stimulus: all that happened since, in order."""

    observations: list[RunnerObservation] = Field(default_factory=list)  # type: ignore[assignment]


METHODS: Final[dict[str, tuple[type[Wire], type[Wire]]]] = {
    "initialize": (Initialize, RunnerHandshake),
    "scenario.open": (RunnerScenario, Empty),
    "scenario.close": (Empty, Closed),
    "shutdown": (Empty, Empty),
    "run.start": (RunStart, RunnerReport),
    "gate.release": (GateRelease, RunnerReport),
    "runner.push": (Push, RunnerReport),
    "runner.set": (SetState, RunnerReport),
    "runner.respond": (Respond, RunnerReport),
    "runner.tools": (ChangeTools, RunnerReport),
    "runner.again": (Again, RunnerReport),
    "cancel": (Cancel, RunnerReport),
    "clock.advance": (ClockAdvance, RunnerReport),
    "deliver": (RunnerDeliver, RunnerReport),
    "settle": (Settle, RunnerReport),
    "inspect": (Inspect, RunnerSnapshot),
}
"""Each verb of the family with the model of its parameters and of its answer."""

VOCABULARY: Final = Vocabulary(
    handshake=RunnerHandshake,
    scenario=RunnerScenario,
    report=RunnerReport,
    snapshot=RunnerSnapshot,
    methods=METHODS,
    observations=LISTED,
    outcomes=OUTCOMES_BY_GATE,
)
