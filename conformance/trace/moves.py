"""A move: one stimulus in the kit's own words, which hold for any runtime that can take it.

A move names a gate by what waits there (`model`, `tool:c1`), never by the id that a runtime gave it, so
that a schedule found on one runtime can be replayed on another, shrunk, and written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.trace.trace import Trace

CRASH_AND_RECOVER: Final = "crash"
INSPECT: Final = "inspect"


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


def moves_of(trace: Trace, gate_name: Callable[[Mapping[str, Any]], str]) -> Iterator[Move]:
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
