"""WIRE: a stream opens, ends and answers each call once, in order, over the segments of its run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from runlock.conformance.families.lifecycle.invariants.stream import SEGMENT_END
from runlock.conformance.families.lifecycle.messages import Published, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.nesting import is_within
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.families.lifecycle.state.wires import (
    WIRES,
    EventPart,
    Told,
    parts_of,
)
from runlock.conformance.family.invariant import HELD, CheckResult, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank

STARTS: Final = ("TOOL_CALL_START", "tool-input-start")
PIECES: Final = ("TOOL_CALL_ARGS", "tool-input-delta")
ENDS: Final = ("TOOL_CALL_END", "tool-input-available", "tool-input-error")
REQUESTS: Final = ("RUN_FINISHED", "renderAndWaitForResponse", "tool-approval-request")
RESULTS: Final = ("TOOL_CALL_RESULT", "tool-output-available", "tool-output-error", "tool-output-denied")
AFTER_THE_START: Final = (*PIECES, "TOOL_CALL_END", *REQUESTS, *RESULTS)
OF_AG_UI: Final = "ag-ui-"
"""How the profiles are called whose protocol lets a call go on that was ended."""

OVER: Final = ("NaturalEnd", "BehaviorRequested", "Stopped")
"""Ends before which nothing broke and nothing was cut short."""


def _told(state: ObservedState, seen: Published) -> Iterator[tuple[EventPart, ObservedCall, Told | None]]:
    """What an event tells of calls, with what its stream has told of them before."""
    run = state.run_of(seen)
    calls = run.calls if run is not None else {}
    for part in parts_of(seen):
        call = calls.get(part.call)
        if call is not None and not call.is_unclear:
            yield part, call, call.wires.get(seen.stream or "")


def _may_open_again(state: ObservedState) -> bool:
    """Whether a call that was ended may be opened again and go on, as the protocol of AG-UI has it."""
    return state.handshake.profile.startswith(OF_AG_UI)


@check("WIRE-60", at=(*STARTS, *ENDS), rank=Rank.STREAM, requires="a watcher", is_deferred=True)
def a_call_is_opened_once(state: ObservedState, seen: Published) -> CheckResults:
    """A call that a stream has opened or ended is neither opened nor ended there again."""
    for part, call, told in _told(state, seen):
        if part.what == "open":
            again = told is not None and told.life == state.life
            again = again and not (told is not None and told.is_ended and _may_open_again(state))
            yield held_or(not again, f"{seen.name} opens call {call.id}, which this stream has opened before")
        elif part.what in ("end", "whole"):
            again = told is not None and told.is_ended and told.life == state.life
            yield held_or(not again, f"{seen.name} ends call {call.id}, which this stream has ended before")


@check("WIRE-61", at=AFTER_THE_START, rank=Rank.STREAM, requires="a watcher", is_deferred=True)
def only_an_opened_call_is_told_of(state: ObservedState, seen: Published) -> CheckResults:
    """What a stream tells of a call comes after its opening there, in this segment or an earlier one."""
    run = state.run_of(seen)
    if run is None or seen.name not in AFTER_THE_START:
        return
    for _, call, told in _told(state, seen):
        if told is not None:
            yield HELD
        elif call.due_on == seen.stream:
            yield broken(f"{seen.name} tells of call {call.id}, which this stream has not opened")
    for part in parts_of(seen) if not run.hooks else ():
        if part.call not in run.calls and not _is_known(state, part.call):
            yield broken(f"{seen.name} tells of call {part.call}, of which nothing is known")


def _is_known(state: ObservedState, call: str) -> bool:
    runs = state.runs.values()
    own = [one for run in runs for one in run.every_call]
    is_own = any(one.id == call for one in own) or any(call in run.of_its_stream for run in runs)
    may_be_within = any(one.duplicate_id and one.tool is not None and one.tool.agent for one in own)
    return is_own or may_be_within or any(is_within(state, run, call) for run in runs)


@check("WIRE-62", at=(*PIECES, *ENDS), rank=Rank.STREAM, requires="a watcher", is_deferred=True)
def arguments_come_between(state: ObservedState, seen: Published) -> CheckResults:
    """The arguments of a call come before its end, and are those that the model gave."""
    run = state.run_of(seen)
    for part, call, told in _told(state, seen):
        if part.what == "args" and told is not None:
            yield held_or(not told.is_ended, f"{seen.name} goes on with call {call.id}, which was ended")
        elif run is None or run.hooks or call.raced or part.what not in ("end", "whole"):
            continue
        elif part.what == "end" and _may_open_again(state):
            continue  # it may go on: its run's end says that it is whole
        elif part.what == "end" and seen.name == "TOOL_CALL_END" and told is not None:
            yield _are_given(call, _object("".join(told.pieces)))
        elif seen.name == "tool-input-available":
            yield _are_given(call, _object(part.value))


@check("WIRE-62", at=("RUN_FINISHED",), rank=Rank.STREAM, requires="a watcher", is_deferred=True)
def arguments_are_whole_at_the_end(state: ObservedState, seen: Published) -> CheckResults:
    """Where a call may be opened again, its arguments are those that the model gave when its run ends."""
    run = state.run_of(seen)
    if run is None or run.hooks or not _may_open_again(state):
        return
    for call, told in _opened(run, seen.stream or ""):
        if told.is_ended and told.at >= state.audience.at and not call.raced:
            yield _are_given(call, _object("".join(told.pieces)))


def _are_given(call: ObservedCall, args: Any) -> CheckResult:
    why = f"call {call.id} was told with the arguments {args}, and the model gave {dict(call.args)}"
    return held_or(args == call.args, why)


def _object(value: Any) -> dict[str, Any]:
    """Arguments, as an object or as its text; what is no object stands for none."""
    try:
        value = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@check("WIRE-63", at=("RUN_FINISHED", "finish"), rank=Rank.STREAM, requires="a watcher", is_deferred=True)
def a_segment_leaves_no_call_open(state: ObservedState, seen: Published) -> CheckResults:
    """A stream that tells the end of a segment has ended each call that it opened."""
    run = state.run_of(seen)
    if run is None or seen.name != SEGMENT_END.get(seen.stream or ""):
        return
    for call, told in _opened(run, seen.stream or ""):
        if told.life == state.life:
            yield held_or(told.is_ended, f"{seen.name} came while call {call.id} was opened and not ended")


def _opened(run: Run, stream: str) -> Iterator[tuple[ObservedCall, Told]]:
    for call in run.calls.values():
        told = call.wires.get(stream)
        if told is not None and not call.is_unclear:
            yield call, told


@check("WIRE-64", at=REQUESTS, rank=Rank.STREAM, requires="a watcher", is_deferred=True)
def a_request_names_a_whole_call(state: ObservedState, seen: Published) -> CheckResults:
    """A call for which a decision is asked has been ended: the approver sees all its arguments."""
    for part, call, told in _told(state, seen):
        if part.what == "request" and told is not None:
            yield held_or(told.is_ended, f"{seen.name} asks about call {call.id}, which was not ended")


@check("WIRE-64", at=("Suspended",), rank=Rank.STREAM, requires="a watcher", is_deferred=True)
def a_wait_is_requested(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A segment that suspends has asked its watcher for the decision of each call that came to wait."""
    for call, told in _met_here(state, seen):
        if call.id in seen.pending and _needs_a_decision(call):
            why = f"the segment suspends, and its stream does not ask for a decision on call {call.id}"
            yield held_or(told.is_requested, why)


