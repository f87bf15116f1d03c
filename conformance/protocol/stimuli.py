"""Stimuli that every family has, and how a runtime refuses one.

A stimulus is declared once, as in `class Say(Stimulus, verb="say", words="say {text!q}")`; see `declared` for
what the keywords mean.  Without `needs` a runtime has to offer `stimulus VERB`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from runlock.conformance.protocol.declared import Declared, Words
from runlock.conformance.protocol.wire import Json, JsonObject, Wire


class Sent(Wire):
    """What the kit sends under a verb; a subclass that names none keeps that of its base."""

    method: ClassVar[str]
    declared: ClassVar[Declared] = Declared()

    def __init_subclass__(
        cls, *, verb: str = "", line: str = "", words: Words = "", needs: str | None = None, **config: Any
    ) -> None:
        super().__init_subclass__(**config)
        before, verb = cls.declared, verb or cls.__dict__.get("method", "")
        if verb:
            cls.method, before = verb, Declared(needs=f"stimulus {verb}")
        needed = before.needs if needs is None else needs
        cls.declared = replace(before, line=line or before.line, words=words or before.words, needs=needed)


class Stimulus(Sent):
    """The base of every stimulus: a limit on the turns of the scheduler that the SUT may use."""

    turns: int | None = None


class GateRelease(Stimulus, verb="gate.release", line="release", needs=""):
    """The kit releases an open gate with an outcome."""

    gate: str
    outcome: JsonObject


class Cancel(Stimulus, verb="cancel", words="cancel {run}"):
    """A cancel from outside the run."""

    run: str


class ClockAdvance(Stimulus, verb="clock.advance", line="advance {ms}", words="{ms} ms pass"):
    """The virtual clock advances, in milliseconds."""

    ms: int


class Settle(Stimulus, verb="settle", needs=""):
    """No new input: the SUT runs until only the kit can make it continue."""


class Request(Wire):
    """A method and its parameters, as one member of a race."""

    method: str
    params: JsonObject


class Deliver(Stimulus, verb="deliver", line="race"):
    """A race: all of these are delivered, in this order, before the SUT runs again."""

    stimuli: list[Request]


def _crashed(params: Any) -> str:
    return "kill and recover" if params.get("by") == "kill" else "crash and recover"


class Crash(Stimulus, verb="crash", words=_crashed, needs="control crash=any"):
    """The runtime and everything in memory is dropped, without clean-up."""


class Recover(Stimulus, verb="recover", needs="control crash=any"):
    """Restart from the last durable state; `store` is null if the SUT has its own store.

    `now_ms` is what the virtual clock shows, in a scenario in which that matters.
    """

    run: str
    store: Json = None
    now_ms: int | None = None


class Inspect(Sent, verb="inspect", line="look", words="look at {run}", needs=""):
    """Read the state of a run without changing it."""

    run: str


class Refusal(Wire):
    """A stimulus, or one of its decisions, that the SUT refused; it has changed nothing."""

    stimulus: int = 0
    decision: str | None = None
    why: str = ""


def verbs(sent: Sequence[type[Sent]]) -> tuple[str, ...]:
    """The verbs of these stimuli."""
    return tuple(one.method for one in sent)
