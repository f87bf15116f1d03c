"""RUN, CALL: `inspect` agrees with the announced status."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import RunInspected
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.family.invariant import CheckResults, check, held_or
from runlock.conformance.family.rank import Rank


@check("RUN-33", rank=Rank.STATUS)
def a_look_at_a_run_shows_its_status(state: ObservedState, seen: RunInspected) -> CheckResults:
    """A look at a run that rests shows the status that it has announced, or that its gates and end tell."""
    run = looked_at(state, seen)
    announced = _announced(state, run) if run is not None else None
    if announced is not None:
        shown = seen.status or "no status"
        yield held_or(shown == announced, f"the run is {announced}, yet a look at it shows {shown}")


def _announced(state: ObservedState, run: Run) -> str | None:
    if run.claimed is not None:
        return run.claimed
    if state.gates_of(run):
        return "Running"
    if run.segment_open or not run.finished:
        return None  # nothing has said yet what it is in this life
    return "Waiting" if run.ended is None else "Done"


@check("RUN-33", rank=Rank.STATUS)
def a_look_at_a_run_shows_its_reason(state: ObservedState, seen: RunInspected) -> CheckResults:
    """A look at a run that is over shows no other reason than the one that its end was announced with."""
    run = looked_at(state, seen)
    if run is not None and run.ended is not None and seen.reason is not None:
        code, shown = run.ended.code, seen.reason.code
        yield held_or(shown == code, f"the run ended as {code}, yet a look at it shows {shown}")


@check("CALL-25", rank=Rank.STATUS)
def a_look_at_a_run_shows_its_calls(state: ObservedState, seen: RunInspected) -> CheckResults:
    """A look at a run that rests shows each call of it with the status that it has announced."""
    run = looked_at(state, seen)
    for call in run.calls.values() if run is not None else ():
        shown = seen.calls.get(call.id)
        may_be_gone = call.is_final or (run is not None and run.is_done)
        if call.claimed is None or call.is_unclear or (shown is None and may_be_gone):
            continue
        status = shown.status if shown is not None else "no such call"
        right = status == call.claimed
        yield held_or(right, f"call {call.id} is {call.claimed}, yet a look at the run shows {status}")


def looked_at(state: ObservedState, seen: RunInspected) -> Run | None:
    """The run, if it rests and someone holds it: between segments, a run of the caller's no one does.

    What is committed is announced only after that.
    """
    run = state.run_of(seen)
    is_held = seen.status is not None or state.policy("state") == "runtime"
    rests = run is not None and state.settled_before and not state.is_committing(run)
    return run if rests and is_held else None
