"""STREAM: events reach the present watcher; watchers may come and go without an effect on the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from runlock.conformance.families.lifecycle.invariants.reshown import names_what_waits
from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    Published,
    RunMoved,
    SegmentEnded,
    StreamClosed,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CRASH, FAULT
from runlock.conformance.families.lifecycle.state.watchers import Arrival
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation, Unlisted

SEGMENT_END: Final = {
    "native": "run.finished",
    "ai-sdk-v6": "finish",
    "ag-ui": "RUN_FINISHED",
    "copilotkit": "RUN_FINISHED",
}
"""The event by which each stream tells how a segment ended."""

WAITING_PART: Final = "renderAndWaitForResponse"
"""The event by which CopilotKit asks on a page, for a call that waits."""

IDLE: Final = frozenset({"settle", "clock.advance", "watch", "unwatch", "inspect"})
"""Stimuli that decide nothing and release nothing."""

OF_THE_STREAM: Final = (Published, StreamClosed, Unlisted)


def _who(watcher: str | None) -> str:
    return "nobody" if watcher is None else f"watcher {watcher}"


def _goes_to_the_watcher(state: ObservedState, seen: Published, *came: Arrival) -> CheckResults:
    audience = state.audience
    if not state.is_watched or audience.came not in came:
        return
    if seen.watcher is None and not state.observes("stream.closed"):
        return  # its stream may have closed without a word
    why = f"event {seen.name} went to {_who(seen.watcher)}, while {_who(audience.watcher)} watches"
    yield held_or(seen.watcher == audience.watcher, why)


@check("STREAM-1", rank=Rank.STREAM)
def an_event_reaches_who_watches(state: ObservedState, seen: Published) -> CheckResults:
    """The present watcher receives the event."""
    yield from _goes_to_the_watcher(state, seen, Arrival.FIRST, Arrival.ANEW)


@check("STREAM-4", rank=Rank.STREAM)
def a_watcher_of_a_waiting_run_receives_what_follows(state: ObservedState, seen: Published) -> CheckResults:
    """A watcher that comes back to a waiting run receives what is published from then on."""
    yield from _goes_to_the_watcher(state, seen, Arrival.BACK)


@check("STREAM-5", rank=Rank.STREAM)
def a_watcher_takes_the_whole_place(state: ObservedState, seen: Published) -> CheckResults:
    """A watcher that replaces another receives every later event, and the other one none."""
    yield from _goes_to_the_watcher(state, seen, Arrival.REPLACING)


@check("STREAM-9", rank=Rank.STREAM)
def the_watcher_comes_before_its_decision(state: ObservedState, seen: Published) -> CheckResults:
    """A watcher who comes with a decision receives what the decision causes from its first event on."""
    yield from _goes_to_the_watcher(state, seen, Arrival.WITH_DECISION)


@check("STREAM-8", rank=Rank.STREAM)
def an_event_goes_one_way(state: ObservedState, seen: Published) -> CheckResults:
    """While watchers take turns, an event is received whole by one of them."""
    number = _number(seen)
    if number is None or state.audience.is_sure:
        return
    twice = next((one for one in state.shown if isinstance(one, Published) and _number(one) == number), None)
    who = _who(twice.watcher) if twice is not None else ""
    yield held_or(not who, f"event {seen.name} went to {who} and again to {_who(seen.watcher)}")


def _number(seen: Published) -> Any:
    return seen.data.get("id") if isinstance(seen.data, dict) else None


@check("STREAM-2", rank=Rank.STATUS, requires="a watcher")
def a_cut_stream_leaves_the_run(state: ObservedState) -> CheckResults:
    """A stream that was cut has changed nothing in the run."""
    if [name for name, _ in state.newest] != ["unwatch"] or not state.alone:
        return
    moved = next((_shown(seen) for seen in state.shown if not isinstance(seen, OF_THE_STREAM)), "")
    yield held_or(not moved, f"the stream was cut, and thereupon the runtime showed {moved}")


def _shown(seen: Observation) -> str:
    what = getattr(seen, "to", None) or getattr(seen, "gate", None) or ""
    return f"{seen.kind} {what}".strip()


@check("STREAM-3", rank=Rank.STATUS, requires="a watcher")
def an_event_for_nobody_breaks_nothing(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run does not end in Error for an event that no watcher received."""
    run, audience = state.run_of(seen), state.audience
    if run is None or audience.watcher is not None or not audience.is_sure or not audience.gone:
        return
    why = f"the run ended in Error: {seen.reason.detail}; nothing broke but that nobody received its events"
    if seen.reason.code != "Error":
        yield HELD
    elif not run.disturbed_by(FAULT, CRASH):
        yield broken(why)


