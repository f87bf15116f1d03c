"""What of a move can be sent to a runtime of the family lifecycle, and with which parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import VOCABULARY, Handshake
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.family.grounding import Part, ground_by_name, with_parts
from runlock.conformance.family.state import OpenGate
from runlock.conformance.trace.moves import EMPTY_TURN, Move

SEGMENT_BEGINS: Final = ("run.start", "decide", "run.input")


def ground(move: Move, state: ObservedState) -> dict[str, Any] | None:
    """The parameters with the gate ids of this runtime; None if a gate that the move names is not open."""
    return ground_by_name(move, state, _whole)


def _whole(gate: OpenGate, outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    """A turn with all its fields, as the protocol shows it."""
    if gate.on != "model" or outcome.get("kind") != "turn":
        return outcome
    return {**EMPTY_TURN, **outcome}


def admit(move: Move, state: ObservedState) -> Move | None:
    """The move without the parts that the runtime does not take now, or that are for a run it did not begin.

    None if no part is left.
    """
    offered = [part for part in move.parts() if _offers(state, *part)]
    runs = {None, *state.runs, *(params["run"] for method, params in offered if method == "run.start")}
    kept = [part for part in offered if part[1].get("run") in runs]
    if state.policy("state") == "caller" or not state.handshake.decisions.live:
        kept = _one_segment(kept)
    return with_parts(move, kept)


def _one_segment(parts: Sequence[Part]) -> list[Part]:
    """Only the first of what begins a segment: two at once cannot be taken, or would fork the state."""
    first = next((part for part in parts if part[0] in SEGMENT_BEGINS), None)
    return [part for part in parts if part[0] not in SEGMENT_BEGINS or part is first]


def _offers(state: ObservedState, method: str, params: Mapping[str, Any]) -> bool:
    handshake, run = state.handshake, state.run
    if method == "run.start":
        over = run is None or (run.is_done and "run.again" in handshake.stimuli)
        return over and (not params.get("decisions") or handshake.decisions.live)
    if not VOCABULARY.is_taken(method, handshake):
        return False
    idle = state.quiescent and not state.open_gates
    if method in SEGMENT_BEGINS:
        named = state.runs.get(params["run"], run)
        able = named is not None and not _is_out_of_reach(state, named)
        return able and (idle or _is_taken_at_work(handshake, method, params))
    if method == "cancel":
        waits = run is not None and not run.is_done and (idle or not run.segment_open)
        return not waits or "cancel.waiting" in handshake.stimuli
    if method == "clock.advance":
        return handshake.control.clock == "virtual" and (not state.has_expiries or idle)
    return True


def _is_taken_at_work(handshake: Handshake, method: str, params: Mapping[str, Any]) -> bool:
    """Whether the runtime takes this while a segment runs."""
    if method == "run.input" and not params.get("decisions"):
        return handshake.inputs.working
    return handshake.decisions.live


def _is_out_of_reach(state: ObservedState, run: Run) -> bool:
    """Whether a decision would make the runtime try again what an error or a cancel ended."""
    support = state.handshake.decisions
    taken = {"Error": support.after_error, "Cancelled": support.after_cancel}
    return run.is_done and run.ended is not None and not taken.get(run.ended.code, True)
