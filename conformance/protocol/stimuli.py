"""Stimuli that every family has, and how a runtime refuses one."""

from __future__ import annotations

from typing import ClassVar

from runlock.conformance.protocol.wire import Json, JsonObject, Wire


class Stimulus(Wire):
    """The base of every stimulus: a limit on the turns of the scheduler that the SUT may use."""

    method: ClassVar[str]
    turns: int | None = None


class GateRelease(Stimulus):
    """The kit releases an open gate with an outcome."""

    method: ClassVar[str] = "gate.release"
    gate: str
    outcome: JsonObject


class Cancel(Stimulus):
    """A cancel from outside the run."""

    method: ClassVar[str] = "cancel"
    run: str


class ClockAdvance(Stimulus):
    """The virtual clock advances, in milliseconds."""

    method: ClassVar[str] = "clock.advance"
    ms: int


class Settle(Stimulus):
    """No new input: the SUT runs until only the kit can make it continue."""

    method: ClassVar[str] = "settle"


class Request(Wire):
    """A method and its parameters, as one member of a race."""

    method: str
    params: JsonObject


class Deliver(Stimulus):
    """A race: all of these are delivered, in this order, before the SUT runs again."""

    method: ClassVar[str] = "deliver"
    stimuli: list[Request]


class Crash(Stimulus):
    """The runtime and everything in memory is dropped, without clean-up."""

    method: ClassVar[str] = "crash"


class Recover(Stimulus):
    """Restart from the last durable state; `store` is null if the SUT has its own store.

    `now_ms` is what the virtual clock shows, in a scenario in which that matters.
    """

    method: ClassVar[str] = "recover"
    run: str
    store: Json = None
    now_ms: int | None = None


class Inspect(Wire):
    """Read the state of a run without changing it."""

    run: str


class Refusal(Wire):
    """A stimulus, or one of its decisions, that the SUT refused; it has changed nothing."""

    stimulus: int = 0
    decision: str | None = None
    why: str = ""