@check("STREAM-7", rank=Rank.LOST, requires="a watcher")
def an_unwatched_run_goes_on(state: ObservedState) -> CheckResults:
    """A run goes on after its last watcher has left."""
    run, audience = state.run, state.audience
    if run is None or run.is_done or audience.watcher is not None or not audience.gone:
        return
    if not state.tells_ends:
        return
    held = state.gates_of(run) or run.claimed == "Waiting" or any(c.may_wait for c in run.calls.values())
    yield held_or(held, "nobody watches the run, and it neither goes on nor waits for anything else")


@check("STREAM-6", rank=Rank.STREAM)
def a_stream_closes_after_the_end(state: ObservedState, seen: StreamClosed) -> CheckResults:
    """A stream that closes has told its watcher how the segment ended."""
    audience = state.audience
    if not state.is_watched or seen.watcher != audience.watcher:
        return
    told = _told_the_end(state)
    yield held_or(told, f"the stream of {_who(seen.watcher)} closed before it told how the run ended")


@check("STREAM-6", rank=Rank.STREAM, requires="a watcher")
def the_stream_of_a_run_that_is_over_is_closed(state: ObservedState) -> CheckResults:
    """The stream of a watcher that received the end of the run is closed once the runtime is quiescent."""
    run, watcher = state.run, state.audience.watcher
    if run is None or not run.is_done or not state.is_watched or not state.alone:
        return
    over = any(isinstance(one, SegmentEnded) for one in state.shown)
    if over and state.observes("stream.closed") and _told_the_end(state) in state.shown:
        yield broken(f"{_who(watcher)} was told that the run is over, and its stream was not closed")


def _told_the_end(state: ObservedState) -> Published | None:
    name = SEGMENT_END[state.audience.stream]
    return next((event for event in reversed(state.audience.told) if event.name == name), None)


