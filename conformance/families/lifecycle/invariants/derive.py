"""DERIVE: while a run has no work of its own, its status is the projection of its calls."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import GateOpened, RunMoved, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, INPUT
from runlock.conformance.families.lifecycle.state.limits import left_by
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank


@once
def _claims_both(state: ObservedState) -> Run | None:
    """The run to project: one that is not Done, shows both statuses, and has no work of its own."""
    run = state.run
    shown = state.observes("run.status") and state.observes("call.status")
    if run is None or not shown or run.claimed is None or run.is_done:
        return None
    own_work = any(gate.on != "tool" for gate in state.gates_of(run))
    return None if own_work else run


def _busy(run: Run) -> list[ObservedCall]:
    return [c for c in run.calls.values() if c.executing or c.claimed in ("Running", "Resuming")]


def _suspended(run: Run) -> list[ObservedCall]:
    return [c for c in run.calls.values() if c.claimed == "Suspended"]


@check("DERIVE-1", rank=Rank.STATUS, requires="calls")
def a_run_with_a_busy_call_is_Running(state: ObservedState) -> CheckResults:
    """While any call of the round executes or is resuming, the run is Running."""
    run = _claims_both(state)
    for call in _busy(run) if run is not None else ():
        assert run is not None
        yield held_or(
            run.claimed == "Running",
            f"call {call.id} is {'executing' if call.executing else call.claimed}, "
            f"yet the run is {run.claimed}",
        )


@check("DERIVE-2", rank=Rank.STATUS, requires="a wait")
def a_run_whose_calls_all_wait_is_Waiting(state: ObservedState) -> CheckResults:
    """When no call is busy and at least one is Suspended, the run is Waiting."""
    run = _claims_both(state)
    if run is None or _busy(run) or any(call.is_unclear for call in run.calls.values()):
        return  # one of two calls with one id may be busy under another
    suspended = _suspended(run)
    if suspended:
        yield (
            HELD
            if run.claimed == "Waiting"
            else (
                broken(
                    f"call {suspended[0].id} is Suspended and no call is busy, yet the run is {run.claimed}"
                )
            )
        )


@check("DERIVE-3", rank=Rank.STATUS, requires="a wait")
def a_run_waits_for_somebody(state: ObservedState) -> CheckResults:
    """A run is Waiting only while a call of it is Suspended."""
    run = _claims_both(state)
    if run is None or run.claimed != "Waiting" or _busy(run):
        return
    if run.disturbed_by(CRASH) and any(call.claimed is None for call in run.calls.values()):
        return  # a life need not say from which statuses it starts
    if any(call.is_unclear for call in run.calls.values()):
        return  # one of two calls with one id may wait under another
    yield held_or(_suspended(run), "the run is Waiting, yet none of its calls is Suspended")


@check("DERIVE-4", rank=Rank.STATUS)
def a_run_with_work_of_its_own_is_Running(state: ObservedState) -> CheckResults:
    """While a model or permission gate is open, the run is Running."""
    run = state.run
    if run is None or not state.observes("run.status") or run.claimed is None:
        return
    for gate in state.gates_of(run):
        if gate.on in ("model", "permission"):
            yield held_or(run.claimed == "Running", f"a {gate.on} gate is open, yet the run is {run.claimed}")


@check("DERIVE-5", at=("model",), rank=Rank.STATUS, requires="calls")
def no_inference_while_a_call_waits(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a round waits for its suspended calls, the model is not asked while a call is Suspended."""
    run = state.run_of(seen)
    if run is None or state.policy("round.mixed") != "wait" or not run.calls:
        return
    if run.disturbed_by(INPUT) and state.policy("input.waiting") in (None, "placeholder"):
        return  # the wait was put aside, and the model is asked about the input meanwhile
    waiting = [call.id for call in run.calls.values() if _certainly_waits(run, call) and not call.is_unclear]
    yield (
        HELD
        if not waiting
        else broken(f"call {waiting[0]} still waits for a decision, yet the model was asked again")
    )


def _certainly_waits(run: Run, call: ObservedCall) -> bool:
    """Whether neither a decision nor an input can have taken the call out of its wait, if it does not say."""
    undecided = all(decided.turned_down or decided.stale for decided in call.decisions)
    return call.claimed == "Suspended" or (call.waits and undecided and not run.disturbed_by(INPUT))


@check("DERIVE-6", at=("Suspended",), rank=Rank.STATUS)
def a_suspended_segment_leaves_nothing_running(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A segment ends as Suspended only when no call of the run is executing."""
    run = state.run_of(seen)
    if run is None:
        return
    left = [gate.call for gate in left_by(state, seen)]
    running = [call.id for call in run.calls.values() if call.executing and call not in left]
    yield (
        HELD if not running else broken(f"the segment ended as Suspended, yet call {running[0]} is executing")
    )


@check("DERIVE-7", at=("Done",), rank=Rank.STATUS, requires="calls")
def the_calls_do_not_end_the_run(state: ObservedState, seen: RunMoved) -> CheckResults:
    """A round of which every call is over does not end the run, which has the model still to ask."""
    run = state.run_of(seen)
    if run is None or not _round_is_over(run) or seen.reason is None:
        return
    natural = seen.reason.code == "NaturalEnd"
    over = "every call of the newest turn is over, and their results have not been shown to the model"
    yield held_or(not natural, f"{over}, yet the run is Done as NaturalEnd")


@counts("DERIVE-7", at=("model",), requires="calls")
def a_round_leads_to_the_model(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the rounds of which every call was over and that led to the next inference."""
    run = state.run_of(seen)
    if run is not None and _round_is_over(run):
        yield HELD


def _round_is_over(run: Run) -> bool:
    """Whether the newest turn asked for calls, and each of them is certainly over."""
    newest = [call for call in run.calls.values() if call.step == run.steps]
    certain = run.turn_alone and not (run.disturbed_by(CRASH, INPUT))
    return certain and bool(newest) and all(call.is_final and not call.is_unclear for call in newest)


@check("DERIVE-8", at=("model",), rank=Rank.LOST, requires="a wait", excuses=(CANCEL, CRASH, INPUT))
def the_model_is_not_asked_while_every_call_waits(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The model is not asked while every call of its newest turn waits and none was decided."""
    run = state.run_of(seen)
    newest = [call for call in run.calls.values() if call.step == run.steps] if run is not None else []
    if run is None or not newest or any(call.is_unclear for call in newest):
        return
    if any(call.may_have_waited for call in newest):
        decided = any(call.decisions for call in run.every_call)
        waits = not decided and all(_certainly_waits(run, call) for call in newest)
        yield held_or(not waits, f"call {newest[0].id} waits and nothing was decided, yet the model is asked")
