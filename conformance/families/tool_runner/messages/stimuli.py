"""What the kit sends to a tool runner."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from runlock.conformance.families.tool_runner.messages.words import changed, pushed, set_to
from runlock.conformance.protocol import JsonObject, Message, Stimulus, Wire
from runlock.conformance.protocol.declared import OneOf
from runlock.conformance.protocol.stimuli import Cancel, ClockAdvance, GateRelease, Settle, verbs


class RunStart(Stimulus, verb="run.start", words="start {run} {input!q}", needs=""):
    """A runner is created with one user message, and starts to iterate."""

    run: str
    input: str


class Push(Stimulus, verb="runner.push", line="push", words=pushed):
    """The user appends messages to the state."""

    messages: list[Message]


class SetState(Stimulus, verb="runner.set", line="set", words=set_to):
    """The user replaces messages, params, or both."""

    messages: list[Message] | None = None
    params: JsonObject | None = None


class Respond(Stimulus, verb="runner.respond", line="respond", words="respond"):
    """The user asks for the tool response to the received turn."""


class ChangeTools(Stimulus, verb="runner.tools", line="tools", words=changed):
    """The user changes the set of tools: removals come first, then additions and replacements."""

    add: list[str] = Field(default_factory=list)
    remove: list[str] = Field(default_factory=list)


class Again(Stimulus, verb="runner.again", line="again {run}", words="again {run}"):
    """The user iterates over the same runner again."""

    run: str


USER_VERBS: Final = verbs((Push, SetState, Respond, ChangeTools))
OWN: Final = (Push, SetState, Respond, ChangeTools, Again)
RACED: Final = (RunStart, GateRelease, Cancel, ClockAdvance, *OWN)


class RunnerPart(Wire):
    """A stimulus as a member of a race."""

    method: Annotated[str, OneOf(verbs(RACED))]
    params: JsonObject


class RunnerDeliver(Stimulus, verb="deliver", line="race"):
    """A race: several stimuli are delivered, in this order, before the runner continues."""

    stimuli: list[RunnerPart]


SENT: Final = (RunStart, GateRelease, *OWN, Cancel, ClockAdvance, RunnerDeliver, Settle)
"""What the kit sends, in the order in which its verbs are listed."""
