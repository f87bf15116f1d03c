"""ONCE: a call whose result the runtime holds is not executed again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runlock.conformance.families.lifecycle.messages import FINAL_CALL_STATUSES, GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.thread import messages_of
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank


@check("ONCE-1", at=("tool",), rank=Rank.TWICE)
def a_call_with_a_result_is_not_executed_again(state: ObservedState, seen: GateOpened) -> CheckResults:
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
        else broken(f"the tool of call {call.id} had answered {results[-1]}, yet it was executed again")
    )


@check("ONCE-2", at=("tool",), rank=Rank.TWICE)
def a_durable_result_is_not_executed_again(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that is final in the checkpoint recovered from, or has its result there, is not run again."""
    call = state.entering(seen)
    stored = state.recovered_from
    if call is None or not isinstance(stored, dict) or call.life == state.life:
        return
    status = _stored_status(stored, call.id)
    if status in FINAL_CALL_STATUSES:
        yield broken(f"call {call.id} is {status} in the checkpoint, yet it was executed after recovery")
    elif (shown := _stored_result(stored, call.id)) is not None:
        kept = f"the checkpoint holds the result of call {call.id} ({shown})"
        yield broken(f"{kept}, yet it was executed after recovery")
    else:
        yield HELD


def _stored_status(stored: Mapping[str, Any], call_id: str) -> str | None:
    calls = stored.get("calls")
    kept = calls.get(call_id) if isinstance(calls, dict) else None
    return kept.get("status") if isinstance(kept, dict) else None


def _stored_result(stored: Mapping[str, Any], call_id: str) -> str | None:
    """The status of the result that the messages of a checkpoint hold for a call, if it is no placeholder."""
    found = None
    for message in messages_of(stored) or ():
        if any(asked.id == call_id for asked in message.tool_calls):
            found = None  # asked for once more
        elif message.call == call_id and message.status in ("ok", "error", "cancelled"):
            found = message.status
    return found


@check("ONCE-3", at=("tool",), rank=Rank.TWICE)
def a_body_is_entered_once_at_a_time(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call is not entered while its body is executing."""
    call = state.entering(seen)
    if call is not None:
        busy = bool(call.executing)
        yield held_or(not busy, f"the body of call {call.id} is executing, yet it was entered once more")
