"""The watcher of a run: when it comes and goes, and the events that it received."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from runlock.conformance.families.lifecycle.messages import Published, StreamClosed
from runlock.conformance.families.lifecycle.state.calls import Call
from runlock.conformance.families.lifecycle.state.wires import Part, Told, parts_of

if TYPE_CHECKING:
    from runlock.conformance.families.lifecycle.state.observed_state import ObservedState


class Arrival(Enum):
    """How the present watcher came."""

    NOBODY = auto()
    FIRST = auto()
    ANEW = auto()  # after an earlier one had left
    BACK = auto()  # to a run that waits
    REPLACING = auto()  # while another one watched
    WITH_DECISION = auto()  # in one request with a decision


@dataclass(eq=False, slots=True)
class Audience:
    """Who watches the events of the thread, as far as is known."""

    watcher: str | None = None
    stream: str = "native"
    came: Arrival = Arrival.NOBODY
    possible: set[str | None] = field(default_factory=lambda: {None})  # who may receive an event by now
    gone: set[str] = field(default_factory=set)  # who watched before
    at: int = 0  # the stimulus with which the present watcher came
    told: list[Published] = field(default_factory=list)  # what the present watcher received
    answered: bool = False  # whether the last stream that was closed belonged to a request that decided
    activities: list[Any] = field(default_factory=list)  # what tools told since the newest stimulus came

    def comes(self, watcher: str | None, stream: str, came: Arrival, sure: bool, at: int = 0) -> None:
        """A watcher takes the place, or with None leaves it; in a race either may be there."""
        self.at = at
        if self.watcher is not None:
            self.gone.add(self.watcher)
        self.gone.discard(watcher or "")
        self.possible = {watcher} if sure else {*self.possible, watcher}
        self.watcher, self.stream, self.came, self.told = watcher, stream, came, []

    @property
    def is_sure(self) -> bool:
        """Whether it is certain who watches."""
        return self.possible == {self.watcher}


def watched(state: ObservedState, params: Mapping[str, Any]) -> None:
    """A watcher comes, by itself or in one request with another stimulus."""
    watcher, run = params.get("watcher"), state.run
    if watcher is None:
        return
    state.add_feature("a watcher")
    waits = run is not None and not run.is_done and not run.segment_open
    came = Arrival.BACK if waits else Arrival.ANEW
    if not state.audience.gone:
        came = Arrival.FIRST
    if state.audience.watcher is not None:
        came = Arrival.REPLACING
    if params.get("decisions"):
        came = Arrival.WITH_DECISION
    _forget_openings(state)
    state.audience.comes(watcher, params.get("stream") or "native", came, state.alone, state.stimuli)


def unwatched(state: ObservedState, _params: Mapping[str, Any]) -> None:
    """The watcher leaves."""
    state.add_feature("a watcher")
    _forget_openings(state)
    state.audience.comes(None, "native", Arrival.NOBODY, state.alone)


def _forget_openings(state: ObservedState) -> None:
    """What a segment that goes on has not opened yet, it may open for a watcher that is gone."""
    run = state.run
    for call in run.calls.values() if run is not None and run.segment_open else ():
        call.due_on = call.due_on if call.wires else None


def published(state: ObservedState, seen: Published) -> None:
    """A watcher receives an event."""
    if seen.watcher == state.audience.watcher:
        state.audience.told.append(seen)
    run = state.run_of(seen)
    calls = run.calls if run is not None else {}
    for part in parts_of(seen):
        call = calls.get(part.call)
        if call is not None:
            _told(state, call, part, seen.stream or "native")


def _told(state: ObservedState, call: Call, part: Part, stream: str) -> None:
    known = call.wires.get(stream)
    if part.what in ("open", "whole") and (known is None or known.life != state.life):
        known = call.wires[stream] = Told(state.life, state.stimuli)
    if known is not None:
        known.take(part, state.life)


def stream_closed(state: ObservedState, seen: StreamClosed) -> None:
    """The stream of a watcher is complete."""
    audience = state.audience
    if seen.watcher == audience.watcher:
        audience.answered = audience.came is Arrival.WITH_DECISION and len(audience.gone) > 0
        audience.comes(None, "native", Arrival.NOBODY, audience.is_sure, audience.at)
