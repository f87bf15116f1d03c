"""A watcher comes and goes, and receives events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runlock.conformance.families.lifecycle.messages import Published, StreamClosed
from runlock.conformance.families.lifecycle.state.calls import ObservedCall
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.watchers import Arrival
from runlock.conformance.families.lifecycle.state.wires import EventPart, Told, asks_at_large, parts_of


def watched(state: Knowledge, params: Mapping[str, Any]) -> None:
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


def unwatched(state: Knowledge, _params: Mapping[str, Any]) -> None:
    """The watcher leaves."""
    state.add_feature("a watcher")
    _forget_openings(state)
    state.audience.comes(None, "native", Arrival.NOBODY, state.alone)


def _forget_openings(state: Knowledge) -> None:
    """What a segment that goes on has not opened yet, it may open for a watcher that is gone."""
    run = state.run
    for call in run.calls.values() if run is not None and run.segment_open else ():
        call.due_on = call.due_on if call.wires else None


def published(state: Knowledge, seen: Published) -> None:
    """A watcher receives an event."""
    if seen.watcher == state.audience.watcher:
        state.audience.told.append(seen)
    run = state.run_of(seen)
    calls = run.calls if run is not None else {}
    for part in parts_of(seen):
        call = calls.get(part.call)
        if call is not None:
            _told(state, call, part, seen.stream or "native")
        elif run is not None and part.what in ("open", "whole"):
            run.of_its_stream.add(part.call)
    if asks_at_large(seen):
        for call in calls.values():
            _told(state, call, EventPart("request", call.id), seen.stream or "native")


def _told(state: Knowledge, call: ObservedCall, part: EventPart, stream: str) -> None:
    known = call.wires.get(stream)
    if part.what in ("open", "whole") and (known is None or known.life != state.life):
        known = call.wires[stream] = Told(state.life, state.stimuli)
    if known is not None:
        known.take(part, state.life)


def stream_closed(state: Knowledge, seen: StreamClosed) -> None:
    """The stream of a watcher is complete."""
    audience = state.audience
    if seen.watcher == audience.watcher:
        audience.answered = audience.came is Arrival.WITH_DECISION and len(audience.gone) > 0
        audience.comes(None, "native", Arrival.NOBODY, audience.is_sure, audience.at)


def may_have_closed(state: Knowledge) -> None:
    """A segment ended, and with it perhaps the stream of its watcher, which not every runtime shows."""
    state.audience.may_be_gone = state.audience.may_be_gone or not state.observes("stream.closed")
