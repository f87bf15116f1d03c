"""LIMIT: a call whose time has passed is over, and its body with it."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.limits import RESULT_STATUSES
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts
from runlock.conformance.family.rank import Rank


@check("LIMIT-1", rank=Rank.CONSENT, requires="calls")
def nothing_is_left_at_work(state: ObservedState) -> CheckResults:
    """No body is at work whose call is over for its run."""
    for gate in state.volatile.open_gates:
        if gate.is_left and gate.call is not None:
            yield broken(f"the run goes on as if call {gate.call.id} were over, yet its body is at work")


@counts("LIMIT-1", at=("model",), requires="calls")
def what_is_over_is_not_at_work(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the calls that the model is shown as over, and whose bodies are."""
    over = {m.call for m in seen.messages or () if m.role == "tool" and m.status in (None, *RESULT_STATUSES)}
    for run in state.runs.values():
        yield from (HELD for call in run.calls.values() if call.id in over and not call.executing)
