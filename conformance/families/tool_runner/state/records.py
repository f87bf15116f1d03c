"""The records of the fold: gates, the acts of the user, responses, iterations, runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from runlock.conformance.families.tool_runner.messages import (
    Delta,
    Reason,
    Responded,
    RunFinished,
    RunnerGate,
    RunnerInspected,
    RunnerTurn,
)
from runlock.conformance.protocol import Message, ToolCall

Phase = Literal["request", "yield", "response", "handling", "left"]
"""When a tool was entered: before or during the yield, for a response, after the resume, after a break."""

Versions = Mapping[str, frozenset[int]]
"""The tools of a set, and the versions that each may have."""


@dataclass(eq=False, slots=True)
class ObservedGate:
    """A gate at which the runner waits or waited."""

    id: str
    on: str
    run: str
    seen: RunnerGate
    at: int  # the stimulus whose answer showed it
    outcome: Mapping[str, Any] | None = None
    released_at: int | None = None
    released_in: int | None = None  # the window of its release
    gone: str = ""  # why the runner gave it up
    phase: Phase = "request"  # of a tool gate
    response: int | None = None  # the response for which a tool was entered, from 0
    is_after_again: bool = False  # entered after the runner was taken up again

    @property
    def ref(self) -> str:
        """Its name in schedules: `model`, `tool:c1`."""
        return self.on if self.seen.call is None else f"{self.on}:{self.seen.call}"

    @property
    def is_open(self) -> bool:
        """Whether the runner waits there now."""
        return self.outcome is None and not self.gone

    @property
    def kind(self) -> str:
        """The kind of outcome that released it, or an empty string."""
        return str(self.outcome["kind"]) if self.outcome is not None else ""


@dataclass(eq=False, slots=True)
class ObservedAct:
    """What the user did while a yield was open."""

    method: str
    params: Mapping[str, Any]
    at: int
    window: int
    part: int  # its place in the `deliver` that brought it
    during_response: bool  # while a response was being made
    responses: int  # completed before it

    @property
    def sets_messages(self) -> bool:
        """Whether it replaced the messages."""
        return self.method == "runner.set" and self.params.get("messages") is not None

    @property
    def messages(self) -> list[Message]:
        """The messages that it gave."""
        return [Message.model_validate(one) for one in self.params.get("messages") or ()]


@dataclass(eq=False, slots=True)
class ObservedResponse:
    """A request of the user for the tool response, and what came of it."""

    at: int
    window: int
    acts_before: int
    seen: Responded | None = None
    acts_when_seen: int = 0
    after_cancel: bool = False

    @property
    def is_pending(self) -> bool:
        """Whether it is still being made."""
        return self.seen is None

    @property
    def acts_until(self) -> int | None:
        """How many acts there were when it came; None while it is being made."""
        return None if self.is_pending else self.acts_when_seen


@dataclass(eq=False, slots=True)
class Iteration:
    """A request of the runner, its turn, the yield of it, and what came after."""

    number: int
    run: str
    request: ObservedGate
    limit_counted: int  # requests of the runner with this one
    turns_counted: int  # turns that the runner had received before this one
    tools: Versions  # the set at the request
    turn: RunnerTurn | None = None
    turn_in: int | None = None  # the window in which the turn became whole
    fault: bool = False
    deltas: list[tuple[Delta, int]] = field(default_factory=list)
    yields: list[ObservedGate] = field(default_factory=list)
    resumed_at: int | None = None
    left_at: int | None = None
    left_in: int | None = None  # the window of the break
    taken_up_at: int | None = None  # by `runner.again`, after a break
    retried_at: int | None = None  # by `runner.again`, after a fault
    acts: list[ObservedAct] = field(default_factory=list)
    responses: list[ObservedResponse] = field(default_factory=list)
    entries: list[ObservedGate] = field(default_factory=list)
    shown: list[tuple[Message, bool]] = field(default_factory=list)  # `message`; whether the yield was open
    pieces: list[Any] = field(default_factory=list)  # data of the `delta` events
    end_events: list[Any] = field(default_factory=list)
    with_user_at_cancel: bool = False
    whole_at_resume: bool = True
    cancelled_in: int | None = None  # the window of the cancel that met it

    @property
    def message(self) -> Message | None:
        """The received turn as a message."""
        return self.turn.message if self.turn is not None else None

    @property
    def calls(self) -> Sequence[ToolCall]:
        """The calls of the received turn."""
        return self.turn.tool_calls if self.turn is not None else ()

    @property
    def base(self) -> list[Message]:
        """The state at the request."""
        return without_system(self.request.seen.messages or ())

    @property
    def yielded(self) -> ObservedGate | None:
        """The open yield, if there is one."""
        return next((gate for gate in self.yields if gate.is_open), None)

    @property
    def pending_response(self) -> ObservedResponse | None:
        """The response that is being made."""
        return next((one for one in self.responses if one.is_pending), None)

    @property
    def pushed(self) -> bool:
        """Whether the user pushed messages."""
        return any(act.method == "runner.push" for act in self.acts)

    @property
    def was_set(self) -> bool:
        """Whether the user set messages or params."""
        return any(act.method == "runner.set" for act in self.acts)

    @property
    def sets_messages(self) -> bool:
        """Whether the user replaced the messages."""
        return any(act.sets_messages for act in self.acts)

    @property
    def touched(self) -> bool:
        """Whether the user pushed or set anything."""
        return self.pushed or self.was_set

    @property
    def changes_tools(self) -> bool:
        """Whether the user changed the set of tools."""
        return any(act.method == "runner.tools" for act in self.acts)

    def has_removed(self, name: str) -> bool:
        """Whether the user took a tool out of the set, even if it was added again."""
        changes = (act for act in self.acts if act.method == "runner.tools")
        return any(name in (act.params.get("remove") or ()) for act in changes)

    @property
    def goes_on(self) -> bool:
        """Whether the user has let the runner go on after the yield."""
        return self.resumed_at is not None or self.taken_up_at is not None

    @property
    def faulted_tools(self) -> list[ObservedGate]:
        """The tools that broke."""
        return [gate for gate in self.entries if gate.kind == "fault"]

    @property
    def has_doubled_ids(self) -> bool:
        """Whether two calls of the turn bear one id."""
        ids = [call.id for call in self.calls]
        return len(set(ids)) < len(ids)

    @property
    def is_yielded_whole(self) -> bool:
        """Whether the user received the turn when it was whole, and no stream."""
        return bool(self.yields) and self.yields[0].seen.message is not None

    @property
    def may_have_lost_its_turn(self) -> bool:
        """Whether the user left a stream while its turn came, so that the runner may not have received it."""
        return self.left_in is not None and self.left_in == self.turn_in and not self.is_yielded_whole

    def may_precede_the_turn(self, act: ObservedAct) -> bool:
        """Whether the user may have acted before the turn was whole, as the reader of a stream can."""
        if self.is_yielded_whole:
            return False
        return self.turn_in is None or act.window <= self.turn_in

    def early_pushes(self) -> list[Message]:
        """What the user pushed, perhaps before the turn was whole, unless a later set replaced it."""
        pushed: list[Message] = []
        for act in self.acts:
            if act.sets_messages:
                pushed = []
            elif act.method == "runner.push" and self.may_precede_the_turn(act):
                pushed += act.messages
        return pushed

    def before_pushes(self) -> list[Message]:
        """The messages of the state without what was pushed since they were last set."""
        messages = self.base
        for act in self.acts:
            if act.sets_messages:
                messages = act.messages
        return messages

    def pushes(self) -> list[Message]:
        """What the user pushed, unless a later set replaced it."""
        pushed: list[Message] = []
        for act in self.acts:
            if act.sets_messages:
                pushed = []
            elif act.method == "runner.push":
                pushed += act.messages
        return pushed

    def entries_of(self, call: str) -> list[ObservedGate]:
        """The entries of a call's body."""
        return [gate for gate in self.entries if gate.seen.call == call]


