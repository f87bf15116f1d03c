"""STORE: what a checkpoint says of a call is what the call is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.invariants.checkpoint_content import (
    TakenDown,
    on_storing,
    part_of,
)
from runlock.conformance.families.lifecycle.messages import FINAL_CALL_STATUSES
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run, numbers_suspensions
from runlock.conformance.family.invariant import HELD, CheckResults, broken, held_or

AT_WORK: Final = ("New", "Running", "Resuming")
"""What a call is between its waits and before its end."""


@on_storing("STORE-9", requires="calls")
def a_checkpoint_holds_every_live_call(state: ObservedState, seen: TakenDown) -> CheckResults:
    """A checkpoint holds every call of the run that is not over."""
    run, calls = state.run_of(seen), part_of(state, seen, "calls")
    if run is None or calls is None:
        return
    for call in run.calls.values():
        known_live = call.claimed is not None and call.claimed not in FINAL_CALL_STATUSES
        # at the end of a step, sources ask for the calls that wait and leave open what was held back
        unnamed = call.claimed == "New" and _may_be_left_out(state, seen)
        if known_live and not (call.is_unclear or unnamed):
            stored = call.id in calls
            yield held_or(stored, f"call {call.id} is {call.claimed}, yet the checkpoint does not hold it")


def _may_be_left_out(state: ObservedState, seen: TakenDown) -> bool:
    """Whether a checkpoint may leave out calls that are New: that of a turn has them in the message."""
    return state.policy("checkpoint.at") != "triggers" or seen.trigger == "AssistantTurnCommitted"


@on_storing("STORE-8", requires="calls")
def a_checkpoint_says_what_happened(state: ObservedState, seen: TakenDown) -> CheckResults:
    """The status that a checkpoint gives a call follows from what was seen of that call."""
    run, calls = state.run_of(seen), part_of(state, seen, "calls")
    if run is None or calls is None or run.disturbed_by(CANCEL, CRASH):
        return
    for call_id, stored in calls.items():
        call = run.calls.get(call_id)
        if call is None or call.is_unclear or not isinstance(stored, dict):
            continue
        status = str(stored.get("status"))
        why = _contradiction(call, status)
        yield HELD if not why else broken(f"the checkpoint says that call {call_id} {_is(status)}, yet {why}")


def _is(status: str) -> str:
    return status if status in ("Succeeded", "Failed") else f"is {status}"


def _contradiction(call: ObservedCall, status: str) -> str:
    answer = call.last_answer
    aborted = status == "Cancelled" and all(gate.ignores_aborts for gate in call.executing)
    if status in FINAL_CALL_STATUSES and call.executing and not aborted:
        return "its body is executing"
    if status == "Succeeded" and answer is not None and answer["kind"] == "error":
        return "its tool answered with an error"
    if status == "Failed" and answer is not None and answer["kind"] in ("ok", "warning"):
        return f"its tool answered {answer['kind']}"
    if status == "Suspended" and call.result is not None:
        return f"its tool answered {call.result['kind']}"
    return ""


@on_storing("STORE-8", requires="calls")
def a_checkpoint_is_up_to_date(state: ObservedState, seen: TakenDown) -> CheckResults:
    """The status that a checkpoint gives a call is its status, or one passed since the checkpoint before."""
    run, calls = state.run_of(seen), part_of(state, seen, "calls")
    if run is None or calls is None:
        return
    is_exact = _nothing_moves(state, run)
    for call_id, stored in calls.items():
        call = run.calls.get(call_id)
        if call is None or call.is_unclear or not isinstance(stored, dict) or call.claimed is None:
            continue
        status = str(stored.get("status"))
        right = status in _statuses(run, call, is_exact=is_exact)
        why = f"call {call_id} is {call.claimed}, yet the checkpoint says that it {_is(status)}"
        yield held_or(right, why)


def _nothing_moves(state: ObservedState, run: Run) -> bool:
    """Whether nothing of the run is under way, so that no status can have changed since it was written."""
    return state.alone and not any(gate.on in ("permission", "tool") for gate in state.gates_of(run))


def _statuses(run: Run, call: ObservedCall, *, is_exact: bool) -> set[str]:
    """The statuses that a checkpoint may give a call now."""
    now = call.claimed or ""
    passed = set() if is_exact else set(call.claims[max(0, call.claims_stored - 1) :])
    if now in FINAL_CALL_STATUSES:
        return {now, *passed}
    if now == "Suspended" and not _may_have_left_its_wait(run, call):
        return {now, *passed}
    return {now, "Suspended", *AT_WORK, *FINAL_CALL_STATUSES} - _ruled_out(call)


def _ruled_out(call: ObservedCall) -> set[str]:
    """What a call that is at work cannot have come to: a wait or a success that nothing has led to."""
    is_entered = bool(call.executing) and not call.decisions
    waits = {"Suspended"} if is_entered else set()
    answers = {gate.outcome["kind"] for gate in (*call.entries, *call.judged) if gate.outcome is not None}
    given = call.decisions or answers & {"ok", "warning", "set_result"}
    return waits if given else {*waits, "Succeeded"}


def _may_have_left_its_wait(run: Run, call: ObservedCall) -> bool:
    """Whether a decision, a cancel, a crash or new input may have ended the wait, and that is shown later."""
    if run.disturbed_by(CANCEL, CRASH, INPUT) or run.is_done:
        return True
    newest = call.suspensions - 1
    return any(one.in_suspension >= newest and not one.turned_down for one in call.decisions)


@on_storing("STORE-12", requires="calls")
def a_checkpoint_holds_what_a_suspended_call_is(state: ObservedState, seen: TakenDown) -> CheckResults:
    """A checkpoint holds for each suspended call its tool, its arguments and what a decision will mean."""
    run, calls = state.run_of(seen), part_of(state, seen, "calls")
    numbered = state.stores_numbers or numbers_suspensions(calls)
    for call_id, stored in (calls or {}).items():
        call = run.calls.get(call_id) if run is not None else None
        if call is None or call.is_unclear or not isinstance(stored, dict) or call.tool is None:
            continue
        if stored.get("status") == "Suspended":
            wrong = _what_differs(state, run, call, stored, numbered=numbered)
            yield held_or(not wrong, f"call {call.id} is Suspended, yet the checkpoint {wrong}")


def _what_differs(
    state: ObservedState, run: Run | None, call: ObservedCall, stored: Mapping[str, Any], *, numbered: bool
) -> str:
    """What the checkpoint leaves out of a suspended call, or says otherwise."""
    missing = next((key for key in ("name", "args", "resume_mode") if key not in stored), "")
    if missing or (wrong := _otherwise(call, stored)):
        return f"does not hold its {missing}" if missing else wrong
    counted = stored.get("suspension")
    if counted is None and numbered:
        return "does not say which of its suspensions this is, as for others"
    known = run is not None and (not run.crashes or _is_numbered(state, call))
    if known and counted is not None and call.claimed == "Suspended" and counted != call.suspensions:
        return f"says that this is its suspension {counted}, not {call.suspensions}"
    return ""


def _is_numbered(state: ObservedState, call: ObservedCall) -> bool:
    """Whether the suspensions of the call are counted on from the number in the checkpoint recovered from."""
    calls = state.recovered_from.get("calls") if isinstance(state.recovered_from, dict) else None
    kept = calls.get(call.id) if isinstance(calls, dict) else None
    return state.handshake.control.store == "kit" and isinstance(kept, dict) and bool(kept.get("suspension"))


def _otherwise(call: ObservedCall, stored: Mapping[str, Any]) -> str:
    """In what the checkpoint differs from what was asked for: its tool, its arguments, its resume mode."""
    mode = call.tool.resume_mode if call.tool is not None else None
    for key, right in (("name", call.name), ("args", dict(call.args)), ("resume_mode", mode)):
        given = [decided.payload for decided in call.approvals] if mode == "pass_to_tool" else []
        if key == "args" and stored.get(key) in [*given, *(form.args for form in call.forms)]:
            continue  # what was decided in an earlier wait has taken their place
        if key in stored and json.dumps(stored[key], sort_keys=True) != json.dumps(right, sort_keys=True):
            return f"says {key} {json.dumps(stored[key])}, not {json.dumps(right)}"
    return ""


@on_storing("STORE-20", requires="calls")
def a_checkpoint_keeps_what_was_asked_for(state: ObservedState, seen: TakenDown) -> CheckResults:
    """What a checkpoint says of a call that does not wait is what the model asked for."""
    run, calls = state.run_of(seen), part_of(state, seen, "calls")
    for call_id, stored in (calls or {}).items():
        call = run.calls.get(call_id) if run is not None else None
        if call is None or call.is_unclear or not isinstance(stored, dict) or call.tool is None:
            continue
        former = {one.id for one in run.former_calls} if run is not None else set()
        if call.raced or (call_id in former and not call.entries):
            continue  # its turn may not have been taken, and another call may have had its id
        if stored.get("status") != "Suspended" and ("name" in stored or "args" in stored):
            wrong = _otherwise(call, {key: one for key, one in stored.items() if one is not None})
            yield held_or(not wrong, f"call {call.id} was asked for, yet the checkpoint {wrong}")
