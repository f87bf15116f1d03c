"""STORE: where checkpoints come at the end of a step, between which phases they are taken."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.invariants.segment_queries import followed, is_among
from runlock.conformance.families.lifecycle.messages import (
    Checkpointed,
    GateOpened,
    PhaseEntered,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, FAULT
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.family.invariant import CheckResults, check, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation


@check("STORE-19", at=("StepStart", "RunEnd"), rank=Rank.CHECKPOINT, is_deferred=True)
def a_step_is_stored_at_its_end(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A step is stored at its StepEnd: between the phases before and after it, in either order."""
    run = _stored_at_the_end(state, seen)
    if run is None or not run.phases:
        return
    if seen.phase == "RunEnd" and state.scenario.agent.stop:  # it may cut the step short at its end
        return
    if run.phases[-1].phase == "StepEnd" and is_among(run.phases[-1], run.segment):
        right = _stored_at(state, run, "StepEnd")
        yield held_or(right, f"{seen.phase} fires after StepEnd, yet the step was not stored there")


@check("STORE-19", rank=Rank.CHECKPOINT, is_deferred=True)
def a_run_is_stored_at_its_end(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A segment that ends after RunEnd, or after StepEnd, was stored after it."""
    run = _stored_at_the_end(state, seen)
    if run is None or not run.phases or not is_among(run.phases[-1], run.segment):
        return
    last = run.phases[-1].phase
    if last in ("RunEnd", "StepEnd"):
        right = _stored_at(state, run, last)
        where = "at" if last == "StepEnd" else "after"
        yield held_or(right, f"the end of the segment is announced, yet nothing was stored {where} {last}")


def _stored_at_the_end(state: ObservedState, seen: PhaseEntered | SegmentEnded) -> Run | None:
    """The run, if its checkpoints are due at the ends of its steps and nothing has kept it from one."""
    run = followed(state, seen)
    due = state.policy("checkpoint.at") == "step_end" and state.observes("checkpoint")
    if run is None or not due or state.handshake.control.store == "none" or run.faulted == "store.put":
        return None
    cut_short = isinstance(seen, PhaseEntered) and run.disturbed_by(CANCEL, FAULT)
    return None if cut_short else run


def _stored_at(state: ObservedState, run: Run, phase: str) -> bool:
    """Whether a checkpoint was taken down after the newest phase, or that of StepEnd just before it."""
    is_after = True
    for seen in reversed(run.segment):
        if isinstance(seen, PhaseEntered):
            if not is_after or phase != "StepEnd":
                return False
            is_after = False
        elif _takes_down(state, seen) and (is_after or vars(seen)["trigger"] == "StepEnd"):
            return True
    return False


def _takes_down(state: ObservedState, seen: Observation) -> bool:
    """Whether a state was taken down here: before the store is waited for, if it is."""
    if isinstance(seen, GateOpened):
        return seen.on == "store.put"
    return isinstance(seen, Checkpointed) and "store.put" not in state.scenario.hold
