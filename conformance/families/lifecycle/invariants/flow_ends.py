"""FLOW: the ways out of a segment, and the forced checkpoint that is the last of it."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.invariants.segment_queries import (
    TRIGGERS,
    followed,
    has_fired,
    is_cut_short,
    stored,
)
from runlock.conformance.families.lifecycle.messages import (
    Checkpointed,
    GateOpened,
    PhaseEntered,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT
from runlock.conformance.family.invariant import HELD, CheckResults, Invariant, broken, check, ranked
from runlock.conformance.family.rank import Rank


@check("FLOW-11", seeing=(GateOpened,), at=("model",), rank=Rank.STATUS, requires="a fault")
@check("FLOW-11", seeing=(SegmentEnded,), rank=Rank.STATUS, requires="a fault")
def a_broken_model_ends_the_segment(state: ObservedState, seen: GateOpened | SegmentEnded) -> CheckResults:
    """After a fault of the model nothing is asked any more, and the segment ends as Error."""
    yield from _ends_as_Error(state, seen, "model", "the model")


@check("FLOW-18", seeing=(GateOpened,), at=("model",), rank=Rank.STATUS, requires="a fault")
@check("FLOW-18", seeing=(SegmentEnded,), rank=Rank.STATUS, requires="a fault")
def a_broken_executor_ends_the_segment(state: ObservedState, seen: GateOpened | SegmentEnded) -> CheckResults:
    """After a fault of the tool executor nothing is asked any more, and the segment ends as Error."""
    yield from _ends_as_Error(state, seen, "tool", "the tool executor")


def _ends_as_Error(
    state: ObservedState, seen: GateOpened | SegmentEnded, gate: str, subject: str
) -> CheckResults:
    run = state.run_of(seen)
    if run is None or run.faulted != gate or not run.fault_alone or run.disturbed_by(CANCEL, CRASH):
        return
    if isinstance(seen, SegmentEnded):
        code = seen.reason.code
        yield HELD if code == "Error" else broken(f"{subject} broke, yet the segment ended as {code}")
    elif seen.on == "model":
        yield broken(f"{subject} broke, yet the model is asked again")


@check("FLOW-12", rank=Rank.STATUS, requires="a cancel", excuses=(CRASH,))
def a_cancelled_inference_is_given_up(state: ObservedState) -> CheckResults:
    """A cancel that meets an inference takes it away."""
    run, gate = state.run, state.last_model_gate
    if run is None or gate is None or run.cancel_at != state.stimuli or not run.cancel_alone:
        return
    if gate.run == run.id and gate.gone is not None:
        yield HELD
    elif gate.run == run.id and gate.is_open:
        yield broken("the run was cancelled while the model was asked, yet the answer is still waited for")


@check("FLOW-12", rank=Rank.STATUS, requires="a cancel")
def a_cancelled_inference_ends_as_Cancelled(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A segment whose inference was given up for a cancel ends as Cancelled."""
    yield from _ends_as_Cancelled(state, seen, ("model",), "its inference was given up")


@check("FLOW-19", rank=Rank.STATUS, requires="a cancel")
def a_cancelled_round_ends_as_Cancelled(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A segment whose round was given up for a cancel ends as Cancelled."""
    yield from _ends_as_Cancelled(state, seen, ("permission", "tool"), "its round was given up")


def _ends_as_Cancelled(
    state: ObservedState, seen: SegmentEnded, on: tuple[str, ...], what: str
) -> CheckResults:
    run = state.run_of(seen)
    if run is None or run.cancel_at is None or not run.cancel_alone or run.disturbed_by(FAULT, CRASH):
        return
    gone = [gate for gate in state.gates.values() if gate.run == run.id and gate.gone is not None]
    if any(gate.on in on for gate in gone):
        code = seen.reason.code
        yield HELD if code == "Cancelled" else broken(f"{what} for a cancel, yet the segment ended as {code}")


def an_end_passes_RunEnd(clause: str, code: str) -> Invariant:
    """The check of one way out: a segment that ends for this reason passes RunEnd."""

    def passes(state: ObservedState, seen: SegmentEnded) -> CheckResults:
        run = followed(state, seen)
        if run is None or seen.reason.code != code or not has_fired(run.segment, "RunStart"):
            return  # what never started, as where a cancel meets a run between segments, is FLOW-1's
        passed = has_fired(run.segment, "RunEnd")
        yield HELD if passed else broken(f"the segment ended as {code}, yet RunEnd has not fired")

    passes.__name__ = f"a_segment_that_ends_as_{code}_passes_RunEnd"
    return Invariant(clause, passes, SegmentEnded, at=(code,))


@check("FLOW-29", seeing=(PhaseEntered,), at=("RunEnd",), rank=Rank.PHASE)
@check("FLOW-29", seeing=(Checkpointed,), at=TRIGGERS, rank=Rank.PHASE)
def the_end_is_committed_after_RunEnd(
    state: ObservedState, seen: PhaseEntered | Checkpointed
) -> CheckResults:
    """Each RunFinished is committed after a RunEnd, and nothing of the segment after RunFinished."""
    run = followed(state, seen)
    if run is None or stored(run.segment, "RunFinished") < 0:
        return
    if isinstance(seen, PhaseEntered):
        ended = sum(isinstance(one, PhaseEntered) and one.phase == "RunEnd" for one in run.segment)
        finished = sum(isinstance(one, Checkpointed) and one.trigger == "RunFinished" for one in run.segment)
        if seen.phase == "RunEnd" and finished > ended:
            yield broken("RunEnd fires, yet RunFinished is stored already")
    elif seen.trigger in TRIGGERS and not is_cut_short(state, run):
        yield broken(f"the segment has stored RunFinished, yet {seen.trigger} is stored after it")


@check("FLOW-29", at=("RunFinished",), rank=Rank.PHASE)
def the_end_was_committed_after_RunEnd(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """Counts the ends that were committed after RunEnd."""
    run = followed(state, seen)
    if run is not None and has_fired(run.segment, "RunEnd"):
        yield HELD


INVARIANTS = ranked(
    Rank.PHASE,
    an_end_passes_RunEnd("FLOW-25", "NaturalEnd"),
    an_end_passes_RunEnd("FLOW-26", "Suspended"),
    an_end_passes_RunEnd("FLOW-27", "Cancelled"),
    an_end_passes_RunEnd("FLOW-28", "Error"),
)
