"""What the kit sends to a runtime of the family message-loop."""

from __future__ import annotations

from typing import ClassVar, Literal

from runlock.conformance.protocol import stimuli as shared
from runlock.conformance.protocol.stimuli import Stimulus
from runlock.conformance.protocol.wire import JsonObject, Wire


class StageStart(Wire):
    """A stage execution that a turn begins with: its id, and which stage it is."""

    id: str
    name: str


class RunStart(Stimulus):
    """A turn: a chat turn with its input, one stage execution, or a group of them with a join."""

    method: ClassVar[str] = "run.start"
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


class Late(Stimulus):
    """A late answer: the environment answers a gate that the runtime has closed."""

    method: ClassVar[str] = "late"
    gate: str
    outcome: JsonObject


class InteractorGone(Stimulus):
    """An interactor leaves and no longer answers."""

    method: ClassVar[str] = "interactor.gone"
    interactor: str


class Watch(Stimulus):
    """A watcher subscribes to the events; with `fails` it throws at each of them."""

    method: ClassVar[str] = "watch"
    watcher: str
    fails: bool = False


class Unwatch(Stimulus):
    """A watcher unsubscribes."""

    method: ClassVar[str] = "unwatch"
    watcher: str


class Request(shared.Request):
    """A method and its parameters, as one member of a race."""

    method: Literal[
        "run.start", "gate.release", "cancel", "late", "interactor.gone", "watch", "unwatch", "clock.advance"
    ]


class Deliver(shared.Deliver):
    """A race: all of these are delivered, in this order, before the SUT runs again."""

    stimuli: list[Request]  # type: ignore[assignment]
