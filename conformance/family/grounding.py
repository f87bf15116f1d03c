"""Turns moves into parameters for one runtime: the parts that all families share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from runlock.conformance.family.state import OpenGate
from runlock.conformance.trace.moves import Move, race

Part = tuple[str, Mapping[str, Any]]
"""A method and its parameters."""

Params = Mapping[str, Any]
Whole = Callable[[OpenGate, Params], Params]
"""Fills the fields that a schedule left out of the outcome of a gate."""

Own = Mapping[str, Callable[[Params], dict[str, Any] | None]]
"""How a family grounds the parameters of its own methods that name a gate."""


NO_OWN: Final[Own] = {}


class GateFinder(Protocol):
    """The part of a state that finds gates."""

    def gate(self, ref: str) -> OpenGate | None:
        """The open gate with this id or name, the oldest first."""
        ...


def as_given(gate: OpenGate, outcome: Params) -> Params:
    """The unchanged outcome."""
    return outcome


def ground_by_name(
    move: Move, state: GateFinder, whole: Whole = as_given, own: Own = NO_OWN
) -> dict[str, Any] | None:
    """The parameters with the gate ids of this runtime; None if a gate that the move names is not open.

    Parts of a race whose gate is not open are left out; the race is not sent if two parts are for one gate.
    """

    def single(method: str, params: Params) -> dict[str, Any] | None:
        if method in own:
            return own[method](params)
        return _release(params, state, whole) if method == "gate.release" else dict(params)

    params = _race(move, single) if move.method == "deliver" else single(move.method, move.params)
    return params if params is None or move.turns is None else {**params, "turns": move.turns}


def _race(move: Move, single: Callable[[str, Params], dict[str, Any] | None]) -> dict[str, Any] | None:
    grounded = [(method, single(method, given)) for method, given in move.parts()]
    kept = [{"method": method, "params": params} for method, params in grounded if params is not None]
    gates = [params["gate"] for _, params in grounded if params is not None and "gate" in params]
    return {"stimuli": kept} if kept and len(set(gates)) == len(gates) else None


def _release(params: Params, state: GateFinder, whole: Whole) -> dict[str, Any] | None:
    gate = state.gate(params["gate"])
    if gate is None:
        return None
    return {**params, "gate": gate.id, "outcome": whole(gate, params["outcome"])}


def with_parts(move: Move, kept: Sequence[Part]) -> Move | None:
    """The move with only these of its parts; None if there are none."""
    if len(kept) == len(move.parts()):
        return move
    if not kept:
        return None
    if len(kept) == 1:
        return Move(kept[0][0], kept[0][1], move.turns)
    return replace(race(Move(method, params) for method, params in kept), turns=move.turns)
