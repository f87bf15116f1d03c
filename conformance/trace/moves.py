"""A move: one stimulus in the kit's own words, which hold for any runtime that can take it.

A move names a gate by what waits there (`model`, `tool:c1`), never by the id that a runtime gave it, so
that a schedule found on one runtime can be replayed on another, shrunk, and written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.trace.trace import Record, Trace

CRASH_AND_RECOVER: Final = "crash"
INSPECT: Final = "inspect"
EMPTY_TURN: Final[Mapping[str, Any]] = {"text": "", "tool_calls": [], "usage": {"input": 0, "output": 0}}

GateName = Callable[[Mapping[str, Any]], str]
"""The name of a gate, from the observation that opens it."""


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


def as_seen(params: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """What a look at a run showed, as a trace keeps it: an observation that holds the answer."""
    return {**answer, "kind": INSPECT, **params}


def record_of(move: Move) -> Record:
    """The move as a record of a trace without answers, which `moves_of` reads back."""
    if move.method == CRASH_AND_RECOVER:
        return {"crash": dict(move.params)}
    turns = {} if move.turns is None else {"turns": move.turns}
    return {"stimulus": {"method": move.method, "params": {**_brief(move.method, move.params), **turns}}}


def _brief(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The params without the fields of a turn that grounding fills in."""
    if method == "deliver":
        parts = [{**part, "params": _brief(part["method"], part["params"])} for part in params["stimuli"]]
        return {**params, "stimuli": parts}
    outcome = params.get("outcome", {})
    if params.get("gate") != "model" or outcome.get("kind") != "turn":
        return dict(params)
    kept = {key: value for key, value in outcome.items() if key not in EMPTY_TURN or value != EMPTY_TURN[key]}
    return {**params, "outcome": kept}


def moves_of(trace: Trace, gate_name: GateName) -> Iterator[Move]:
    """The moves of a trace: its stimuli, with gates by the name under which they opened."""
    names: dict[str, str] = {}
    for record in trace.records:
        if "observation" in record and record["observation"].get("kind") == "gate.open":
            seen = record["observation"]
            names[seen["gate"]] = gate_name(seen)
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
