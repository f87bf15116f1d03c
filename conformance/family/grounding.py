"""Turns moves into parameters for one runtime: the parts that are the same in every family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from runlock.conformance.family.state import OpenGate
from runlock.conformance.trace.moves import Move, race

Part = tuple[str, Mapping[str, Any]]
"""A method and its parameters."""

Whole = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Fills the fields that a schedule left out of an outcome, for what the gate is on."""


class GateFinder(Protocol):
    """The part of a state that finds gates."""

    def gate(self, ref: str) -> OpenGate | None:
        """The open gate with this id or name, the oldest first."""
        ...


def as_given(on: str, outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    """The outcome without any change."""
    return outcome


def ground_by_name(move: Move, state: GateFinder, whole: Whole = as_given) -> dict[str, Any] | None:
    """The parameters with the gate ids of this runtime; None if a gate that the move names is not open.

    A race is sent without the parts whose gate is not open, and not at all if two of them are for one gate.
    """
    params = _race(move, state, whole) if move.method == "deliver" else _single(move, state, whole)
    return params if params is None or move.turns is None else {**params, "turns": move.turns}


def _race(move: Move, state: GateFinder, whole: Whole) -> dict[str, Any] | None:
    grounded = [(method, ground_by_name(Move(method, given), state, whole)) for method, given in move.parts()]
    kept = [{"method": method, "params": params} for method, params in grounded if params is not None]
    gates = [params["gate"] for _, params in grounded if params is not None and "gate" in params]
    return {"stimuli": kept} if kept and len(set(gates)) == len(gates) else None


def _single(move: Move, state: GateFinder, whole: Whole) -> dict[str, Any] | None:
    if move.method != "gate.release":
        return dict(move.params)
    gate = state.gate(move.params["gate"])
    if gate is None:
        return None
    return {**move.params, "gate": gate.id, "outcome": whole(gate.on, move.params["outcome"])}


def with_parts(move: Move, kept: Sequence[Part]) -> Move | None:
    """The move with only these of its parts; None if there are none."""
    if len(kept) == len(move.parts()):
        return move
    if not kept:
        return None
    if len(kept) == 1:
        return Move(kept[0][0], kept[0][1], move.turns)
    return replace(race(Move(method, params) for method, params in kept), turns=move.turns)