@check("STREAM-18", rank=Rank.STREAM)
def an_end_is_told_with_its_reason(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """The event that tells how a segment ended gives the reason with which it ends."""
    for event in _ends_told(state):
        yield from _agrees(event, seen.reason.code)


@check("STREAM-18", rank=Rank.STREAM)
def an_end_is_told_as_it_was_reported(state: ObservedState, seen: Published) -> CheckResults:
    """The event that tells how a segment ended gives the reason that the run's status came with."""
    run = state.run_of(seen)
    reason = run.volatile.claimed_reason if run is not None else None
    if reason is not None and seen.name == SEGMENT_END.get(seen.stream or "native"):
        yield from _agrees(seen, reason.code)


def _agrees(event: Published, code: str) -> CheckResults:
    reason = event.data.get("reason") if isinstance(event.data, dict) else None
    told = reason.get("code") if isinstance(reason, dict) else None
    has_own_words = code == "Suspended" and event.stream not in (None, "native")  # STREAM-13 and STREAM-14
    if told is not None and not has_own_words:
        why = f"the segment ends as {code}, yet event {event.name} tells its watcher {told}"
        yield held_or(told == code, why)


def _suspension_on(state: ObservedState, stream: str, field: str, value: str) -> CheckResults:
    for event in _ends_told(state):
        if event.stream == stream:
            said = event.data.get(field) if isinstance(event.data, dict) else None
            said = said.get("type") if isinstance(said, dict) else said
            yield held_or(said == value, f"the segment suspends, and {event.name} says {field} {said!r}")


@check("STREAM-13", at=("Suspended",), rank=Rank.STREAM)
def an_ai_sdk_suspension_is_a_finish_for_tool_calls(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """On a stream of AI SDK v6 a suspension is a finish whose reason is tool-calls."""
    yield from _suspension_on(state, "ai-sdk-v6", "finishReason", "tool-calls")


@check("STREAM-14", at=("Suspended",), rank=Rank.STREAM)
def an_ag_ui_suspension_is_an_interrupt(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """On a stream of AG-UI a suspension is a finished run whose outcome is an interrupt."""
    yield from _suspension_on(state, "ag-ui", "outcome", "interrupt")


@check("STREAM-15", at=("Suspended",), rank=Rank.STREAM)
def a_copilotkit_suspension_waits_on_the_page(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """On a stream of CopilotKit each call that was suspended is a part of the page that waits."""
    streams = {one.stream for one in state.shown if isinstance(one, Published) and one.watcher is not None}
    if streams != {"copilotkit"} or not state.alone:
        return
    asked = [data.get("call") for data in _published(state, WAITING_PART)]
    held = [one.call for one in state.shown if isinstance(one, CallMoved) and one.to == "Suspended"]
    for call in held:
        why = f"call {call} was suspended, and no part of the page waits for an answer to it"
        yield held_or(call in asked, why)


@check("STREAM-10", rank=Rank.STREAM)
def a_parked_run_publishes_nothing(state: ObservedState) -> CheckResults:
    """A run that waits and has no decision publishes no event."""
    run = state.run
    if run is None or run.claimed != "Waiting" or not state.settled_before or not state.newest:
        return
    if any(name not in IDLE for name, _ in state.newest) or _entered(state):
        return
    told = (seen for seen in state.shown if isinstance(seen, Published))
    has_come = [name for name, _ in state.newest] == ["watch"]
    names = (one.name for one in told if not (has_come and names_what_waits(state, one)))
    name = next(names, None)
    yield held_or(name is None, f"the run waits and nobody decided, yet it published {name}")


def _entered(state: ObservedState) -> bool:
    """Whether the run came to wait only now."""
    return any(isinstance(seen, RunMoved | SegmentEnded) for seen in state.shown)


@check("STREAM-16", rank=Rank.STREAM, requires="a watcher")
def a_resume_reaches_its_own_watcher(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run resumed by another request tells the end of that segment to the watcher of that request."""
    audience = state.audience
    if any(isinstance(one, StreamClosed) for one in state.shown) and audience.answered:
        yield HELD  # STREAM-6 saw to it that its watcher was told
    if audience.came is not Arrival.WITH_DECISION or not audience.gone or not state.is_watched:
        return
    told = _told_the_end(state) is not None
    why = f"the segment that a request resumed ended, and {_who(audience.watcher)} was not told"
    yield held_or(told, why)


@check("STREAM-12", at=("Suspended",), rank=Rank.STREAM)
def a_suspension_is_told(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Watchers were told that the segment suspends before it is over."""
    closed = [one for one in state.shown if isinstance(one, StreamClosed)]
    told = [one for one in state.shown if isinstance(one, Published) and one.name in SEGMENT_END.values()]
    if state.is_watched or closed:
        yield held_or(told, "the segment suspends, and whoever watches was not told")


def _ends_told(state: ObservedState) -> Iterator[Published]:
    """The events that tell of this end: one stimulus can end several segments."""
    for seen in reversed(state.shown[:-1]):
        if isinstance(seen, SegmentEnded):
            return
        if isinstance(seen, Published) and seen.name == SEGMENT_END.get(seen.stream or "native"):
            yield seen


@check("STREAM-17", rank=Rank.STREAM, requires="a watcher")
def a_tool_at_work_is_heard(state: ObservedState) -> CheckResults:
    """Progress that a tool reports reaches the watcher while the tool is at work."""
    told = state.audience.activities
    if not told or not state.is_watched or not state.alone:
        return
    heard = [data.get("content") for data in _published(state)]
    for content in told:
        yield held_or(content in heard, f"a tool at work told {content!r}, and nobody was told of it")


def _published(state: ObservedState, name: str = "") -> list[dict[str, Any]]:
    events = (one.data for one in state.shown if isinstance(one, Published) and name in ("", one.name))
    return [data for data in events if isinstance(data, dict)]
