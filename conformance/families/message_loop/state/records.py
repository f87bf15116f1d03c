"""What the state is about: turns, passes, requests, calls, prompts and gates, each with what is known of it.

*Witnessed* facts the kit caused or saw at a gate; *claims* are what the runtime says of itself in events,
messages and statuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.families.message_loop.messages import (
    Checkpointed,
    GateOpened,
    Message,
    Published,
    Reason,
    StageSpec,
    ToolSpec,
)

COMPOSING: Final = frozenset(
    {("COMPOSE_REQUEST", "pre"), ("COMPOSE_REQUEST", "post"), ("SEND_REQUEST", "pre")}
)
"""Where a hook belongs to the request that is about to be sent."""


@dataclass(eq=False, slots=True)
class ObservedGate:
    """A gate that opened: what it waits for, and what became of it."""

    id: str
    on: str
    ref: str  # its name in schedules
    opened: GateOpened
    turn: ObservedTurn
    at: int  # when it opened, in the order of the trace
    window: int  # the window in which it opened
    path: ObservedPass | None = None
    request: ObservedRequest | None = None
    call: ObservedCall | None = None
    outcome: Mapping[str, Any] | None = None  # as released
    released_at: int = 0
    released_in: int = 0  # the window
    closed_at: int = 0  # when the runtime gave it up
    closed_in: int = 0  # the window
    deltas: list[Mapping[str, Any]] = field(default_factory=list)  # of a model gate

    @property
    def is_open(self) -> bool:
        """Whether the runtime still waits at it."""
        return self.outcome is None and not self.closed_at

    @property
    def answer(self) -> Mapping[str, Any] | None:
        """The outcome, unless the runtime gave the gate up and so never took it."""
        return None if self.closed_at else self.outcome

    @property
    def answered_with(self) -> str:
        """The kind of its answer, or an empty string."""
        return str(self.answer["kind"]) if self.answer is not None else ""


@dataclass(eq=False, slots=True)
class ObservedPrompt:
    """A question about one call: one gate for each interactor that is asked."""

    id: str
    ask: str | None  # mode, grant
    call: ObservedCall | None
    opened: GateOpened  # the first of its gates
    at: int
    gates: list[ObservedGate] = field(default_factory=list)

    @property
    def answers(self) -> list[ObservedGate]:
        """The gates that were answered, in the order of their answers; a fault is a deferral."""
        answered = [gate for gate in self.gates if gate.answer is not None]
        return sorted(answered, key=lambda gate: gate.released_at)

    def verdict(self, defer: Any) -> str:
        """What was answered: allow, deny, defer, gone, or an empty string while that is open.

        `defer` is the policy prompt.defer; where it is open, a deferral before another answer is unclear.
        """
        kinds = ["defer" if gate.answered_with == "fault" else gate.answered_with for gate in self.answers]
        firm = [kind for kind in kinds if kind != "defer"]
        if defer == "answers" and kinds:
            return kinds[0]
        if firm:
            return firm[0] if defer == "passes" or kinds[0] != "defer" else "unclear"
        if any(gate.is_open for gate in self.gates):
            return "unclear" if kinds and defer is None and len(self.gates) > 1 else ""
        return "defer" if kinds else "gone"

    @property
    def first_firm(self) -> ObservedGate | None:
        """The first allow or deny."""
        return next((gate for gate in self.answers if gate.answered_with in ("allow", "deny")), None)

    @property
    def is_open(self) -> bool:
        """Whether the call still waits for this prompt: a gate is open, and none was answered firmly."""
        return self.first_firm is None and any(gate.is_open for gate in self.gates)


@dataclass(eq=False, slots=True)
class ObservedCall:
    """One call that the model asked for."""

    id: str
    name: str
    args: Any
    index: int  # its place in the response
    request: ObservedRequest
    tool: ToolSpec | None
    doubled: bool = False  # its id stands twice in its response
    prompts: list[ObservedPrompt] = field(default_factory=list)
    judged: list[ObservedGate] = field(default_factory=list)  # by the state machine
    hooks: list[ObservedGate] = field(default_factory=list)
    entries: list[ObservedGate] = field(default_factory=list)
    events: list[Published] = field(default_factory=list)
    results: list[Message] = field(default_factory=list)  # messages shown with its result
    statuses: list[str] = field(default_factory=list)  # claims

    @property
    def is_malformed(self) -> bool:
        """Whether its arguments are no JSON."""
        return isinstance(self.args, str)

    @property
    def is_usable(self) -> bool:
        """Whether it can run at all: its arguments are JSON, its tool exists, its id is its own."""
        return not self.is_malformed and self.tool is not None and not self.doubled

    @property
    def path(self) -> ObservedPass:
        """The pass that it belongs to."""
        return self.request.path

    @property
    def answer(self) -> Mapping[str, Any] | None:
        """What its tool answered."""
        return self.entries[-1].answer if self.entries else None

    @property
    def answered_with(self) -> str:
        """The kind of that answer, or an empty string."""
        return self.entries[-1].answered_with if self.entries else ""

    @property
    def was_aborted(self) -> bool:
        """Whether the runtime gave its tool up."""
        return bool(self.entries) and bool(self.entries[-1].closed_at)

    @property
    def guard_denial(self) -> ObservedGate | None:
        """The guard that denied it."""
        found = (g for g in self.hooks if g.opened.role == "guard" and g.opened.point == "pre")
        return next((gate for gate in found if gate.answered_with == "deny"), None)

    def hook_gates(self, point: str) -> list[ObservedGate]:
        """The hook gates of one point, oldest first."""
        return [gate for gate in self.hooks if gate.opened.point == point]

    def event_names(self) -> list[str]:
        """The names of the events about it, in order."""
        return [event.name for event in self.events]


@dataclass(eq=False, slots=True)
class ObservedRequest:
    """One request to the model, from its COMPOSE_REQUEST on, with its response and round."""

    number: int
    path: ObservedPass
    model_gates: list[ObservedGate] = field(default_factory=list)  # several only where it was sent again
    hooks: list[ObservedGate] = field(default_factory=list)  # those outside TOOL_CALL
    contexts: list[ObservedGate] = field(default_factory=list)
    calls: list[ObservedCall] = field(default_factory=list)
    events: list[Published] = field(default_factory=list)

    @property
    def gate(self) -> ObservedGate | None:
        """Its model gate, once it was sent."""
        return self.model_gates[-1] if self.model_gates else None

    @property
    def response(self) -> Mapping[str, Any] | None:
        """The whole response."""
        gate = self.gate
        return gate.answer if gate is not None and gate.answered_with == "turn" else None

    @property
    def is_streaming(self) -> bool:
        """Whether it was sent and its response is not complete."""
        return self.gate is not None and self.gate.is_open

    @property
    def begun(self) -> set[str]:
        """The ids of the calls of which a piece came, while the response is not complete."""
        deltas = self.gate.deltas if self.gate is not None and self.gate.is_open else []
        return {delta["tool_call"]["id"] for delta in deltas if delta.get("tool_call")}

    @property
    def has_failed(self) -> bool:
        """Whether the model broke, and the request was not sent again."""
        return self.gate is not None and self.gate.answered_with == "fault"

    @property
    def may_be_sent_again(self) -> bool:
        """Whether it failed before anything of its response came."""
        return self.gate is not None and self.has_failed and not self.gate.deltas

    @property
    def is_terminal(self) -> bool:
        """Whether the provider said that the turn ends after these calls."""
        response = self.response
        return response is not None and bool(response.get("terminal")) and bool(self.calls)

    @property
    def chunks(self) -> list[str]:
        """The text as it came: each delta, and then what no delta brought."""
        gate = self.gate
        if gate is None:
            return []
        pieces = [str(delta["text"]) for delta in gate.deltas if delta.get("text")]
        if self.response is None:
            return pieces
        whole, sent = str(self.response.get("text", "")), "".join(pieces)
        rest = whole[len(sent) :] if whole.startswith(sent) else ""
        return [*pieces, rest] if rest else pieces

    def hook_gates(self, at: str, point: str) -> list[ObservedGate]:
        """The hook gates of one point of a stage, oldest first."""
        return [g for g in self.hooks if g.opened.at == at and g.opened.point == point]

    def rewritten(self, *keys: str) -> bool:
        """Whether a transform rewrote one of these keys of the request."""
        for gate in self.hooks:
            if gate.opened.at in ("COMPOSE_REQUEST", "SEND_REQUEST") and gate.opened.role == "transform":
                data = (gate.answer or {}).get("data") if gate.answered_with == "rewrite" else None
                if data and any(key in data for key in keys):
                    return True
        return False


@dataclass(eq=False, slots=True)
class StageFired:
    """What was published of one stage of a pass."""

    stage: str
    at: int
    posted_at: int = 0
    outcome: str | None = None


@dataclass(eq=False, slots=True)
class ObservedPass:
    """One walk through the stages: a chat turn, or one attempt of a stage execution."""

    turn: ObservedTurn
    stage: str | None  # the id of the stage execution
    attempt: int = 1
    requests: list[ObservedRequest] = field(default_factory=list)
    hooks: list[ObservedGate] = field(default_factory=list)  # at RECEIVE_INPUT and RENDER
    asserts: list[ObservedGate] = field(default_factory=list)
    calls: dict[str, ObservedCall] = field(default_factory=dict)  # the newest of each id
    messages: list[Message] = field(default_factory=list)  # shown for its transcript

    @property
    def request(self) -> ObservedRequest | None:
        """The newest request, be it sent or about to be."""
        return self.requests[-1] if self.requests else None

    @property
    def sent(self) -> list[ObservedRequest]:
        """The requests that were sent."""
        return [one for one in self.requests if one.model_gates]

    @property
    def is_driven(self) -> bool:
        """Whether a stage of the state machine drives."""
        return self.stage is not None

    def every_call(self) -> Iterator[ObservedCall]:
        """Every call, in the order in which the model asked."""
        for request in self.requests:
            yield from request.calls

    def calls_of_earlier_rounds(self) -> Iterator[ObservedCall]:
        """The calls of every request but the newest, whose rounds are over once that is sent."""
        for request in self.requests[:-1]:
            yield from request.calls

    @property
    def label(self) -> str:
        """How a sentence names it."""
        return "the turn" if self.stage is None else f"stage execution {self.stage}"


@dataclass(eq=False, slots=True)
class ObservedExecution:
    """A stage execution that a turn was started with."""

    id: str
    name: str
    spec: StageSpec | None
    is_join: bool = False
    passes: list[ObservedPass] = field(default_factory=list)
    exits: list[ObservedGate] = field(default_factory=list)  # commits of its Exit that were held
    exit_checkpoints: list[Checkpointed] = field(default_factory=list)
    events: list[tuple[int, Published]] = field(default_factory=list)

    @property
    def asserts(self) -> list[ObservedGate]:
        """Its assertions, oldest first."""
        return [gate for path in self.passes for gate in path.asserts]

    @property
    def verdict(self) -> str:
        """What its last assertion said: ok, retry, fail, fault, or an empty string."""
        return self.asserts[-1].answered_with if self.asserts else ""


@dataclass(eq=False, slots=True)
class ObservedTurn:
    """A turn of the session, which is a run."""

    id: str
    kind: str  # chat, stage, group
    input: str | None
    executions: dict[str, ObservedExecution]
    at: int
    number: int  # from 1
    passes: list[ObservedPass] = field(default_factory=list)
    gates: list[ObservedGate] = field(default_factory=list)
    events: list[tuple[int, Published]] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)  # shown for the session history
    checkpoints: list[tuple[int, Checkpointed]] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    reason: Reason | None = None
    cancelled_at: int = 0  # when the kit sent a cancel
    cancelled_in: int = 0  # the window
    cancel_met: frozenset[str] = frozenset()  # the gates that were open then
    cancel_is_clean: bool = False  # it met a turn at rest
    session_before: tuple[Message, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether it is over."""
        return self.reason is not None

    @property
    def is_driven(self) -> bool:
        """Whether the state machine drives."""
        return self.kind != "chat"

    def path(self, stage: str | None) -> ObservedPass | None:
        """The pass under way of a stage execution, or of the chat turn."""
        return next((one for one in reversed(self.passes) if one.stage == stage), None)

    def open_gates(self) -> list[ObservedGate]:
        """Its gates that are open."""
        return [gate for gate in self.gates if gate.is_open]

    def named(self, *names: str) -> list[tuple[int, Published]]:
        """Its events of these names, each with when it was published."""
        return [(at, event) for at, event in self.events if event.name in names]

    def faults(self) -> list[ObservedGate]:
        """The gates whose outside world broke."""
        return [gate for gate in self.gates if gate.answered_with == "fault"]

    def stage_denials(self) -> list[ObservedGate]:
        """The guards outside TOOL_CALL that denied."""
        return [
            gate
            for gate in self.gates
            if gate.on == "hook"
            and gate.opened.role == "guard"
            and gate.opened.at != "TOOL_CALL"
            and gate.answered_with == "deny"
        ]

    def every_call(self) -> Iterator[ObservedCall]:
        """Every call of every pass."""
        for path in self.passes:
            yield from path.every_call()

    def prompts(self) -> list[ObservedPrompt]:
        """Every prompt, in the order in which they opened."""
        found = {id(prompt): prompt for call in self.every_call() for prompt in call.prompts}
        return sorted(found.values(), key=lambda prompt: prompt.at)


@dataclass(frozen=True, slots=True)
class Grant:
    """A standing approval that an interactor gave."""

    call: ObservedCall
    name: str
    args: Any
    scope: str
    ask: str | None
    turn: ObservedTurn
    stage: str | None
    at: int
    window: int
