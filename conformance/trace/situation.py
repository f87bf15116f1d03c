"""The class of a schedule: what happened in it besides tools and models that answer as they were asked.

Two witnesses are of one class if the same kinds of things happened to the runtime: a cancel, an approval, a
tool that fails.  How often, in which order and to which call makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from runlock.conformance.trace.moves import INSPECT, Move

ORDINARY: Final = frozenset({"turn", "ok", "allow"})
"""How a gate is released where nothing unusual happens."""

UNREMARKABLE: Final = frozenset({"run.start", "settle", INSPECT})
"""Stimuli that every schedule may have."""


def situation(moves: Iterable[Move]) -> frozenset[str]:
    """What happened in a schedule, as in `cancel`, `decide resume` and `tool raise`."""
    parts = (part for move in moves for part in move.parts())
    return frozenset(word for method, params in parts for word in _words(method, params))


def _words(method: str, params: Mapping[str, Any]) -> Iterator[str]:
    if method == "gate.release":
        kind = params.get("outcome", {}).get("kind", "")
        gate = str(params.get("gate", "")).partition(":")[0]
        yield from [] if kind in ORDINARY else [f"{gate} {kind}"]
    elif decisions := params.get("decisions"):
        yield from (f"{method} {one.get('action', '')}".strip() for one in decisions)
    elif method not in UNREMARKABLE:
        yield method
