"""A move: one stimulus in the kit's own words, which hold for any runtime that can take it.

A move names a gate by what waits there (`model`, `tool:c1`), never by the id that a runtime gave it, so
that a schedule found on one runtime can be replayed on another, shrunk, and written by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import gate_name
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.trace.trace import Trace

CRASH_AND_RECOVER: Final = "crash"
INSPECT: Final = "inspect"
SEGMENT_BEGINS: Final = ("run.start", "decide", "run.input")


@dataclass(frozen=True, slots=True)
class Move:
    """A stimulus of the protocol with gates by name, and how many turns the runtime may take on it."""

    method: str
    params: Mapping[str, Any]
    turns: int | None = None

    def parts(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The stimuli that it hands over: several for a race."""
        if self.method != "deliver":
            return [(self.method, self.params)]
        return [(part["method"], part["params"]) for part in self.params["stimuli"]]


def race(moves: Iterable[Move]) -> Move:
    """All of the moves in one delivery, in this order."""
    return Move("deliver", {"stimuli": [{"method": move.method, "params": move.params} for move in moves]})


def grounded(move: Move, state: ObservedState) -> dict[str, Any] | None:
    """The move's params with the gate ids of this runtime; nothing if a gate that it names is not open."""
    if move.method == "deliver":
        inner = [(method, grounded(Move(method, given), state)) for method, given in move.parts()]
        kept = [{"method": method, "params": found} for method, found in inner if found is not None]
        gates = [found["gate"] for _, found in inner if found is not None and "gate" in found]
        if not kept or len(set(gates)) < len(gates):
            return None
        params: dict[str, Any] = {"stimuli": kept}
    elif move.method == "gate.release":
        gate = state.gate(move.params["gate"])
        if gate is None:
            return None
        params = {**move.params, "gate": gate.id, "outcome": _whole(gate.on, move.params["outcome"])}
    else:
        params = dict(move.params)
    return params if move.turns is None else {**params, "turns": move.turns}


def _whole(on: str, outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    """A turn with all its fields, as the protocol shows it, whatever a schedule left unsaid."""
    if on != "model" or outcome.get("kind") != "turn":
        return outcome
    return {"text": "", "tool_calls": [], "usage": {"input": 0, "output": 0}, **outcome}


def admitted(move: Move, state: ObservedState) -> Move | None:
    """The move without what the runtime did not offer to take now, and what is for no run that it has begun.

    Nothing if nothing is left.
    """
    offered = [part for part in move.parts() if _offers(state, *part)]
    runs = {None, *state.runs, *(params["run"] for method, params in offered if method == "run.start")}
    kept = [part for part in offered if part[1].get("run") in runs]
    if state.policy("state") == "caller" or not state.handshake.decisions.live:
        kept = _one_segment(kept)
    if len(kept) == len(move.parts()):
        return move
    if not kept:
        return None
    if len(kept) == 1:
        return Move(kept[0][0], kept[0][1], move.turns)
    return replace(race(Move(method, params) for method, params in kept), turns=move.turns)


def _one_segment(parts: list[tuple[str, Mapping[str, Any]]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Only the first of what begins a segment: two at once cannot be taken, or would fork the state."""
    first = next((part for part in parts if part[0] in SEGMENT_BEGINS), None)
    return [part for part in parts if part[0] not in SEGMENT_BEGINS or part is first]


def _offers(state: ObservedState, method: str, params: Mapping[str, Any]) -> bool:
    handshake, run = state.handshake, state.run
    if method == "run.start":
        over = run is None or (run.is_done and "run.again" in handshake.stimuli)
        return over and (not params.get("decisions") or handshake.decisions.live)
    if method in ("decide", "run.input"):
        idle = state.quiescent and not state.open_gates
        named = state.runs.get(params["run"], run)
        able = method in handshake.stimuli and named is not None and not _is_out_of_reach(state, named)
        return able and (handshake.decisions.live or idle)
    if method == "cancel":
        idle = state.quiescent and not state.open_gates
        waits = run is not None and not run.is_done and (idle or not run.segment_open)
        return "cancel" in handshake.stimuli and (not waits or "cancel.waiting" in handshake.stimuli)
    if method in ("watch", "unwatch"):
        return "watch" in handshake.stimuli
    if method == "clock.advance":
        return method in handshake.stimuli and handshake.control.clock == "virtual"
    return True


def _is_out_of_reach(state: ObservedState, run: Run) -> bool:
    """Whether a decision would reach another run: a fork of one that is over, or one that tries again."""
    support = state.handshake.decisions
    taken = {"Error": support.after_error, "Cancelled": support.after_cancel}
    kept = run.ended is not None and not taken.get(run.ended.code, True)
    return run.is_done and (kept or state.policy("state") == "caller")


def as_seen(params: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """What a look at a run showed, as a trace keeps it: an observation that holds the answer."""
    return {**answer, "kind": INSPECT, **params}


def moves_of(trace: Trace) -> Iterator[Move]:
    """The moves of a trace: its stimuli, with gates by the name under which they opened."""
    names: dict[str, str] = {}
    for record in trace.records:
        if "observation" in record and record["observation"].get("kind") == "gate.open":
            seen = record["observation"]
            names[seen["gate"]] = gate_name(seen["on"], seen.get("at"), seen.get("call"))
        elif "stimulus" in record:
            stimulus = record["stimulus"]
            if stimulus["method"] != "recover":  # part of the crash before it
                yield _named(stimulus["method"], stimulus["params"], names)
        elif "crash" in record:
            yield Move(CRASH_AND_RECOVER, dict(record["crash"]))


def _named(method: str, params: Mapping[str, Any], names: Mapping[str, str]) -> Move:
    turns = params.get("turns")
    plain = {key: value for key, value in params.items() if key != "turns"}
    if method == "deliver":
        plain = {
            "stimuli": [
                {
                    "method": part["method"],
                    "params": dict(_named(part["method"], part["params"], names).params),
                }
                for part in plain["stimuli"]
            ]
        }
    elif "gate" in plain:
        plain["gate"] = names.get(plain["gate"], plain["gate"])
    return Move(method, plain, turns)
