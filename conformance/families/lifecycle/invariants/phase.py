"""PHASE: phases fire in their order, each where something of the run happens that they frame."""

from __future__ import annotations

from collections.abc import Sequence

from runlock.conformance.families.lifecycle.invariants.segment_queries import followed, may_be_a_replay
from runlock.conformance.families.lifecycle.messages import GateOpened, PhaseEntered, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, NOTHING, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank


def _last(phases: Sequence[PhaseEntered], name: str) -> int:
    """Where a phase fired last, or -1."""
    return max((at for at, phase in enumerate(phases) if phase.phase == name), default=-1)


def _is_of_the_round(run: Run, call: ObservedCall) -> bool:
    """Whether a call runs in the round of the newest step: one that was decided may run during any step."""
    return call.step == run.steps and not call.decisions


@check("PHASE-21", after=(NOTHING,), rank=Rank.PHASE)
def run_start_comes_first(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """The first phase of a run is RunStart."""
    run = followed(state, seen)
    if run is not None and not run.phases:
        yield (
            HELD
            if seen.phase == "RunStart"
            else broken(f"the first phase of the run is {seen.phase}, not RunStart")
        )


@check("PHASE-22", at=("RunStart",), rank=Rank.PHASE)
def run_start_fires_once(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """RunStart fires once: a run, or where a decision enters the run anew, a segment."""
    run = followed(state, seen)
    waiting = state.policy("waiting")
    if run is None or waiting is None:
        return
    fired = sum(phase.phase == "RunStart" for phase in run.phases)
    allowed = 1 if waiting == "parked" else len(run.finished) + 1
    yield HELD if fired < allowed else broken("RunStart fires again, though nothing has entered the run anew")


@check("PHASE-22", at=("model", "permission", "tool"), rank=Rank.PHASE, excuses=(CANCEL,))
def run_start_fires_in_each_segment(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a decision enters the run anew, its segment begins with RunStart."""
    run = followed(state, seen)
    if run is not None and run.finished and state.policy("waiting") == "reentered":
        fired = any(isinstance(one, PhaseEntered) and one.phase == "RunStart" for one in run.segment)
        what = "the run was entered anew and is at work, yet RunStart has not fired"
        yield held_or(fired, what)


@check("PHASE-23", at=("model",), rank=Rank.PHASE)
def inference_is_framed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Each inference comes right after StepStart and BeforeInference of its step."""
    run = followed(state, seen)
    if run is None or run.disturbed_by(CANCEL):
        return
    own = [phase.phase for phase in run.phases if not may_be_a_replay(run, phase)]
    newest = own[-2:]
    yield (
        HELD
        if newest == ["StepStart", "BeforeInference"]
        else (
            broken(
                f"the model is asked after {' and '.join(newest) or 'no phase'}, "
                "not after StepStart and BeforeInference"
            )
        )
    )


@check("PHASE-24", at=("tool",), rank=Rank.PHASE)
def tools_come_after_the_inference(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A tool of a turn runs only after AfterInference of that turn."""
    run, call = followed(state, seen), state.call_of(seen)
    if run is None or call is None or not _is_of_the_round(run, call):
        return
    after = _last(run.phases, "AfterInference") > _last(run.phases, "StepStart")
    yield HELD if after else broken(f"call {call.id} runs, yet AfterInference of its step has not fired")


@check("PHASE-24", rank=Rank.PHASE, requires="calls")
def calls_are_looked_at_after_the_inference(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """No phase of a call of a turn fires before AfterInference of that turn."""
    run, call = followed(state, seen), state.call_of(seen)
    if run is None or call is None or call.is_unclear or not _is_of_the_round(run, call):
        return
    if _last(run.phases, "AfterInference") <= _last(run.phases, "StepStart"):
        yield broken(f"{seen.phase} fires for call {call.id}, yet AfterInference of its step has not fired")


@check("PHASE-25", at=("tool",), rank=Rank.PHASE)
def a_step_ends_where_it_should(state: ObservedState, seen: GateOpened) -> CheckResults:
    """StepEnd stands before the tools of its step, or after them, as the policy has it."""
    run, call = followed(state, seen), state.call_of(seen)
    at = state.policy("step.end")
    if run is None or call is None or at is None or call.step != run.steps or call.decisions:
        return
    ended = _last(run.phases, "StepEnd") > _last(run.phases, "StepStart")
    first = not call.entries and call.claimed != "Suspended"
    if at == "before_tools":
        yield HELD if ended else broken(f"call {call.id} runs before StepEnd of its step")
    elif first and not ended:
        yield HELD
    elif first and (state.policy("round.rest") == "failed" or state.policy("round.executor") == "parallel"):
        yield broken(f"call {call.id} runs for the first time after StepEnd of its step")


@check("PHASE-26", at=("tool",), rank=Rank.PHASE)
def a_call_is_framed_before(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call is executed only after BeforeToolExecute has fired for it; once more for each execution.

    Where a replay does not pass the gate again, its phases need not either.
    """
    run, call = followed(state, seen), state.call_of(seen)
    if run is None or call is None or call.is_unclear:
        return
    prepared = [phase for phase in run.phases if phase.phase == "BeforeToolExecute"]
    named = [phase for phase in prepared if phase.call == call.id]
    if not prepared or any(phase.call for phase in prepared):  # one that names no call frames the batch
        fired = len(named) > (len(call.entries) if state.policy("replay.gate") == "yes" else 0)
        yield HELD if fired else broken(f"call {call.id} runs, yet BeforeToolExecute has not fired for it")


def _prepared_of_nine(state: ObservedState, seen: PhaseEntered) -> Run | None:
    """The run, if it has nine phases and a call of it is about to be prepared."""
    named = seen.phase == "BeforeToolExecute" and seen.call and state.policy("phases") == "nine"
    return followed(state, seen) if named else None


@check("PHASE-27", at=("BeforeToolExecute",), rank=Rank.LOST)
def the_gate_judges_before_execution(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where there are nine phases, ToolGate fires for a call before BeforeToolExecute does."""
    run = _prepared_of_nine(state, seen)
    if run is None:
        return
    judged = any(phase.phase == "ToolGate" and phase.call == seen.call for phase in run.phases)
    yield HELD if judged else broken(f"BeforeToolExecute fires for call {seen.call}, yet ToolGate has not")


@check("PHASE-28", at=("BeforeToolExecute",), rank=Rank.PHASE)
def only_what_executes_is_prepared(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where there are nine phases, BeforeToolExecute fires only for a call that will execute."""
    run, call = _prepared_of_nine(state, seen), state.call_of(seen)
    if run is None or call is None or call.is_unclear:
        return
    why = _why_not_executing(call)
    yield HELD if not why else broken(f"BeforeToolExecute fires for call {call.id}, yet {why}")


def _why_not_executing(call: ObservedCall) -> str:
    if call.claimed == "Suspended":
        return "it is Suspended"
    if call.is_final:
        return "it is over"
    return ""


@check("PHASE-29", rank=Rank.PHASE)
def run_end_comes_last(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """After RunEnd no phase fires, but for a RunStart that enters the run anew."""
    run = followed(state, seen)
    if run is None or not run.phases:
        return
    if run.phases[-1].phase != "RunEnd":
        if seen.phase == "RunEnd":
            yield HELD
        return
    # a cancel enters a waiting run anew only to end it
    ended = any(isinstance(one, PhaseEntered) and one.phase == "RunEnd" for one in run.segment)
    again = seen.phase in ("RunStart", "RunEnd") and state.policy("waiting") != "parked" and not ended
    yield HELD if again else broken(f"{seen.phase} fires after RunEnd")


@check("PHASE-30", rank=Rank.PHASE)
def run_end_comes_before_the_end(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run that has started ends with RunEnd, for any reason."""
    run = followed(state, seen)
    if run is None or not run.phases or seen.reason.code == "Suspended":
        return
    right = run.phases[-1].phase == "RunEnd"
    yield (
        HELD
        if right
        else broken(f"the run ended as {seen.reason.code}, yet its last phase is {run.phases[-1].phase}")
    )
