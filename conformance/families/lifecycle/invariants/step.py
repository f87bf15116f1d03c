"""PHASE: the phases of one step, from StepStart to StepEnd, and what has to happen between them."""

from __future__ import annotations

from collections.abc import Sequence

from runlock.conformance.families.lifecycle.invariants.segment_queries import (
    CALL_PHASES,
    asked_for,
    asked_for_nothing,
    followed,
    has_fired,
    is_among,
    is_cut_short,
    may_be_a_replay,
    requires,
    stored,
)
from runlock.conformance.families.lifecycle.messages import (
    Checkpointed,
    GateOpened,
    PhaseEntered,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, Invariant, broken, check, ranked
from runlock.conformance.family.rank import Rank


@check("PHASE-40", after=("StepStart",), rank=Rank.PHASE)
def StepStart_leads_to_BeforeInference(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """The phase after StepStart is BeforeInference."""
    run = _after(state, seen, "StepStart")
    if run is not None:
        right = seen.phase == "BeforeInference"
        yield HELD if right else broken(f"StepStart is followed by {seen.phase}, not by BeforeInference")


@check("PHASE-43", at=("AfterInference",), rank=Rank.PHASE)
def AfterInference_has_an_answer(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """AfterInference fires when the model has answered in its step."""
    run, gate = followed(state, seen), state.last_model_gate
    if run is None or run.disturbed_by(CANCEL):
        return
    asked = gate is not None and gate.run == run.id and is_among(gate.opened, requires(run, "StepStart"))
    answered = asked and gate is not None and gate.outcome is not None
    yield HELD if answered else broken("AfterInference fires, yet the model has not answered in this step")


@check("PHASE-41", after=("BeforeInference",), rank=Rank.PHASE)
def the_request_goes_out_as_prepared(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """After BeforeInference no phase fires before the model is asked, but for what ends the step."""
    run = _after(state, seen, "BeforeInference")
    if run is None or seen.phase == "StepEnd":
        return
    shown = requires(run, "BeforeInference")
    asked = any(isinstance(one, GateOpened) and one.on == "model" for one in shown)
    yield HELD if asked else broken(f"{seen.phase} fires after BeforeInference, yet the model was not asked")


@check("PHASE-46", after=("AfterInference",), rank=Rank.PHASE)
def AfterInference_leads_to_StepEnd(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where a step ends before its tools, the phase after AfterInference is StepEnd."""
    run = _after(state, seen, "AfterInference")
    if run is not None and state.policy("step.end") == "before_tools":
        right = seen.phase == "StepEnd"
        yield HELD if right else broken(f"AfterInference is followed by {seen.phase}, not by StepEnd")


@check("PHASE-47", at=("StepStart", *CALL_PHASES, "RunEnd"), rank=Rank.PHASE)
def a_step_without_calls_has_no_phase_of_tools(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where a step ends before its tools, no phase of tools fires for an answer without calls."""
    run = followed(state, seen)
    if run is None or state.policy("step.end") != "before_tools" or not asked_for_nothing(run):
        return
    if not has_fired(run.segment, "AfterInference"):
        return
    if seen.phase in CALL_PHASES:
        if not (seen.call or may_be_a_replay(run, seen)):
            yield broken(f"the model asked for no calls, yet {seen.phase} fires")
    elif seen.phase in ("StepStart", "RunEnd"):
        yield HELD


@check("PHASE-48", at=CALL_PHASES, after=("StepEnd",), rank=Rank.PHASE)
def a_round_begins_with_BeforeToolExecute(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where a step ends before its tools, the first phase of its round is BeforeToolExecute."""
    run = _after(state, seen, "StepEnd")
    if run is not None and state.policy("step.end") == "before_tools" and seen.phase in CALL_PHASES:
        right = seen.phase == "BeforeToolExecute"
        yield HELD if right else broken(f"the round begins with {seen.phase}, not with BeforeToolExecute")


@check("PHASE-49", after=("AfterInference",), rank=Rank.PHASE)
def no_calls_lead_straight_to_StepEnd(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where a step ends after its tools, AfterInference of an answer without calls leads to StepEnd."""
    run = _after(state, seen, "AfterInference")
    if run is not None and state.policy("step.end") == "after_tools" and asked_for_nothing(run):
        right = seen.phase == "StepEnd"
        yield (
            HELD
            if right
            else broken(f"the model asked for no calls, yet AfterInference leads to {seen.phase}")
        )


def no_answer_is_left_in_its_step(clause: str, at: str) -> Invariant:
    """The check of the end of the last step: an answer without calls passes StepEnd before RunEnd."""

    def closed(state: ObservedState, seen: SegmentEnded) -> CheckResults:
        run = followed(state, seen)
        if run is None or state.policy("step.end") != at or seen.reason.code != "NaturalEnd":
            return
        left = [phase.phase for phase in run.phases[-2:]] == ["AfterInference", "RunEnd"]
        yield HELD if not left else broken("the model asked for no calls, yet AfterInference leads to RunEnd")

    closed.__name__ = "no_answer_is_left_in_its_step"
    return Invariant(clause, closed, SegmentEnded, at=("NaturalEnd",))


def calls_lead_to(first: str, clause: str, phases: str) -> Invariant:
    """The check of the first phase after AfterInference of an answer with calls."""

    def leads(state: ObservedState, seen: PhaseEntered) -> CheckResults:
        run = _after(state, seen, "AfterInference")
        declared = (state.policy("phases"), state.policy("step.end"))
        if run is None or declared != (phases, "after_tools") or not asked_for(run):
            return
        if seen.phase not in CALL_PHASES:
            return
        right = seen.phase == first
        yield HELD if right else broken(f"the round begins with {seen.phase}, not with {first}")

    leads.__name__ = f"a_round_of_{phases}_phases_begins_with_{first}"
    return Invariant(clause, leads, PhaseEntered, at=CALL_PHASES, after=("AfterInference",))


@check("PHASE-53", at=("StepEnd",), rank=Rank.PHASE)
def what_is_allowed_is_prepared(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where there are nine phases, a call that ToolGate allowed comes to BeforeToolExecute in its step."""
    run = followed(state, seen)
    if run is None or state.policy("phases") != "nine":
        return
    if is_cut_short(state, run) or not has_fired(run.segment, "AfterInference"):
        return
    calls, shown = asked_for(run), requires(run, "AfterInference")
    # a round that stops at a suspension may leave calls after
    round_ = [call for call in run.calls.values() if call.step == run.steps]
    left_behind = state.policy("round.executor") != "parallel" and any(map(_may_wait, round_))
    for call in calls:
        if _is_allowed(call) and not left_behind:
            prepared = _named(shown, "BeforeToolExecute", call)
            yield (
                HELD
                if prepared
                else broken(
                    f"call {call.id} was allowed at ToolGate, yet BeforeToolExecute has not fired for it"
                )
            )


@check("PHASE-54", "PHASE-60", at=("StepStart",), rank=Rank.PHASE, requires="calls")
def a_round_with_nothing_to_execute_ends_its_step(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where a step ends after its tools, a round that leaves nothing to execute leads to StepEnd.

    One that leaves calls waiting is not at its end: its step may end before the wait, or after it.
    """
    run = followed(state, seen)
    if run is None or state.policy("step.end") != "after_tools" or is_cut_short(state, run):
        return
    calls = asked_for(run)
    if not calls or any(call.entries for call in run.calls.values() if call.step == run.steps):
        return
    if has_fired(run.segment, "AfterInference"):
        ended = has_fired(requires(run, "AfterInference"), "StepEnd")
        yield HELD if ended else broken("nothing was left to execute in the round, yet StepEnd has not fired")


@check("PHASE-61", at=("StepEnd",), rank=Rank.PHASE, is_deferred=True)
def a_step_ends_when_its_calls_rest(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where a step ends after its tools, StepEnd does not fire while a call of the step is at work."""
    run = followed(state, seen)
    if run is None or state.policy("step.end") != "after_tools":
        return
    busy = [call.id for call in asked_for(run) if call.executing and not call.decisions]
    yield HELD if not busy else broken(f"StepEnd fires, yet call {busy[0]} of the step is executing")


@check("PHASE-56", at=("AfterToolExecute",), rank=Rank.PHASE)
def AfterToolExecute_has_an_outcome(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """AfterToolExecute fires for a call that has its outcome."""
    run, call = followed(state, seen), state.call_of(seen)
    if run is None or call is None or call.is_unclear:
        return
    if call.executing:
        yield broken(f"AfterToolExecute fires for call {call.id}, yet its body is executing")
    elif not call.decisions and not call.raced:
        waits_to_run = _is_allowed(call) and not call.entries and not call.is_final
        yield (
            HELD
            if not waits_to_run
            else broken(f"AfterToolExecute fires for call {call.id}, yet the call has not been executed")
        )


@check("PHASE-62", seeing=(PhaseEntered,), at=("AfterToolExecute",), rank=Rank.PHASE)
@check("PHASE-62", seeing=(Checkpointed,), rank=Rank.PHASE, requires="calls")
def a_round_is_applied_after_its_phases(
    state: ObservedState, seen: PhaseEntered | Checkpointed
) -> CheckResults:
    """Where a step ends before its tools, AfterToolExecute fires before its round is committed."""
    run = followed(state, seen)
    if run is None or state.policy("step.end") != "before_tools":
        return
    if isinstance(seen, Checkpointed):
        if seen.cause == "round" and has_fired(requires(run, "StepEnd"), "AfterToolExecute"):
            yield HELD
    elif seen.phase == "AfterToolExecute" and not may_be_a_replay(run, seen):
        shown = requires(run, "BeforeToolExecute")
        late = stored(shown, "ToolResultsCommitted", "round") >= 0
        if late:
            who = f"call {seen.call}" if seen.call else "the round"
            yield broken(f"AfterToolExecute fires for {who}, yet the round is committed already")


@check("PHASE-85", at=("StepStart",), rank=Rank.PHASE)
def steps_are_counted_by_StepStart(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Each StepStart counts one step more than the one before it."""
    run = followed(state, seen)
    if run is None or seen.step is None:
        return
    former = [phase.step for phase in run.phases if phase.phase == "StepStart"]
    right = (former[-1] or 0) + 1 if former else 1
    yield (
        HELD
        if seen.step == right
        else broken(f"StepStart counts step {seen.step}, where step {right} was next")
    )


@check("PHASE-86", rank=Rank.PHASE)
def the_gate_fires_where_it_has_a_place(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """ToolGate is a phase where there are nine, and no phase where there are eight."""
    phases = state.policy("phases")
    if phases == "eight":
        yield (
            HELD
            if seen.phase != "ToolGate"
            else broken("ToolGate fires, yet there are eight phases without it")
        )
    elif phases == "nine" and seen.phase == "ToolGate":
        yield HELD


def permission_is_asked_after(phase: str, clause: str, phases: str) -> Invariant:
    """The check of the phase in which permission is asked for."""

    def asked(state: ObservedState, seen: GateOpened) -> CheckResults:
        run, call = followed(state, seen), state.call_of(seen)
        if run is None or call is None or seen.on != "permission" or state.policy("phases") != phases:
            return
        if call.is_unclear or any(one.phase in CALL_PHASES and not one.call for one in run.phases):
            return
        fired = sum(one.phase == phase and one.call == call.id for one in run.phases)
        often = "once more " if call.judged else ""
        yield (
            HELD
            if fired > len(call.judged)
            else broken(
                f"permission is asked {often}for call {call.id}, yet {phase} has not fired {often}for it"
            )
        )

    asked.__name__ = f"permission_is_asked_after_{phase}"
    return Invariant(clause, asked, GateOpened, at=("permission",))


# --- reading what was shown ---------------------------------------------------------------------


def _after(state: ObservedState, seen: PhaseEntered, phase: str) -> Run | None:
    """The run, if this phase comes directly after that one, in the same step and by no way out."""
    run = followed(state, seen)
    if run is None or not run.phases or run.phases[-1].phase != phase or seen.phase == "RunEnd":
        return None
    return None if may_be_a_replay(run, seen) else run


def _may_wait(call: ObservedCall) -> bool:
    """Whether a call waits or has waited, or may do so where it does not say."""
    return call.suspensions > 0 or (call.claimed is None and not call.is_final)


def _is_allowed(call: ObservedCall) -> bool:
    """Whether nothing holds a call back, as far as was witnessed."""
    if call.tool is None or call.decisions:
        return False
    return call.tool.permission == "allow" or call.last_verdict == "allow"


def _named(shown: Sequence[object], phase: str, call: ObservedCall) -> bool:
    return any(
        isinstance(one, PhaseEntered) and one.phase == phase and one.call in (None, call.id) for one in shown
    )


INVARIANTS = ranked(
    Rank.PHASE,
    no_answer_is_left_in_its_step("PHASE-46", "before_tools"),
    no_answer_is_left_in_its_step("PHASE-49", "after_tools"),
    permission_is_asked_after("BeforeToolExecute", "PHASE-87", "eight"),
    permission_is_asked_after("ToolGate", "PHASE-88", "nine"),
    calls_lead_to("BeforeToolExecute", "PHASE-50", "eight"),
    calls_lead_to("ToolGate", "PHASE-51", "nine"),
)
