"""THREAD: what an edit of the thread may cut, and what it may put there instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runlock.conformance.families.lifecycle.messages import GateOpened, ThreadEdited
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.edits import stands_in
from runlock.conformance.families.lifecycle.state.records import ObservedCall
from runlock.conformance.families.lifecycle.state.thread import brief
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message


@check("THREAD-1", at=("model",), rank=Rank.SHOWN)
def a_declared_edit_is_shown(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The first inference after a declared edit shows what the edit has left."""
    edit = state.edits[-1] if state.edits else None
    if edit is None or not edit.is_declared or edit.is_seen or seen.messages is None:
        return
    there = state.as_shown[edit.at : edit.at + len(edit.instead)]
    why = (
        f"an edit put {_briefly(edit.instead)} at message {edit.at}, yet the model is shown {_briefly(there)}"
    )
    yield held_or(stands_in(edit, state.as_shown), why)


def _briefly(messages: Sequence[Message]) -> str:
    return ", ".join(map(brief, messages)) or "nothing"


@check("THREAD-2", rank=Rank.LOST)
def an_edit_leaves_pairs_whole(state: ObservedState, seen: ThreadEdited) -> CheckResults:
    """The calls whose turns an edit cuts are those whose results it cuts."""
    asked = _asked(seen.cut) - _asked(seen.instead)
    answered = _answered(seen.cut) - _answered(seen.instead)
    apart = sorted((asked ^ answered) - _without_a_result(state) - _shown_without_a_result(state))
    if apart:
        what, left = ("turn", "result") if apart[0] in asked else ("result", "turn")
        yield broken(f"an edit cuts the {what} of call {apart[0]}, and leaves its {left}")
    elif asked:
        yield HELD


def _asked(messages: Sequence[Message]) -> set[str]:
    return {call.id for message in messages for call in message.tool_calls}


def _answered(messages: Sequence[Message]) -> set[str]:
    return {message.call for message in messages if message.role == "tool" and message.call is not None}


def _without_a_result(state: ObservedState) -> set[str]:
    """The calls that are not over, or whose result may not be written yet."""
    every = (call for run in state.runs.values() for call in run.every_call)
    return {call.id for call in every if not call.is_final}


def _shown_without_a_result(state: ObservedState) -> set[str]:
    """The calls whose result was missing before the edit, which is the fault of something else."""
    return _asked(state.as_shown) - _answered(state.as_shown)


def _calls(state: ObservedState) -> Iterator[ObservedCall]:
    return (call for run in state.runs.values() if not run.is_done for call in run.every_call)


def _is_live(state: ObservedState, call: ObservedCall) -> bool:
    """Whether it runs, or certainly waits: where no statuses are shown, input may have ended its wait."""
    waits = state.observes("call.status") and call.waits and not (call.decisions or call.is_unclear)
    return waits or bool(call.executing)


def _newest_input(state: ObservedState, seen: ThreadEdited) -> str:
    """The newest input, unless an edit cuts another one that stood behind it."""
    newest = state.inputs[-1] if state.inputs else ""
    said = [m.text for m in seen.cut if m.role == "user"]
    return newest if not said or any(newest in text for text in said[-1:]) else ""


@check("THREAD-3", rank=Rank.LOST)
def an_edit_leaves_what_is_to_be_done(state: ObservedState, seen: ThreadEdited) -> CheckResults:
    """An edit cuts neither the newest input nor the turn of a call that waits or runs."""
    newest = _newest_input(state, seen)
    cut = any(newest and newest in m.text for m in seen.cut if m.role == "user")
    kept = any(newest in m.text for m in seen.instead)
    gone = _asked(seen.cut) - _asked(seen.instead)
    live = next((c.id for c in _calls(state) if c.id in gone and _is_live(state, c)), None)
    if cut and not kept:
        yield broken(f"an edit cuts {newest!r}, which is the newest input")
    elif live is not None:
        yield broken(f"an edit cuts call {live}, which is not over")
    else:
        yield HELD


@check("THREAD-4", rank=Rank.SHOWN)
def what_stands_for_a_result_says_the_truth(state: ObservedState, seen: ThreadEdited) -> CheckResults:
    """A result that an edit puts in the place of another has the same status."""
    was = {message.call: message.status for message in seen.cut if message.role == "tool"}
    for message in seen.instead:
        before = was.get(message.call)
        if message.role == "tool" and before is not None and message.status is not None:
            why = f"the result of call {message.call} was {before}, and the edit makes it {message.status}"
            yield held_or(message.status == before, why)


@counts("THREAD-4")
def nothing_stands_for_a_result(state: ObservedState, seen: ThreadEdited) -> CheckResults:
    """Counts the edits that put no result in the place of another."""
    if not _answered(seen.instead):
        yield HELD


@check("THREAD-5", at=("model",), rank=Rank.LOST)
def an_undeclared_edit_leaves_what_is_live(state: ObservedState, seen: GateOpened) -> CheckResults:
    """One message takes the place of no call that waits or runs."""
    edit = state.last_edit
    if edit is not None and state.shown_at == seen.gate:
        gone = _asked(edit.cut)
        live = next((call.id for call in _calls(state) if call.id in gone and _is_live(state, call)), None)
        yield held_or(live is None, f"one message took the place of call {live}, which is not over")