@dataclass(eq=False, slots=True)
class Run:
    """One walk of the user over the runner."""

    id: str
    began_at: int
    is_again: bool = False
    after: Literal["break", "fault", "end"] | None = None  # what the run before it ended with
    before: Run | None = None
    finished: list[RunFinished] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)  # of `run.status`
    claimed_reason: Reason | None = None
    cancel_at: int | None = None
    cancelled_in: int = 0  # the window of the cancel
    cancel_met_a_race: bool = False  # it may have come before what was sent right before it was taken up
    cancel_settled: bool = False  # the runner has been quiescent since the cancel
    left_at: int | None = None
    looks: list[RunnerInspected] = field(default_factory=list)
    requests: int = 0
    refused: bool = False
    gone_quiet: bool = False  # quiescent without a gate, where the runner does not show its end

    @property
    def is_done(self) -> bool:
        """Whether it is over."""
        return bool(self.finished) or "Done" in self.claims or self.refused or self.gone_quiet

    @property
    def ended(self) -> Reason | None:
        """Why it ended."""
        return self.finished[-1].reason if self.finished else None


def without_system(messages: Sequence[Message]) -> list[Message]:
    """The messages of a request, without those that tell the model of a change of the tools."""
    return [message for message in messages if message.role != "system"]


def key_of(message: Message) -> tuple[Any, ...]:
    """What makes two messages the same; a result without a status is a success."""
    calls = tuple((call.id, call.name, json.dumps(call.args, sort_keys=True)) for call in message.tool_calls)
    status = (message.status or "ok") if message.role == "tool" else None
    return (message.role, message.text, calls, message.call, status)


def same(one: Message | None, other: Message | None) -> bool:
    """Whether two messages are the same."""
    if one is None or other is None:
        return one is other
    return key_of(one) == key_of(other)


def stands(turn: Message | None, messages: Sequence[Message]) -> bool:
    """Whether messages hold a turn."""
    return turn is not None and any(same(turn, message) for message in messages)


def answered_calls(turn: Message, messages: Sequence[Message]) -> set[str]:
    """The calls of a turn that a tool message answers which follows it."""
    place = next((n for n, message in enumerate(messages) if same(message, turn)), None)
    if place is None:
        return set()
    later = {message.call for message in messages[place + 1 :] if message.role == "tool"}
    return {call.id for call in turn.tool_calls if call.id in later}
