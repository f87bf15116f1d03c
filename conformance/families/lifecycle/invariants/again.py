"""AGAIN: a thread goes on after any end of a run, and what the run did is part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from runlock.conformance.families.lifecycle.messages import GateOpened, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.text import cut

CUT: Final = 40


@check("AGAIN-1", rank=Rank.LOST)
def the_next_input_is_taken(state: ObservedState) -> CheckResults:
    """Once the last run of a thread is over, the next input is not turned down."""
    before = list(state.runs.values())[-2:-1]
    method, params = state.newest[0] if state.alone and state.newest else ("", {})
    if method != "run.start" or not before or state.run is None or params["run"] != state.run.id:
        return
    how = f"run {before[0].id} was over ({_end_of(before[0])})"
    refused = state.refused_whole and not state.run.steps
    yield held_or(not refused, f"{how}, yet the next input was turned down")


@check("AGAIN-1", rank=Rank.LOST, excuses=(CANCEL, FAULT, CRASH, INPUT))
def the_next_run_asks_the_model(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A later run of a thread does not fail before the model was asked."""
    run = state.run_of(seen)
    if run is None or run.steps or run.hooks or seen.reason.code != "Error" or len(state.runs) == 1:
        return
    former = next(one for one in reversed(state.runs.values()) if one is not run)
    if former.steps:  # else it has never worked
        how = f"the run before it was over ({_end_of(former)})"
        yield broken(f"{how}, yet run {run.id} ended as Error before the model was asked")


def _end_of(run: Run) -> str:
    return run.ended.code if run.ended is not None else "Done"


@check("AGAIN-2", at=("model",), rank=Rank.LOST)
def what_the_user_said_stays(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What the user said to begin a run is shown in the later runs of the thread too."""
    for run in _earlier(state, seen):
        said = run.said if run.steps else ""  # the model was shown it
        if said:
            shown = any(message.role == "user" and said in message.text for message in seen.messages or ())
            yield held_or(shown, f"the user began run {run.id} with {cut(said, CUT)!r}{_no_more(run)}")


@check("AGAIN-3", at=("model",), rank=Rank.LOST, requires="calls")
def whole_rounds_stay(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What the model was shown of a round, it is shown in the later runs of the thread too."""
    for run in _earlier(state, seen):
        for call in _calls_of(state, run):
            content = call.result.get("content") if call.result is not None else None
            if _answered_in(call) < run.steps and isinstance(content, str) and content:
                shown = any(content in message.text for message in seen.messages or ())
                told = f"the tool of call {call.id} answered {cut(content, CUT)!r} in run {run.id}"
                yield held_or(shown, f"{told}{_no_more(run)}")


def _answered_in(call: ObservedCall) -> int:
    """The step in which its tool was entered last, which may be long after it was asked for."""
    return max(call.step, *(gate.opened.step or 0 for gate in call.entries[-1:]), 0)


def _no_more(run: Run) -> str:
    return f", which ended as {_end_of(run)}, yet the model is not shown that any more"


@check("AGAIN-4", at=("model",), rank=Rank.LOST, requires="calls")
def what_did_not_finish_is_told(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that an ended run left without the answer of its tool stands in the history, with its result."""
    shown = {call.id for message in seen.messages or () for call in message.tool_calls}
    for run in _earlier(state, seen):
        for call in _calls_of(state, run):
            if call.result is None and run.turn_alone and call.input_at is None:
                told = f"run {run.id} ended as {_end_of(run)} before call {call.id} had an answer"
                yield held_or(call.id in shown, f"{told}, yet the model is shown nothing of the call")


def _earlier(state: ObservedState, seen: GateOpened) -> Iterator[Run]:
    """The runs that ended before the one that asks, unless a crash, a plugin or the store met them."""
    asking = state.run_of(seen)
    if seen.messages is None or asking is None or asking.hooks:
        return
    for run in state.runs.values():
        is_whole = not (run.crashes or run.hooks or run.faulted == "store.put")
        if run is not asking and run.is_done and is_whole and state.life == 1:
            yield run


def _calls_of(state: ObservedState, run: Run) -> Iterator[ObservedCall]:
    """The calls of a run whose ids leave no doubt which calls they are."""
    ids = Counter(call.id for one in state.runs.values() for call in one.every_call)
    return (call for call in run.every_call if ids[call.id] == 1 and not call.is_unclear)
