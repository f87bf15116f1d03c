"""What the kit sends to a tool runner."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from runlock.conformance.protocol import JsonObject, Message, Stimulus, Wire


class RunStart(Stimulus):
    """A runner is created with one user message, and starts to iterate."""

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
    """The user changes the set of tools: removals come first, then additions and replacements."""

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
    """A race: several stimuli are delivered, in this order, before the runner continues."""

    method: ClassVar[str] = "deliver"
    stimuli: list[RunnerPart]
