"""CALL: the statuses of calls that a runtime claims, against what was witnessed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from runlock.conformance.families.message_loop.invariants.cancelling import cancelled
from runlock.conformance.families.message_loop.invariants.results import HELD, CheckResults, broken, named
from runlock.conformance.families.message_loop.messages import CallMoved, GateOpened
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedCall
from runlock.conformance.family.invariant import check, held_or
from runlock.conformance.family.rank import Rank

FINAL: Final = frozenset({"Succeeded", "Failed", "Cancelled"})


def _moved(state: ObservedState, seen: CallMoved) -> ObservedCall | None:
    call = state.call_of(seen)
    return call if call is not None and not call.doubled else None


def _last(call: ObservedCall) -> str | None:
    return call.statuses[-1] if call.statuses else None


@check("CALL-17", rank=Rank.STATUS)
def a_call_that_is_over_stays_so(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that is over keeps its status, whatever arrives late."""
    call = _moved(state, seen)
    if call is not None:
        last = _last(call)
        yield held_or(last not in FINAL, f"{named(call)} was {last}, yet it moved to {seen.to}")


@check("CALL-1", at=("Running",), rank=Rank.STATUS)
def a_running_call_was_entered(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call moves from New to Running when its body is entered."""
    call = _moved(state, seen)
    if call is not None:
        last = _last(call)
        yield held_or(last in (None, "New"), f"{named(call)} moved from {last} to Running")


@check("CALL-4", "CALL-5", rank=Rank.STATUS)
def a_call_ends_as_its_tool_answered(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A running call whose tool answers moves to Succeeded, and to Failed where it answered otherwise."""
    call = _moved(state, seen)
    if call is None or not call.answered_with or state.may_be_lost(call.entries[-1]):
        return
    wanted = "Succeeded" if call.answered_with == "ok" else "Failed"
    if seen.to == "Cancelled" and state.raced(call.entries[-1]):
        return
    if seen.to in FINAL and not call.hook_gates("post"):
        yield held_or(
            seen.to == wanted, f"the tool of {named(call)} answered {call.answered_with}, yet it is {seen.to}"
        )


@check("CALL-4", at=("model",), rank=Rank.STATUS)
def a_call_that_answered_has_ended(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose tool answered was shown to end before the model is asked again."""
    for call in _calls_of_earlier_rounds(state, seen):
        if call.answered_with == "ok":
            yield held_or(
                _last(call) in FINAL, f"the tool of {named(call)} answered ok, yet it is {_last(call)}"
            )


@check("CALL-5", at=("model",), rank=Rank.STATUS)
def a_call_that_failed_has_ended(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose tool failed was shown to end before the model is asked again."""
    for call in _calls_of_earlier_rounds(state, seen):
        if call.answered_with not in ("", "ok"):
            yield held_or(_last(call) in FINAL, f"the tool of {named(call)} failed, yet it is {_last(call)}")


@check("CALL-15", at=("model",), rank=Rank.STATUS)
def a_call_that_did_not_run_has_ended(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that never ran was shown to end before the model is asked again."""
    for call in _calls_of_earlier_rounds(state, seen):
        if not call.entries:
            yield held_or(_last(call) in FINAL, f"{named(call)} was not executed, yet it is {_last(call)}")


def _calls_of_earlier_rounds(state: ObservedState, seen: GateOpened) -> Iterator[ObservedCall]:
    """The calls of the pass whose round is over, of which a status was shown."""
    path = state.path_of(seen)
    calls = path.calls_of_earlier_rounds() if path is not None else ()
    yield from (call for call in calls if call.statuses and not call.doubled)


@check("CALL-15", rank=Rank.STATUS)
def a_call_that_did_not_run_did_not_succeed(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that was denied, or that cannot run, moves from New to Failed."""
    call = _moved(state, seen)
    if call is None or call.entries or seen.to not in FINAL:
        return
    if seen.to == "Succeeded":
        yield broken(f"{named(call)} did not run, yet it is Succeeded")
    elif call.path.turn.kind == "group" and seen.to == "Cancelled":
        return  # what ended another stage execution may have reached it first
    elif not call.path.turn.cancelled_at and (not call.is_usable or call.guard_denial is not None):
        yield held_or(seen.to == "Failed", f"{named(call)} could not run, yet it is {seen.to}")


@check("CALL-6", rank=Rank.STATUS)
def an_aborted_call_is_cancelled(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A running call that is aborted moves to Cancelled."""
    call = _moved(state, seen)
    if call is not None and call.was_aborted and call.entries[-1].outcome is None and seen.to in FINAL:
        yield held_or(seen.to == "Cancelled", f"the tool of {named(call)} was given up, yet it is {seen.to}")


@check("CALL-16", rank=Rank.STATUS)
def a_waiting_call_is_cancelled(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that a cancel finds before it ran moves from New to Cancelled."""
    call = _moved(state, seen)
    if call is None or call.entries or not call.path.turn.cancelled_at:
        return
    if seen.to == "Cancelled":
        yield HELD
    elif seen.to in FINAL and _waited_at_the_cancel(state, call):
        yield broken(f"{named(call)} had not run when the cancel came, yet it is {seen.to}")


def _waited_at_the_cancel(state: ObservedState, call: ObservedCall) -> bool:
    """Whether a cancel certainly found the call at a prompt, or at a hook before its body."""
    turn = call.path.turn
    asked = [gate for prompt in call.prompts for gate in prompt.gates] + call.hook_gates("pre")
    return cancelled(state, turn) and any(gate.id in turn.cancel_met for gate in asked)
