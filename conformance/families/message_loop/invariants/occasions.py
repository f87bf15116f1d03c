"""The occasions of hooks: which gates belong to one occasion of a slot, and what the data was then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.message_loop.messages import GateOpened, HookSpec
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import (
    COMPOSING,
    ObservedGate,
    ObservedPass,
    ObservedRequest,
)

PATH_SLOTS: Final = frozenset({"RECEIVE_INPUT", "RENDER"})
BY_KIND: Final = ("guard", "transform", "observer")


def request_of(state: ObservedState, path: ObservedPass, at: str, point: str) -> ObservedRequest | None:
    """The request that a hook gate of this slot belongs to; None where it begins a new one."""
    request = path.request
    if (at, point) not in COMPOSING:
        return request
    if request is None or (request.model_gates and not request.may_be_sent_again):
        return None
    return request


def gates_of_occasion(state: ObservedState, seen: GateOpened) -> list[ObservedGate]:
    """The gates that opened before this one on the same occasion of the same point of a stage."""
    path = state.path_of(seen)
    point = seen.point or "pre"
    if path is None or seen.at is None:
        return []
    if seen.at in PATH_SLOTS:
        return [g for g in path.hooks if (g.opened.at, g.opened.point) == (seen.at, point)]
    if seen.at == "TOOL_CALL":
        call = state.call_of(seen)
        return call.hook_gates(point) if call is not None else []
    request = request_of(state, path, seen.at, point)
    gates = request.hook_gates(seen.at, point) if request is not None else []
    if (seen.at, point) == ("STREAM_RESPONSE", "pre"):
        return _of_chunk(gates, seen)
    return gates if request is None else _of_sending(request, gates)


def _of_sending(request: ObservedRequest, gates: list[ObservedGate]) -> list[ObservedGate]:
    """A request that is sent again may meet its hooks again: those since it failed."""
    failed = [gate.released_at for gate in request.model_gates if gate.answered_with == "fault"]
    return [gate for gate in gates if gate.at > failed[-1]] if failed else gates


def _of_chunk(gates: list[ObservedGate], seen: GateOpened) -> list[ObservedGate]:
    """Of the gates at STREAM_RESPONSE pre, those that are about the same chunk of text."""
    number = sum(gate.opened.hook == seen.hook for gate in gates)
    found = []
    counted: dict[str | None, int] = {}
    for gate in gates:
        hook = gate.opened.hook
        if counted.get(hook, 0) == number:
            found.append(gate)
        counted[hook] = counted.get(hook, 0) + 1
    return found


def chunk_number(gates: list[ObservedGate], hook: str | None) -> int:
    """How many chunks of text a hook has been asked about."""
    return sum(gate.opened.hook == hook for gate in gates)


def before(spec: HookSpec, other: HookSpec, specs: list[HookSpec], order: str) -> bool:
    """Whether a hook comes before another one of its slot."""
    if order == "by_kind" and spec.kind != other.kind:
        return BY_KIND.index(spec.kind) < BY_KIND.index(other.kind)
    return specs.index(spec) < specs.index(other)


def rewritten_by(gate: ObservedGate) -> Mapping[str, Any]:
    """The keys that a transform rewrote at a gate."""
    if gate.opened.role != "transform" or gate.answered_with != "rewrite":
        return {}
    data = (gate.answer or {}).get("data")
    return data if isinstance(data, Mapping) else {}


def rewrite_of(gates: list[ObservedGate], key: str) -> tuple[bool, Any]:
    """Whether a key was rewritten, and what it is now."""
    found, value = False, None
    for gate in gates:
        given = rewritten_by(gate)
        if key in given:
            found, value = True, given[key]
    return found, value


def is_odd(gate: ObservedGate) -> bool:
    """Whether a hook answered what its kind does not have, or broke."""
    allowed = {"guard": ("continue", "deny"), "transform": ("continue", "rewrite")}
    role = gate.opened.role or ""
    return role in allowed and gate.answered_with not in ("", *allowed[role])
