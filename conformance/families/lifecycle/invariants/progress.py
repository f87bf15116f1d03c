"""PROGRESS: a run that nothing holds goes on until it is Done."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CRASH
from runlock.conformance.family.invariant import CheckResults, check, held_or
from runlock.conformance.family.rank import Rank


@check("PROGRESS-1", rank=Rank.LOST)
def a_run_that_nothing_holds_goes_on(state: ObservedState) -> CheckResults:
    """A run that is not Done waits at a gate or for a decision."""
    run = state.run
    if run is None or run.is_done or not state.tells_ends:
        return
    waits = any(call.may_wait or (call.is_unclear and call.listed_pending) for call in run.calls.values())
    held = bool(state.gates_of(run)) or state.is_committing() or run.claimed == "Waiting" or waits
    tells = state.observes("run.status") or state.observes("call.status")
    if not held and run.disturbed_by(CRASH) and not (tells and run.segment_open):
        return  # it may have come back to a wait, and had no words to say so, or to its end, and need not
    if not held and any(call.is_unclear for call in run.calls.values()):
        return  # one of two calls with one id may wait under another
    yield held_or(held, "no gate of the run is open and no call waits for a decision, yet it is not Done")
