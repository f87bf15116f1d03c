"""What the kit sends to a runtime of the family message-loop."""

from __future__ import annotations

from typing import Annotated, Final

from runlock.conformance.families.message_loop.messages.words import late, started, watched
from runlock.conformance.protocol import stimuli as shared
from runlock.conformance.protocol.declared import OneOf
from runlock.conformance.protocol.stimuli import Cancel, ClockAdvance, GateRelease, Settle, Stimulus, verbs
from runlock.conformance.protocol.wire import JsonObject, Wire


class StageStart(Wire):
    """A stage execution that a turn begins with: its id, and which stage it is."""

    id: str
    name: str


class RunStart(Stimulus, verb="run.start", words=started, needs=""):
    """A turn: a chat turn with its input, one stage execution, or a group of them with a join."""

    run: str
    input: str | None = None
    stage: StageStart | None = None
    group: list[StageStart] | None = None
    join: StageStart | None = None

    @property
    def executions(self) -> list[StageStart]:
        """All stage executions of the turn, the join last."""
        first = self.group if self.group is not None else [self.stage] if self.stage is not None else []
        return [*first, *([self.join] if self.join is not None else [])]


class Late(Stimulus, verb="late", words=late):
    """A late answer: the environment answers a gate that the runtime has closed."""

    gate: str
    outcome: JsonObject


class InteractorGone(Stimulus, verb="interactor.gone", words="interactor {interactor} goes"):
    """An interactor leaves and no longer answers."""

    interactor: str


class Watch(Stimulus, verb="watch", words=watched):
    """A watcher subscribes to the events; with `fails` it throws at each of them."""

    watcher: str
    fails: bool = False


class Unwatch(Stimulus, verb="unwatch", words="{watcher} watches no more", needs="stimulus watch"):
    """A watcher unsubscribes."""

    watcher: str


RACED: Final = (RunStart, GateRelease, Cancel, Late, InteractorGone, Watch, Unwatch, ClockAdvance)


class Request(shared.Request):
    """A method and its parameters, as one member of a race."""

    method: Annotated[str, OneOf(verbs(RACED))]


class Deliver(shared.Deliver):
    """A race: all of these are delivered, in this order, before the SUT runs again."""

    stimuli: list[Request]  # type: ignore[assignment]


SENT: Final = (*RACED, Deliver, Settle)
"""What the kit sends, in the order in which its verbs are listed."""