def _needs_a_decision(call: ObservedCall) -> bool:
    """Whether a call that is pending waits for a decision, and not for a client that executes it."""
    asks = call.tool is not None and call.tool.permission == "ask"
    answer = call.last_answer
    return asks or call.last_verdict == "suspend" or (answer is not None and answer["kind"] == "pending")


@check("WIRE-65", at=RESULTS, rank=Rank.STREAM, requires="a watcher", is_deferred=True)
def one_result(state: ObservedState, seen: Published) -> CheckResults:
    """A call has at most one result on a stream."""
    for part, call, told in _told(state, seen):
        if part.what == "result" and told is not None:
            again = told.results and told.life == state.life
            yield held_or(not again, f"{seen.name} is a second result of call {call.id}")


@check("WIRE-65", at=OVER, rank=Rank.STREAM, requires="a watcher", is_deferred=True)
def an_executed_call_is_answered(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run that is over by itself has told the result of each call that its tool has answered."""
    for call, told in _met_here(state, seen):
        if seen.reason.code in OVER and call.result is not None and call.entries[-1].alone:
            why = f"the run is over, and its stream has no result of call {call.id}, which its tool answered"
            yield held_or(told.results, why)


def _met_here(state: ObservedState, seen: SegmentEnded) -> Iterator[tuple[ObservedCall, Told]]:
    """The calls that were opened or entered since the present watcher came, on its stream."""
    run, stream = state.run_of(seen), _ended_on(state)
    if run is None or stream not in WIRES or not state.audience.is_sure:
        return
    for call, told in _opened(run, stream):
        if max(told.at, call.met_at) >= state.audience.at and told.life == state.life:
            yield call, told


def _ended_on(state: ObservedState) -> str:
    """The stream that told a watcher of the end which is reported now."""
    for seen in reversed(state.shown):
        if isinstance(seen, SegmentEnded):
            break
        if isinstance(seen, Published) and seen.watcher and seen.name == SEGMENT_END.get(seen.stream or ""):
            return seen.stream or ""
    return ""
