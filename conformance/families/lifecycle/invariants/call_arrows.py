"""CALL, arrow by arrow: where a call goes when what an arrow names was witnessed."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import CallMoved
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, ObservedGate
from runlock.conformance.family.invariant import (
    HELD,
    CheckResults,
    Invariant,
    broken,
    check,
    counts,
    held_or,
    ranked,
)
from runlock.conformance.family.rank import Rank


@check("CALL-1", rank=Rank.STATUS, requires="calls", excuses=(CANCEL, CRASH))
def an_entered_call_goes_from_New_to_Running(state: ObservedState) -> CheckResults:
    """A call that nothing holds back goes from New to Running when its tool is entered."""
    run = state.run
    if run is None or not state.observes("call.status"):
        return
    for call in run.calls.values():
        if call.is_unclear or call.claimed is None or len(call.entries) != 1 or not call.executing:
            continue
        if call.claimed == "New":
            yield broken(f"the body of call {call.id} is executing, yet its status is New")
        elif call.claims == ["New", "Running"]:
            yield HELD


@check("CALL-9", rank=Rank.STATUS, requires="a decision", excuses=(CANCEL, FAULT, CRASH))
def a_replay_is_Running_only_in_its_tool(state: ObservedState) -> CheckResults:
    """A call in its replay goes to Running only as its tool is entered."""
    run = state.run
    if run is None:
        return
    for call in run.calls.values():
        if call.claimed == "Running" and call.before_claim == "Resuming" and not call.is_unclear:
            entered = len(call.entries) > call.entries_when_suspended
            yield held_or(entered, f"call {call.id} is Running in its replay, yet its tool was not entered")


def _replay_verdict(call: ObservedCall) -> ObservedGate | None:
    """The gate at which the permission hook spoke last, if it did so in a replay."""
    newest = call.judged[call.lost_verdicts :][-1:]
    spoke = [gate for gate in newest if gate.outcome is not None and gate.opened.resume is not None]
    return spoke[0] if spoke else None


def replay_verdict(clause: str, verdict: str, right: str, said: str) -> Invariant:
    """The check of one arrow out of Resuming: where a verdict in the replay takes the call."""

    def leads(state: ObservedState, seen: CallMoved) -> CheckResults:
        run, call = state.run_of(seen), state.call_of(seen)
        if run is None or call is None or call.is_unclear or run.disturbed_by(CANCEL, FAULT, CRASH):
            return
        gate = _replay_verdict(call)
        if seen.to in (call.claimed, "Cancelled", "Running") or call.claimed != "Resuming" or gate is None:
            return
        if gate.outcome is not None and gate.outcome["kind"] == verdict:
            why = f"the permission gate {said} call {call.id} in its replay, yet it became {seen.to}"
            yield held_or(seen.to == right, why)

    leads.__name__ = f"a_replay_that_the_gate_{said}_is_{right}".replace(" ", "_")
    leads.__doc__ = f"A replay that the permission gate {said} leaves its call {right}."
    return Invariant(clause, leads, CallMoved)


@check("CALL-11", rank=Rank.STATUS, requires="a decision", excuses=(CANCEL, FAULT, CRASH))
def a_replay_whose_result_was_decided_succeeds(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A replay whose decision is the result leaves its call Succeeded."""
    run, call = state.run_of(seen), state.call_of(seen)
    if run is None or call is None or call.is_unclear:
        return
    decided = call.tool is not None and call.tool.resume_mode == "use_as_result" and bool(call.approvals)
    if decided and call.claimed == "Resuming" and seen.to not in ("Resuming", "Running", "Cancelled"):
        right = seen.to == "Succeeded"
        yield held_or(right, f"the result of call {call.id} was decided, yet it became {seen.to}")


CANCELLED_FROM = {"New": "CALL-16", "Running": "CALL-6", "Suspended": "CALL-8", "Resuming": "CALL-13"}


def only_a_cancel_cancels(origin: str) -> Invariant:
    """The check of one arrow to Cancelled: what has to be after it."""

    def cancels(state: ObservedState) -> CheckResults:
        run = state.run
        if run is None or run.is_done or run.disturbed_by(CANCEL, FAULT, CRASH, INPUT):
            return
        if state.is_committing(run) or not state.tells_ends:  # it may be about to end, or over
            return
        for call in run.calls.values():
            if call.claimed == "Cancelled" and call.before_claim == origin and not call.is_unclear:
                rejected = any(d.action == "cancel" and not d.turned_down for d in call.decisions)
                why = f"nobody cancelled call {call.id} or the run, yet it went from {origin} to Cancelled"
                yield held_or(rejected, why)

    cancels.__name__ = f"only_a_cancel_takes_a_call_from_{origin}_to_Cancelled"
    cancels.__doc__ = f"A call goes from {origin} to Cancelled by a cancel, or by the end of the run."
    return Invariant(CANCELLED_FROM[origin], cancels, requires="calls")


@counts("CALL-8", requires="a decision")
def a_rejected_call_is_Cancelled_in_the_end(state: ObservedState) -> CheckResults:
    """Counts the calls that a cancel decision took to Cancelled by way of Resuming, where that is the way."""
    run = state.run
    if run is None or state.policy("decision.cancel_path") != "via_resuming":
        return
    for call in run.calls.values():
        if call.rejection is not None and (call.before_claim, call.claimed) == ("Resuming", "Cancelled"):
            yield HELD


INVARIANTS = ranked(
    Rank.STATUS,
    replay_verdict("CALL-10", "suspend", "Suspended", "held"),
    replay_verdict("CALL-11", "set_result", "Succeeded", "set the result of"),
    replay_verdict("CALL-12", "block", "Failed", "blocked"),
    *(only_a_cancel_cancels(origin) for origin in CANCELLED_FROM),
)
