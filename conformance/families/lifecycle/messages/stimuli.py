"""What the kit sends to a runtime of the family lifecycle."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from runlock.conformance.families.lifecycle.messages.vocabulary import Action, Scope, StreamKind
from runlock.conformance.families.lifecycle.messages.words import decided, with_decisions
from runlock.conformance.protocol import stimuli as shared
from runlock.conformance.protocol.declared import OneOf
from runlock.conformance.protocol.stimuli import (
    Cancel,
    ClockAdvance,
    Crash,
    GateRelease,
    Recover,
    Settle,
    Stimulus,
    verbs,
)
from runlock.conformance.protocol.wire import Json, JsonObject, Wire

ABANDONED: Final = "abandoned"
"""The payload of a cancel decision that gives up what was asked, instead of answering no."""


class Edit(Wire):
    """What an approval puts in the place of what was asked for; what it leaves out stays."""

    name: str | None = None
    args: JsonObject | None = None


class Decision(Wire):
    """What someone decided about a call.

    `suspension` (from 1) says which of its suspensions it answers.  With a `scope`, an approval also stands
    for calls that the model asks for later: in this run, or in the session, which is all runs of the thread.
    """

    id: str  # of the decision; it comes with it again when it is delivered twice
    call: str  # the id of the call
    action: Action  # whether the call goes on, or is rejected
    payload: Json = None  # the answer of the person, for the call
    edit: Edit | None = None  # what replaces the name or the arguments
    suspension: int | None = None  # which one of its call, from 1
    scope: Scope | None = None  # how long an approval stands


class RunStart(Stimulus, verb="run.start", words=with_decisions("start {run} {input!q}"), needs=""):
    """A new run on the thread; optional `decisions` come with its input, and a `watcher` of its events.

    A client sends the messages of the thread again, unless it leaves them out (`resent`); or another client
    has loaded the thread, which may be in another process.
    """

    run: str
    input: str
    decisions: list[Decision] = Field(default_factory=list)
    watcher: str | None = None
    stream: StreamKind | None = None
    resent: Literal["none", "loaded"] | None = None


class Decide(Stimulus, verb="decide", words=decided):
    """Decisions for calls of a run; the request that brings them may bring a `watcher` as well."""

    run: str
    decisions: list[Decision]
    watcher: str | None = None
    stream: StreamKind | None = None
    resent: Literal["none"] | None = None


class RunInput(
    Stimulus, verb="run.input", line="input {input}", words=with_decisions("input {run} {input!q}")
):
    """New user input for a run that is not Done."""

    run: str
    input: str
    decisions: list[Decision] = Field(default_factory=list)


class Watch(Stimulus, verb="watch", line="watch {watcher} {stream}", words="{watcher} watches"):
    """A watcher receives the events of the run from now on, and replaces the one before."""

    run: str
    watcher: str
    stream: StreamKind | None = None


class Unwatch(Stimulus, verb="unwatch", words="the stream is cut", needs="stimulus watch"):
    """The watcher's stream is cut from outside."""

    run: str


class GrantRevoke(Stimulus, verb="grant.revoke", words="the grants for {tool} are revoked"):
    """The standing grants for a tool are revoked."""

    tool: str


FIRST: Final = (RunStart, GateRelease, Decide, Cancel, RunInput)
RACED: Final = (*FIRST, ClockAdvance, Watch, Unwatch)


class Request(shared.Request):
    """A method and its parameters, as one member of a race."""

    method: Annotated[str, OneOf(verbs(RACED))]


class Deliver(shared.Deliver):
    """A race: all of these are handed over, in this order, before the SUT runs again."""

    stimuli: list[Request]  # type: ignore[assignment]


SENT: Final = (*FIRST, GrantRevoke, Watch, Unwatch, ClockAdvance, Deliver, Settle, Crash, Recover)
"""What the kit sends, in the order in which its verbs are listed."""
