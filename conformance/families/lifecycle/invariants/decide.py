"""DECIDE: a decision reaches the call it names, once, and none is lost."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    DecisionTaken,
    GateOpened,
    MessageAppended,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation


@check("DECIDE-5", at=("tool",), rank=Rank.CONSENT)
def a_decision_reaches_the_call_it_names(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A decision moves the call that it names and no other."""
    call = state.entering(seen)
    if call is None or call.life != state.life:
        return
    if seen.resume is not None and seen.resume.decision is not None:
        sent = state.decision_ids.get(seen.resume.decision)
        if sent is not None:
            right = sent.call == call.id
            yield held_or(right, f"decision {sent.id} names call {sent.call}, yet call {call.id} ran on it")
    if call.entries and _unapproved(call):
        other = _unused_approval(state, call)
        if other is not None:
            yield broken(f"decision {other.id} names call {other.call}, yet call {call.id} ran")


def _unapproved(call: ObservedCall) -> bool:
    """Whether entering it once more has no decision of its own."""
    asks = call.tool is not None and call.tool.permission == "ask"
    allowed = len(call.approvals) + (0 if asks else 1)
    return len(call.executions) >= allowed and call.result is None


def _unused_approval(state: ObservedState, call: ObservedCall) -> Decided | None:
    run = state.runs[call.run]
    for other in run.calls.values():
        if other is not call:
            for decided in other.approvals:
                if decided.at == state.stimuli and len(other.entries) == decided.entries_before:
                    return decided
    return None


