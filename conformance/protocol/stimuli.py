"""What the kit sends, and how a runtime turns it down."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from runlock.conformance.protocol.vocabulary import Action, StreamKind
from runlock.conformance.protocol.wire import Json, JsonObject, Wire


class Decision(Wire):
    """What someone decided about a call; `suspension` (from 1) says which of its suspensions it answers."""

    id: str
    call: str
    action: Action
    payload: Json = None
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
    outcome: JsonObject


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
    params: JsonObject


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
    store: Json = None


class Inspect(Wire):
    """Look at a run without touching it."""

    run: str


class Refusal(Wire):
    """A stimulus, or one of its decisions, that the SUT turned down: it has changed nothing."""

    stimulus: int = 0
    decision: str | None = None
    why: str = ""
