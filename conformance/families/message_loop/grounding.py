"""Adapts moves to a runtime: its own gate ids, and nothing that its handshake does not offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.conformance.families.message_loop.actions.context import Stage
from runlock.conformance.families.message_loop.actions.model import completed
from runlock.conformance.families.message_loop.actions.session import late_gates
from runlock.conformance.families.message_loop.messages import VOCABULARY
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedGate
from runlock.conformance.family.grounding import Part, ground_by_name, with_parts
from runlock.conformance.trace.moves import Move

EASY: Final[Mapping[str, Mapping[str, Any]]] = {
    "model": {"kind": "turn", "text": "done", "tool_calls": []},
    "prompt": {"kind": "allow"},
    "hook": {"kind": "continue"},
    "sm": {"kind": "approve"},
    "context": {"kind": "slices", "slices": []},
    "assert": {"kind": "ok", "slot": "done"},
    "store.put": {"kind": "ok"},
}
"""For each kind of gate, an outcome that lets a turn go on to its end."""


def ground(move: Move, state: ObservedState) -> dict[str, Any] | None:
    """The move's params with the gate ids of this runtime; None if a gate that it names does not exist."""

    def late(params: Mapping[str, Any]) -> dict[str, Any] | None:
        gate = _given_up(state, params["gate"])
        return None if gate is None else {**params, "gate": gate.id}

    return ground_by_name(move, state, _whole, {"late": late})


def _whole(gate: Any, outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    """A turn with all its fields, extended by what was streamed."""
    return completed(gate, outcome) if outcome.get("kind") == "turn" else outcome


def _given_up(state: ObservedState, ref: str) -> ObservedGate | None:
    """The most recently closed gate of that id or name."""
    gates = [gate for gate in late_gates(Stage(state)) if ref in (gate.id, gate.ref)]
    return gates[-1] if gates else None


def admit(move: Move, state: ObservedState) -> Move | None:
    """The move without the parts that the runtime does not accept now; None if nothing is left."""
    kept: list[Part] = []
    for part in move.parts():
        if _is_offered(state, *part) and _may_follow(part, kept):
            kept.append(part)
    if move.method == "deliver" and "deliver" not in state.handshake.stimuli:
        kept = kept[:1]
    return with_parts(move, kept)


def _may_follow(part: Part, earlier: list[Part]) -> bool:
    """Whether a stimulus may follow the earlier ones of its race; only a cancel may race with a start."""
    methods = [method for method, _ in earlier]
    if part[0] in ("settle", "deliver", "inspect") and earlier:
        return False
    return ("run.start" not in methods or part[0] == "cancel") and not (part[0] == "run.start" and earlier)


def _is_offered(state: ObservedState, method: str, params: Mapping[str, Any]) -> bool:
    check = _OFFERS.get(method)
    is_taken = method == "deliver" or VOCABULARY.is_taken(method, state.handshake)
    return is_taken and (check is None or check(state, params))


def _may_start(state: ObservedState, params: Mapping[str, Any]) -> bool:
    handshake, driver, run = state.handshake, state.scenario.driver, state.run
    if params["run"] in state.turns or (run is not None and "run.again" not in handshake.stimuli):
        return False
    if run is not None and not (run.is_done and state.quiescent):
        return False
    kind = "group" if params.get("group") is not None else "stage" if params.get("stage") else "chat"
    stages = [*(params.get("group") or []), params.get("stage"), params.get("join")]
    named = {one["name"] for one in stages if one}
    known = set(driver.stages) if driver is not None else set()
    joins = not params.get("join") or "join" in handshake.turns
    return kind in handshake.turns and joins and named <= known


def _may_release(state: ObservedState, params: Mapping[str, Any]) -> bool:
    gate, outcome = state.gate(params["gate"]), params["outcome"]
    if gate is None or gate.opened.interactor in state.gone_in:
        return False
    handshake, kind = state.handshake, outcome["kind"]
    if gate.on == "model" and kind == "turn":
        calls = outcome.get("tool_calls") or []
        malformed = any(isinstance(call.get("args"), str) for call in calls)
        fits = not malformed or handshake.takes("model", "malformed")
        return fits and (not outcome.get("terminal") or handshake.takes("model", "terminal"))
    scope = outcome.get("scope") or "once"
    if gate.on == "prompt" and kind == "allow" and scope != "once" and scope not in handshake.grants:
        return False
    return handshake.takes(gate.on, kind)


def _may_watch(state: ObservedState, params: Mapping[str, Any]) -> bool:
    return params["watcher"] not in state.watchers and params["watcher"] not in state.unwatched


_OFFERS: Final[Mapping[str, Callable[[ObservedState, Mapping[str, Any]], bool]]] = {
    "run.start": _may_start,
    "gate.release": _may_release,
    "cancel": lambda state, params: params["run"] in state.turns,
    "late": lambda state, params: _given_up(state, params["gate"]) is not None,
    "interactor.gone": lambda state, params: params["interactor"] in state.active,
    "watch": _may_watch,
    "unwatch": lambda state, params: params["watcher"] in state.watchers,
    "clock.advance": lambda state, params: state.handshake.control.clock == "virtual",
}


def drain(state: ObservedState) -> Move | None:
    """The next move that answers what the turn waits for."""
    waiting = [gate for gate in state.open_gates if gate.opened.interactor not in state.gone_in]
    if not waiting:
        return None
    gate = waiting[0]
    outcome = EASY.get(gate.on) or {"kind": "ok", "content": f"<{gate.ref} at the end>"}
    return Move("gate.release", {"gate": gate.ref, "outcome": dict(outcome)})
