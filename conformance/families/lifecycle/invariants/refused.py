"""GATE: a call that was rejected or blocked is not executed, and not asked about again."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CRASH
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts
from runlock.conformance.family.rank import Rank


@check("GATE-2", at=("tool",), rank=Rank.CONSENT)
def a_rejected_call_never_executes(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that took a cancel decision is not executed any more."""
    call = state.entering(seen)
    if call is None:
        return
    rejection = call.rejection
    if rejection is not None:
        yield broken(f"call {call.id} was cancelled by decision {rejection.id}, yet it was executed")


@check("GATE-5", at=("tool",), rank=Rank.CONSENT)
def a_blocked_call_never_executes(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that the permission hook blocked is not executed."""
    call = state.entering(seen)
    if call is not None and call.last_verdict == "block":
        yield broken(f"the permission gate blocked call {call.id}, yet it was executed")


@counts("GATE-5", requires="calls")
def a_blocked_call_was_not_executed(state: ObservedState) -> CheckResults:
    """Counts the calls that were blocked or rejected and have not been executed since."""
    run = state.run
    for call in run.calls.values() if run is not None else ():
        if call.last_verdict == "block" and not call.entries:
            yield HELD


@counts("GATE-2", requires="a decision")
def a_rejected_call_was_not_executed(state: ObservedState) -> CheckResults:
    """Counts the calls that were rejected and have not been executed since."""
    run = state.run
    for call in run.calls.values() if run is not None else ():
        if call.rejection is not None and not call.executing:
            yield HELD


@counts("GATE-2", at=("model",), requires="a decision")
def a_rejected_call_was_not_executed_when_the_run_goes_on(
    state: ObservedState, seen: GateOpened
) -> CheckResults:
    """Counts the same when the model is asked next: the run goes on without it, which needs no silence."""
    yield from a_rejected_call_was_not_executed(state)


@check("GATE-7", at=("permission",), rank=Rank.CONSENT, excuses=(CRASH,))
def a_blocked_call_is_not_asked_about_again(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that the permission hook blocked is not asked about again."""
    call = state.call_of(seen)
    if call is not None and not call.is_unclear and call.last_verdict == "block":
        yield broken(f"the permission gate blocked call {call.id}, yet it is asked about it again")


@counts("GATE-7", excuses=(CRASH,))
def a_blocked_call_was_not_asked_about_again(state: ObservedState) -> CheckResults:
    """Counts the calls that were blocked and asked about once."""
    for call in state.run.calls.values() if state.run is not None else ():
        if call.last_verdict == "block" and len(call.judged) == 1:
            yield HELD