@check("DECIDE-5", at=("tool",), rank=Rank.CONSENT)
def a_suspended_call_is_not_taken_for_another(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that asks and was not decided does not run on the decision for its sibling."""
    call = state.entering(seen)
    if call is None or call.entries or call.tool is None or call.tool.permission != "ask" or call.approvals:
        return
    other = _unused_approval(state, call)
    if other is not None:
        yield broken(f"decision {other.id} names call {other.call}, yet call {call.id} ran")


@check("DECIDE-5", rank=Rank.CONSENT, requires="a decision")
def a_move_follows_the_decision_for_it(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A suspended call does not move on the decision for its sibling, which is left waiting."""
    call = state.call_of(seen)
    if call is None or seen.to == call.claimed or call.claimed != "Suspended" or call.is_unclear:
        return
    run = state.runs[call.run]
    own = any(not (d.turned_down or d.stale) for d in call.decisions)
    closed = seen.to == "Cancelled" and bool(state.scenario.agent.stop)  # perhaps by a run that stops
    if own or closed or run.disturbed_by(CANCEL, FAULT, CRASH, INPUT):
        return
    for other in run.calls.values():
        for decided in other.decisions:
            left_waiting = decided.answers is other and other.claimed == "Suspended"
            if left_waiting and decided.at == state.stimuli and not decided.turned_down:
                yield broken(
                    f"decision {decided.id} names call {other.id}, yet call {call.id} became {seen.to}"
                )
                return


@check("DECIDE-1", at=("tool",), rank=Rank.TWICE)
def a_decision_executes_once(state: ObservedState, seen: GateOpened) -> CheckResults:
    """An accepted decision leads to at most one execution, and its id, sent twice, is one decision."""
    call = state.entering(seen)
    if call is None or call.life != state.life or not call.decisions:
        return
    entries = [gate for gate in call.executions if gate.life == state.life]
    asks = call.tool is not None and call.tool.permission == "ask"
    allowed = len([d for d in call.approvals if not d.stale]) + (0 if asks else 1)
    if call.result is not None or call.executing or not allowed:
        return
    repeated = next((d for d in call.decisions if d.repeats), None)
    if len(entries) < allowed or repeated is not None:
        yield HELD
    else:
        executed = _times(len(entries) + 1)
        yield broken(f"call {call.id} may be executed {_times(allowed)}, yet it was executed {executed}")


@check("DECIDE-2", at=("tool",), rank=Rank.TWICE)
def a_repeated_decision_executes_nothing(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A decision that is sent twice under one id gives no second leave to execute."""
    call = state.entering(seen)
    if call is None or call.life != state.life:
        return
    repeated = next((d for d in call.decisions if d.repeats), None)
    asks = call.tool is not None and call.tool.permission == "ask"
    allowed = len([d for d in call.approvals if not d.stale]) + (0 if asks else 1)
    if repeated is not None and allowed and len(call.executions) >= allowed and call.result is None:
        yield broken(
            f"decision {repeated.id} had been taken before, yet call {call.id} was executed on it again"
        )


@check("DECIDE-2", rank=Rank.TWICE, requires="a decision")
def a_repeated_decision_is_not_accepted(state: ObservedState, seen: DecisionTaken) -> CheckResults:
    """A decision that is sent twice under one id is not accepted twice."""
    late = _late(state)
    if late is not None and late.repeats and late.id == seen.decision:
        taken = seen.disposition in ("accepted", "buffered")
        yield held_or(
            not taken, f"decision {late.id} had been taken before, yet it was {seen.disposition} again"
        )


@check("DECIDE-2", rank=Rank.TWICE, requires="a decision")
def a_decision_is_not_accepted_twice(state: ObservedState, seen: DecisionTaken) -> CheckResults:
    """A decision that was handed over once is accepted once, and refused or ignored at most once."""
    is_within = bool(state.nested) and not state.handed_over[seen.decision]  # of a call within a call
    if state.life > 1 or is_within:
        return
    told = state.dispositions[seen.decision]
    often = told.count(seen.disposition) + 1
    handed = state.handed_over[seen.decision]
    yield (
        HELD
        if often <= handed
        else broken(
            f"decision {seen.decision} was handed over {_times(handed)}, yet it was {seen.disposition} "
            f"{_times(often)}"
        )
    )


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


@check("DECIDE-2", rank=Rank.TWICE, requires="a decision")
def a_decision_taken_twice_changes_nothing(
    state: ObservedState, seen: GateOpened | CallMoved | MessageAppended | SegmentEnded
) -> CheckResults:
    """A decision whose id was taken before changes nothing."""
    late = _late(state)
    what = _effect(seen)
    if late is not None and late.repeats and what:
        yield broken(f"decision {late.id} had been taken before, yet {what}")


@counts("DECIDE-2", requires="a decision")
def a_repeated_decision_was_idle(state: ObservedState) -> CheckResults:
    """Counts the repeated decisions that changed nothing."""
    late = _late(state)
    if late is not None and late.repeats:
        yield HELD


@check("DECIDE-3", seeing=(GateOpened,), rank=Rank.CONSENT, requires="a decision")
@check(
    "DECIDE-3",
    seeing=(
        CallMoved,
        MessageAppended,
        SegmentEnded,
    ),
    rank=Rank.LOST,
    requires="a decision",
)
def a_late_decision_changes_nothing(state: ObservedState, seen: Observation) -> CheckResults:
    """A decision for a call that is unknown, over, or past that suspension changes nothing."""
    late = _late(state)
    if late is None or late.repeats:
        return
    what = _effect(seen)
    if what:
        yield broken(f"decision {late.id} was for {_why_late(state, late)}, yet {what}")


@check("DECIDE-3", rank=Rank.LOST)
def each_wait_has_a_number_of_its_own(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that waits anew is not said to be in a suspension that is over, which decisions may name."""
    call = state.call_of(seen)
    if call is None or call.is_unclear or seen.to != "Suspended" or call.claimed in (None, "Suspended"):
        return
    if seen.suspension in call.numbers:
        same = f"suspension {seen.suspension}, as it was before"
        yield broken(
            f"call {call.id} waits anew in {same}: a decision for the wait that is over would act on it"
        )


def _effect(seen: Observation) -> str:
    """What an observation changes, if it is more than an echo of being woken."""
    if isinstance(seen, GateOpened) and seen.on in ("tool", "permission", "model"):
        return f"a {seen.on} gate opened" + (f" for call {seen.call}" if seen.call else "")
    if isinstance(seen, CallMoved) and seen.to != seen.origin:
        return f"call {seen.call} became {seen.to}"
    if isinstance(seen, MessageAppended):
        return "a message was added"
    if isinstance(seen, SegmentEnded) and seen.reason.code != "Suspended":
        return f"the run ended as {seen.reason.code}"
    return ""


@once
def _late(state: ObservedState) -> Decided | None:
    """The decision that came alone, to a quiescent runtime, and too late or for an unknown call."""
    if not state.alone or len(state.newest) != 1 or state.newest[0][0] != "decide":
        return None
    run = state.run
    if run is None or state.newest[0][1]["run"] != run.id:
        return None
    sent = [_newest(state, raw["id"], raw["call"], run) for raw in state.newest[0][1]["decisions"]]
    if not sent or any(d is None or not (d.repeats or _is_too_late(run, d)) for d in sent):
        return None
    return sent[0]


def _is_too_late(run: Run, decided: Decided) -> bool:
    """Whether no call waits for it; where two calls have one id, one may wait when the other is over."""
    known = run.calls.get(decided.call)
    return decided.stale and not (known is not None and known.duplicate_id)


def _newest(state: ObservedState, decision: str, call: str, run: Run) -> Decided | None:
    known = run.calls.get(call)
    if known is None:
        return Decided(decision, call, "", None, None, state.stimuli, True, stale=True)
    return next((d for d in reversed(known.decisions) if d.id == decision and d.at == state.stimuli), None)


def _why_late(state: ObservedState, late: Decided) -> str:
    run = state.run
    call = run.calls.get(late.call) if run is not None else None
    if call is None:
        return f"call {late.call}, which is unknown"
    if late.suspension is not None and late.suspension < call.suspensions:
        return f"suspension {late.suspension} of call {call.id}, which is over"
    return f"call {call.id}, which is over"


@counts("DECIDE-3", requires="a decision")
def a_late_decision_was_idle(state: ObservedState) -> CheckResults:
    """Counts the late decisions that changed nothing."""
    late = _late(state)
    if late is not None and not late.repeats:
        yield HELD


@check("DECIDE-4", rank=Rank.LOST, requires="a decision", excuses=(CANCEL,))
def no_accepted_decision_is_lost(state: ObservedState) -> CheckResults:
    """A decision that a waiting call took acts once nothing else of the run is under way."""
    run = state.run
    if run is None:
        return
    for call in run.calls.values():
        if any(d.answers is call and not d.turned_down for d in call.decisions) and not call.waits:
            yield HELD
    if run.is_done or state.gates_of(run):
        return
    taken = [(call, _taken(call)) for call in run.calls.values() if call.may_wait]
    decides_all = all(decided is not None for _, decided in taken)
    partial = state.policy("resume") == "partial"
    for call, decided in taken:
        if decided is None or call.is_unclear or not _is_told_to_wait(state, call):
            continue
        if decides_all or (partial and _would_show(call, decided)):
            yield broken(f"call {call.id} took decision {decided.id}, yet it still waits")


@check(
    "DECIDE-4", at=("model",), rank=Rank.LOST, requires="a decision", excuses=(CANCEL, FAULT, CRASH, INPUT)
)
def an_approved_call_is_executed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """An approved call that nothing holds runs before the model is shown a result of it."""
    run = state.run_of(seen)
    if run is None or run.taken_out:
        return
    if not _approvals_execute(state):
        return
    shown = {one.call for one in seen.messages or () if one.role == "tool" and one.status != "pending"}
    for call in run.calls.values():
        decided = call.decision_in_force
        if call.id in shown and decided is not None and _lets_run(call, decided):
            approved = f"decision {decided.id} approved call {call.id}"
            yield broken(f"{approved}, yet it did not run, and the model is shown a result")


def _approvals_execute(state: ObservedState) -> bool:
    """Whether an approval lets its call run: it cannot stand for the result where it has no payload."""
    modes = state.policy("decision.modes")
    return "replay" in modes if modes is not None else not state.handshake.decisions.payload


def _lets_run(call: ObservedCall, decided: Decided) -> bool:
    """Whether a call that has not run since this decision has nothing else to wait for, and no other end."""
    executes = call.tool is not None and call.tool.resume_mode == "replay"
    approved = decided.action == "resume" and not decided.edit and call.rejection is None
    is_held = call.is_unclear or call.claimed is not None or call.last_verdict in ("block", "set_result")
    return executes and approved and not is_held and len(call.entries) == decided.entries_before


def _is_told_to_wait(state: ObservedState, call: ObservedCall) -> bool:
    """Whether its status says that it waits, or its run, which says so each time that it comes to wait."""
    return call.waits and (call.claimed is not None or state.observes("run.finished"))


def _would_show(call: ObservedCall, decided: Decided) -> bool:
    """Whether a decision shows when it acts, though the run goes on waiting: by a status, or by a gate."""
    executes = call.tool is not None and call.tool.resume_mode != "use_as_result"
    return call.claimed is not None or (executes and decided.action == "resume")


def _taken(call: ObservedCall) -> Decided | None:
    """The decision that the call took in the suspension that is open, or that was kept for it."""
    for decided in reversed(call.decisions):
        took = decided.answers is call or decided.disposition in ("accepted", "buffered")
        if took and not (decided.turned_down or decided.repeats or decided.stale or decided.unsure):
            return decided if _is_unused(call, decided) else None
    return None


def _is_unused(call: ObservedCall, decided: Decided) -> bool:
    """Whether the call has neither run nor been suspended anew since the decision came to it."""
    if decided.answers is not call:  # it came early, and was kept for the next suspension
        return decided.disposition == "buffered" and call.suspensions == decided.in_suspension + 1
    return len(call.entries) == decided.entries_before and call.suspensions == decided.in_suspension
