"""PROGRESS: a run that is not Done waits at a gate."""

from __future__ import annotations

from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.family.invariant import CheckResults, check, held_or
from runlock.conformance.family.rank import Rank


@check("PROGRESS-1", rank=Rank.STATUS)
def a_run_that_is_not_done_waits_at_a_gate(state: ObservedRunner) -> CheckResults:
    """A run that is not Done waits at a gate."""
    run = state.run
    if run is None or not state.shows_ends:
        return
    if not run.is_done and not run.refused:
        yield held_or(
            state.open_gates, f"run {run.id} is not Done, and waits for nothing that the kit could give"
        )
