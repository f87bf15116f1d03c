"""Moves that bring a run of the lifecycle to its end, and what a crash leaves to recover from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.actions.context import request
from runlock.conformance.families.lifecycle.actions.model import streamed
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.expiry import ends_at_ms
from runlock.conformance.families.lifecycle.state.nesting import leaves
from runlock.conformance.families.lifecycle.state.records import ObservedGate
from runlock.conformance.trace.moves import Move

EASY_OUTCOMES: Final[dict[str, dict[str, Any]]] = {
    "model": {"kind": "turn", "text": "done", "tool_calls": []},
    "permission": {"kind": "allow"},
    "hook": {"kind": "continue"},
}


def drain(state: ObservedState) -> Move | None:
    """The next move that gives the run what it waits for: its oldest gate is released, its calls approved.

    Where waits expire, they do so first, unless the number of decisions so far is odd: one schedule shows the
    expiry and another one the approval.
    """
    run = state.run
    assert run is not None
    for gate in state.open_gates:
        return Move("gate.release", {"gate": gate.ref, "outcome": _easy_outcome(gate)})
    waiting = [call for call in leaves(state, run) if call.waits]
    ends = [end for call in waiting if (end := ends_at_ms(call)) is not None and end > state.now_ms]
    if ends and len(state.decision_ids) % 2 == 0:
        return Move("clock.advance", {"ms": min(ends) - state.now_ms + 1})
    if not waiting or "decide" not in state.handshake.stimuli:
        return None
    number = len(state.decision_ids) + 1
    approvals = [_approval(number, call.id) for call in waiting]
    return request(
        state.handshake, "decide", {"run": run.id, "decisions": approvals}, f"end{number}-w", number
    )


def _approval(number: int, call: str) -> dict[str, Any]:
    return {"id": f"end{number}-{call}", "call": call, "action": "resume", "payload": None}


def _easy_outcome(gate: ObservedGate) -> dict[str, Any]:
    if gate.on == "tool":
        return {"kind": "ok", "content": f"<{gate.ref} at the end>"}
    easy = EASY_OUTCOMES.get(gate.on, {"kind": "ok"})
    if not gate.deltas:
        return easy
    text, calls = streamed(gate)
    return {**easy, "text": text + easy["text"], "tool_calls": calls}


def recover(state: ObservedState) -> Mapping[str, Any] | None:
    """The params of `recover` after a crash at this point; None if that cannot be told.

    Before the first run there is nothing that could come back, and a runtime says so.
    """
    run = state.run
    now = {"now_ms": state.now_ms} if state.has_expiries else {}
    if run is None:
        return {"run": "r0", "store": None, **now}
    if not state.can_come_back(run):
        return None
    durable = state.durable(run) if state.handshake.control.store == "kit" else None
    return {"run": run.id, "store": durable.state if durable is not None else None, **now}


def is_timely(move: Move, state: ObservedState) -> bool:
    """Whether the runtime takes this move of a script now."""
    idle, offered = state.quiescent and not state.open_gates, state.handshake
    for method, _ in move.parts():
        if method == "decide" and not idle and not offered.decisions.live:
            return False
        if method == "run.input" and not idle and not offered.inputs.working:
            return False
        waits = idle and state.run is not None and not state.run.is_done
        if method == "cancel" and waits and "cancel.waiting" not in offered.stimuli:
            return False
    return True
