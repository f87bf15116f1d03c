"""What the kit sends to a runtime of the family lifecycle."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from runlock.conformance.families.lifecycle.messages.vocabulary import Action, StreamKind
from runlock.conformance.protocol import stimuli as shared
from runlock.conformance.protocol.stimuli import Stimulus
from runlock.conformance.protocol.wire import Json, JsonObject, Wire


class Edit(Wire):
    """What an approval puts in the place of what was asked for; what it leaves out stays."""

    name: str | None = None
    args: JsonObject | None = None


class Decision(Wire):
    """What someone decided about a call; `suspension` (from 1) says which of its suspensions it answers."""

    id: str
    call: str
    action: Action
    payload: Json = None
    edit: Edit | None = None
    suspension: int | None = None


class RunStart(Stimulus):
    """A new run on the thread; optional `decisions` come with its input, and a `watcher` of its events."""

    method: ClassVar[str] = "run.start"
    run: str
    input: str
    decisions: list[Decision] = Field(default_factory=list)
    watcher: str | None = None
    stream: StreamKind | None = None


class Decide(Stimulus):
    """Decisions for calls of a run; the request that brings them may bring a `watcher` as well."""

    method: ClassVar[str] = "decide"
    run: str
    decisions: list[Decision]
    watcher: str | None = None
    stream: StreamKind | None = None


class RunInput(Stimulus):
    """New user input for a run that is not Done."""

    method: ClassVar[str] = "run.input"
    run: str
    input: str
    decisions: list[Decision] = Field(default_factory=list)


class Watch(Stimulus):
    """A watcher receives the events of the run from now on, and replaces the one before."""

    method: ClassVar[str] = "watch"
    run: str
    watcher: str
    stream: StreamKind | None = None


class Unwatch(Stimulus):
    """The watcher's stream is cut from outside."""

    method: ClassVar[str] = "unwatch"
    run: str


class Request(shared.Request):
    """A method and its parameters, as one member of a race."""

    method: Literal[
        "run.start", "gate.release", "decide", "cancel", "run.input", "clock.advance", "watch", "unwatch"
    ]


class Deliver(shared.Deliver):
    """A race: all of these are handed over, in this order, before the SUT runs again."""

    stimuli: list[Request]  # type: ignore[assignment]
