"""ONCE: a call whose result the runtime holds is not executed again."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import FINAL_CALL_STATUSES, GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.family.invariant import HELD, Invariant, Judgements


def a_call_with_a_result_is_not_executed_again(state: ObservedState, seen: GateOpened) -> Judgements:
    """A call whose tool has answered with a result is not executed again while the runtime lives."""
    call = state.entering(seen)
    if call is None:
        return
    answered = [g for g in call.entries if g.life == state.life and g.outcome is not None]
    results = [
        g.outcome["kind"] for g in answered if g.outcome and g.outcome["kind"] in ("ok", "warning", "error")
    ]
    yield (
        HELD
        if not results
        else f"the tool of call {call.id} had answered {results[-1]}, yet it was executed again"
    )


def a_durable_result_is_not_executed_again(state: ObservedState, seen: GateOpened) -> Judgements:
    """A call that is final in the checkpoint recovered from is not executed again."""
    call = state.entering(seen)
    stored = state.recovered_from
    if call is None or not isinstance(stored, dict) or call.life == state.life:
        return
    status = stored.get("calls", {}).get(call.id, {}).get("status")
    final = status in FINAL_CALL_STATUSES
    yield (
        HELD
        if not final
        else f"call {call.id} is {status} in the checkpoint, yet it was executed after recovery"
    )


def a_body_is_entered_once_at_a_time(state: ObservedState, seen: GateOpened) -> Judgements:
    """A call is not entered while its body is executing."""
    call = state.entering(seen)
    if call is not None:
        busy = bool(call.executing)
        yield HELD if not busy else f"the body of call {call.id} is executing, yet it was entered once more"


INVARIANTS = (
    Invariant("ONCE-1", a_call_with_a_result_is_not_executed_again, GateOpened, at=("tool",)),
    Invariant("ONCE-2", a_durable_result_is_not_executed_again, GateOpened, at=("tool",)),
    Invariant("ONCE-3", a_body_is_entered_once_at_a_time, GateOpened, at=("tool",)),
)
