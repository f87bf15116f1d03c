"""Stimuli that every family has, and how a runtime turns one down."""

from __future__ import annotations

from typing import ClassVar

from runlock.conformance.protocol.wire import Json, JsonObject, Wire


class Stimulus(Wire):
    """What every stimulus may carry: the most turns of its scheduler that the SUT may run."""

    method: ClassVar[str]
    turns: int | None = None


class GateRelease(Stimulus):
    """The outside world answers at an open gate."""

    method: ClassVar[str] = "gate.release"
    gate: str
    outcome: JsonObject


class Cancel(Stimulus):
    """The external cancel signal."""

    method: ClassVar[str] = "cancel"
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

    method: str
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
