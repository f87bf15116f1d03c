"""KEEP: since when an accepted decision survives a crash, as the policy decision.kept says."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import FINAL_CALL_STATUSES, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.calls import stored_status
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check
from runlock.conformance.family.rank import Rank


@check("KEEP-2", rank=Rank.LOST, requires="a crash")
def a_decision_in_a_checkpoint_survives(state: ObservedState) -> CheckResults:
    """A decision that was accepted before the checkpoint of a recovery acts after it."""
    run = state.run
    if run is None or state.policy("decision.kept") not in ("acceptance", "checkpoint"):
        return
    own = [one for one in state.checkpoints[: state.kept_before[0]] if one.run in (None, run.id)]
    for decided in run.owed:
        before = decided.checkpoints
        if before is not None and own and any(own[-1] is one for one in state.checkpoints[before:]):
            yield from _acts(state, run, decided, "had been accepted before the checkpoint")


@check("KEEP-1", rank=Rank.LOST, requires="a crash")
def an_accepted_decision_survives(state: ObservedState) -> CheckResults:
    """A decision that was accepted in a wait, and stored, acts after a crash without being sent again."""
    run = state.run
    if run is not None and state.policy("decision.kept") == "acceptance":
        for decided in run.owed:
            yield from _acts(state, run, decided, "had been accepted")


@check("KEEP-1", rank=Rank.LOST, requires="a crash")
def a_decided_call_is_not_asked_about_again(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """The first segment after a crash does not end with a wait for what was decided before."""
    run = state.run_of(seen)
    if run is None or state.policy("decision.kept") != "acceptance":
        return
    if state.handshake.control.settles_exactly:  # then the silence that follows says it
        return
    for decided in run.owed:
        call = run.calls[decided.call]
        if call.has_moved_since_the_crash and run.crashes == 1:
            yield HELD
        elif call.id in seen.pending:
            yield from _acts(state, run, decided, "had been accepted")


@check("KEEP-3", rank=Rank.LOST, requires="a crash")
def a_decision_may_be_lost(state: ObservedState) -> CheckResults:
    """A crash costs a runtime that does not promise to keep decisions the decision, and not its call."""
    run = state.run
    if run is None or state.policy("decision.kept") != "no":
        return
    for decided in run.owed:
        call = run.calls[decided.call]
        if not all(one.ok for one in _acts(state, run, decided, "was accepted")):
            yield HELD
        elif call.claimed == "Cancelled" and _can_only_wait(run, call, decided):
            yield broken(
                f"the crash cost decision {decided.id}, yet call {call.id} does not wait for another"
            )


def _acts(state: ObservedState, run: Run, decided: Decided, what: str) -> CheckResults:
    """Judge a run that rests after its recovery, and that nothing else has met since."""
    call = run.calls[decided.call]
    if not _is_undisturbed(run, call) or _is_answered_unseen(state, call):
        return
    if stored_status(state.recovered_from, call.id) in FINAL_CALL_STATUSES:
        return  # it was acted on before the crash
    if call.has_moved_since_the_crash:
        yield HELD
    elif not state.gates_of(run) and call.decisions[-1] is decided and _suffices(state, run):
        yield broken(f"decision {decided.id} {what}, yet after the crash call {call.id} waits for another")


def _can_only_wait(run: Run, call: ObservedCall, decided: Decided) -> bool:
    """Whether nothing but this decision, which lets the call go on, has met a call since the crash."""
    return decided.action == "resume" and call.decisions[-1] is decided and _is_undisturbed(run, call)


def _is_answered_unseen(state: ObservedState, call: ObservedCall) -> bool:
    """Whether the decision may have been its result, which is not seen where no statuses are shown."""
    tools = (call.tool, *(state.tools.get(form.name or "") for form in call.forms))
    may_be = any(tool is not None and tool.resume_mode == "use_as_result" for tool in tools)
    return may_be and not state.observes("call.status")


def _is_undisturbed(run: Run, call: ObservedCall) -> bool:
    """Whether one crash is all that has met a run that goes on."""
    met = run.crashes != 1 or run.is_done or run.disturbed_by(CANCEL, FAULT, INPUT)
    return not (met or call.is_unclear)


def _suffices(state: ObservedState, run: Run) -> bool:
    """Whether the decisions that are owed are all that the run needs to go on."""
    waiting = {call.id for call in run.calls.values() if call.waits}
    return state.policy("resume") == "partial" or waiting <= {one.call for one in run.owed}
