"""RUN: what a run may do, how it ends, and that its status, its events and its end agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from runlock.conformance.families.lifecycle.invariants.segment_queries import stops_short
from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    GateOpened,
    Reason,
    RunMoved,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.messages.stimuli import ABANDONED
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import (
    WORKING_GATES,
    ObservedCall,
    ObservedGate,
    Run,
)
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank


@check("RUN-19", rank=Rank.STATUS)
def a_run_moves_from_where_it_was(state: ObservedState, seen: RunMoved) -> CheckResults:
    """Each report of a run's status names the status that was reported before it."""
    run = state.runs.get(seen.run or "")
    if run is None or (run.disturbed_by(CRASH) and run.claimed is None) or seen.to == run.claimed:
        return
    right = seen.origin == run.claimed
    yield (
        HELD
        if right
        else (
            broken(
                f"the run was last reported {_or_nothing(run.claimed)}, yet it is said to move from "
                f"{_or_nothing(seen.origin)} to {seen.to}"
            )
        )
    )


@check("RUN-24", rank=Rank.STATUS)
def a_segment_ends_for_a_declared_reason(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A segment ends for one of the reasons that were declared."""
    declared = state.policy("reasons")
    if isinstance(declared, list):
        code = seen.reason.code
        right = code in declared
        yield held_or(right, f"the segment ended as {code}, which is not among the declared reasons")


@check("RUN-25", rank=Rank.STATUS)
def a_run_that_is_not_created_begins_as_Running(state: ObservedState, seen: RunMoved) -> CheckResults:
    """Where a run is not created first, Running is its first status."""
    run = state.runs.get(seen.run or "")
    if run is None or run.claims or run.disturbed_by(CRASH) or state.policy("run.created") != "no":
        return
    yield held_or(seen.to == "Running", f"the first status of the run is {seen.to}, not Running")


@check("RUN-26", at=("Running",), rank=Rank.STATUS)
def a_created_run_is_durable_before_it_runs(state: ObservedState, seen: RunMoved) -> CheckResults:
    """Where a run is created first, it is durable before it is Running."""
    run = state.runs.get(seen.run or "")
    created = state.policy("run.created") == "yes" and state.handshake.control.store != "none"
    if run is None or not created or run.disturbed_by(CRASH) or run.claimed != "Created":
        return
    if run.faulted == "store.put":
        return  # it is not to run at all: RUN-13 speaks of that
    kept = state.durable(run)
    yield held_or(kept is not None, "the run becomes Running, yet no checkpoint of it has been taken")


@check("RUN-20", at=("model", "permission", "tool"), rank=Rank.CONSENT)
def a_done_run_opens_no_gate(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run that is Done opens no model, permission or tool gate."""
    run = state.run_of(seen)
    if run is None or seen.on not in WORKING_GATES:
        return
    what = f"call {seen.call} opened a {seen.on} gate" if seen.call else f"a {seen.on} gate opened"
    yield held_or(not run.is_done, f"the run is Done, yet {what}")


@check("RUN-35", rank=Rank.STATUS, requires="calls")
def a_done_run_has_no_tool_at_work(state: ObservedState) -> CheckResults:
    """A run that is Done and quiescent has no tool gate open, whatever is declared about its cancel."""
    run = state.run
    if run is None or not run.is_done or not run.calls:
        return
    at_work = [gate.ref for gate in state.gates_of(run) if gate.on == "tool" and not gate.is_left]
    yield HELD if not at_work else broken(f"the run is Done, yet the gate {at_work[0]} is still open")


@check("RUN-21", rank=Rank.STATUS, is_deferred=True)
def a_segment_finishes_once(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Each segment of a run announces its end exactly once, and a run that is over announces nothing."""
    run = state.run_of(seen)
    if run is None:
        return
    if run.ended is not None:
        yield broken(f"the run had finished as {run.ended.code}, yet it finished again as {seen.reason.code}")
    elif len(run.finished) >= run.stirs or _rests(state, run, seen):
        yield broken("the segment had finished and nothing has begun another, yet it finished again")
    else:
        yield HELD


def _rests(state: ObservedState, run: Run, seen: SegmentEnded) -> bool:
    """Whether a run that waits has not been Running since, so that no segment of it can suspend."""
    told = bool(run.finished) and state.observes("run.status")
    moved = any(isinstance(one, CallMoved) and one.origin == "Suspended" for one in run.segment)
    return told and not (run.segment_open or moved) and seen.reason.code == "Suspended"


@check("RUN-22", rank=Rank.STATUS)
def the_end_and_the_status_agree(state: ObservedState) -> CheckResults:
    """The reason of a segment's end and the status of the run say the same."""
    run = state.run
    if run is None or not state.observes("run.status") or not state.observes("run.finished"):
        return
    if run.claimed == "Done" and run.ended is None:
        if run.disturbed_by(CRASH):  # its end was durable, and the announcement was lost with the life before
            return
        if state.is_committing(run):  # it is announced after its commit
            return
        yield broken("the run says that it is Done, yet its end was not announced by run.finished")
    elif run.finished and not run.segment_open and run.claimed is not None:
        why = _disagreement(run.finished[-1], run.claimed, run.volatile.claimed_reason)
        yield held_or(not why, why)
    elif run.claimed == "Waiting" and not run.finished and not run.disturbed_by(CRASH):
        yield broken("the run says that it waits, yet no run.finished with reason Suspended has told so")


def _disagreement(end: SegmentEnded, status: str, reason: Reason | None) -> str:
    """How the status of a run, and the reason that it came with, contradict the end of its segment."""
    code = end.reason.code
    if status != end.leaves:
        return f"the segment ended as {code}, which leaves the run {end.leaves}, yet its status is {status}"
    if reason is not None and reason.code != code:
        return f"the segment ended as {code}, yet the run is reported {status} as {reason.code}"
    told, right = reason.stop if reason is not None else None, end.reason.stop
    if told is not None and right is not None and told.code != right.code:
        return f"the segment was stopped by {right.code}, yet the run is reported stopped by {told.code}"
    return ""


@check("RUN-23", at=("Suspended",), rank=Rank.STATUS)
def pending_names_the_calls_that_wait(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A segment that ends as Suspended names each call that waits for a decision once, and no other."""
    run = state.run_of(seen)
    if run is None:
        return
    if not seen.pending:
        yield broken("the segment ended as Suspended, yet it names no call that waits")
        return
    for call_id, times in Counter(seen.pending).items():
        call = run.calls.get(call_id)
        if call is not None and not call.is_unclear:
            why = _why_not_waiting(call) or (f"it is named {times} times" if times > 1 else "")
            yield held_or(not why, f"call {call_id} is named as waiting, yet {why}")
    for call in run.calls.values():
        if call.claimed == "Suspended" and not call.is_unclear:
            listed = call.id in seen.pending
            yield held_or(listed, f"call {call.id} is Suspended, yet the end of the segment does not name it")


def _why_not_waiting(call: ObservedCall) -> str:
    if call.claimed is not None and call.claimed != "Suspended":
        return f"its status is {call.claimed}"
    if call.executing:
        return "its body is executing"
    if call.result is not None:
        return f"its tool has answered {call.result['kind']}"
    return ""


@check("RUN-3", rank=Rank.STATUS)
def a_turn_without_calls_ends_the_run_naturally(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """NaturalEnd is the end of a run whose model asked for no more calls, and of no other."""
    run = state.run_of(seen)
    if run is None or run.last_turn is None or run.last_turn["kind"] != "turn":
        return
    asked = run.last_turn.get("tool_calls", [])
    code = seen.reason.code
    if code == "NaturalEnd" and asked and not _was_given_up(run, asked):
        yield broken(f"the model's last turn asked for {len(asked)} calls, yet the run ended as NaturalEnd")
    elif not asked and _nothing_else_ends(state, run) and not stops_short(run.last_turn):
        heard_late = code == "Cancelled" and run.was_sent_cancel  # one that had lost its race
        right = heard_late or code in ("NaturalEnd", "Suspended")
        yield held_or(right, f"the model asked for nothing more, yet the run ended as {code}")


def _was_given_up(run: Run, asked: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the user gave a question about these calls up, which leaves the run nothing to go on for."""
    calls = [run.calls[one["id"]] for one in asked if one["id"] in run.calls]
    return any(one.payload == ABANDONED and not one.stale for call in calls for one in call.decisions)


@check("RUN-3", at=("NaturalEnd",), rank=Rank.STATUS, excuses=(CANCEL, CRASH, INPUT))
def a_call_that_waits_keeps_its_run(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run does not end naturally while a call waits that nothing has decided."""
    run = state.run_of(seen)
    if run is None:
        return
    before = [one for one in run.finished if one is not seen][-1:]
    left = {call for one in before if one.reason.code == "Suspended" for call in one.pending}
    for call in run.calls.values():
        was_left = call.id in left and _has_not_gone_on(call)
        waited = was_left or (state.policy("round.mixed") == "continue" and _has_waited(call))
        if waited and not (call.is_unclear or call.decisions):
            yield broken(f"call {call.id} waits for a decision, yet the run ended as NaturalEnd")


def _has_not_gone_on(call: ObservedCall) -> bool:
    """Whether neither its body has answered since, nor a gate that was asked again has let it go on."""
    answer = call.last_answer
    return answer["kind"] == "pending" if answer is not None else call.last_verdict in (None, "suspend")


def _has_waited(call: ObservedCall) -> bool:
    """Whether it is Suspended, or was until its run became Done."""
    return call.claimed == "Suspended" or (call.before_claim, call.claimed) == ("Suspended", "Cancelled")


def _nothing_else_ends(state: ObservedState, run: Run) -> bool:
    return run.turn_alone and not (run.disturbed_by(CANCEL, FAULT, CRASH, INPUT) or state.scenario.agent.stop)


@check("RUN-8", rank=Rank.STATUS, requires="a fault", excuses=(CANCEL,))
def a_broken_world_ends_the_run_in_error(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A fault of the model, the permission hook or the tool executor ends the run with reason Error."""
    run = state.run_of(seen)
    if run is None or run.faulted not in WORKING_GATES or not run.fault_alone:
        return
    before = [one for one in run.finished if one is not seen]
    if before and before[-1].reason.code == "Error":
        return  # the fault was told before, and the run goes on although it is over
    right = seen.reason.code == "Error"
    yield held_or(right, f"the {run.faulted} gate broke, yet the run ended as {seen.reason.code}")


@check("RUN-8", at=("model",), rank=Rank.STATUS, requires="a fault", excuses=(CANCEL,))
def a_broken_world_asks_no_more(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A fault of the permission hook or of the tool executor is no result that the model could be told."""
    run = state.run_of(seen)
    if run is None or run.faulted not in ("permission", "tool") or not run.fault_alone:
        return
    told = bool(run.finished) and run.finished[-1].reason.code == "Error"  # then the run is tried again
    if not (told or run.disturbed_by(CRASH)):
        yield broken(f"the {run.faulted} gate broke, yet the model is asked as if that were a result")


@check("RUN-27", rank=Rank.STATUS, requires="calls", excuses=(CRASH,))
def live_calls_are_treated_as_declared(state: ObservedState) -> CheckResults:
    """Calls that are live when their run is Done are closed, or left as they are, as end.live says."""
    run, policy = state.run, state.policy("end.live")
    if run is None or run.ended is None or state.gates_of(run):
        return
    if run.ended.code == "Cancelled":
        return  # CANCEL-8 speaks of what waits then, and CALL-6 of what executes
    for call in run.calls.values():
        if call.is_unclear or call.claimed is None:
            continue
        if policy == "closed":
            over = call.is_final
            yield held_or(over, f"live calls are closed at the end, yet call {call.id} is {call.claimed}")
        elif policy == "left" and _nobody_ended(run, call):
            left = call.claimed == "Suspended"
            yield held_or(left, f"live calls are left at the end, yet call {call.id} is {call.claimed}")


def _nobody_ended(run: Run, call: ObservedCall) -> bool:
    """Whether the call came to wait, and nothing but the end of the run can have moved it since."""
    waited = "Suspended" in call.claims[-2:]
    return waited and not (call.decisions or run.was_sent_cancel or run.disturbed_by(INPUT))


@check("RUN-30", rank=Rank.STATUS)
def a_run_at_work_is_Running(state: ObservedState) -> CheckResults:
    """While a segment is at work the run is Running, be it inference or tools."""
    run = state.run
    if run is None or (run.disturbed_by(CRASH) and run.claimed is None):
        return
    for gate in state.gates_of(run):
        if gate.on in ("model", "tool") and not gate.is_left:
            right = run.claimed == "Running"
            yield (
                HELD
                if right
                else broken(f"{_work(gate)}, yet the run is reported {_or_nothing(run.claimed)}")
            )


def _work(gate: ObservedGate) -> str:
    return "the model is asked" if gate.on == "model" else f"call {gate.opened.call} is executing"


def _or_nothing(status: str | None) -> str:
    return status if status is not None else "not at all"
