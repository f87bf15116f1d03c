"""Shrinks a witness: leaves out moves, calls, and parts of moves, as long as the same clause breaks.

The result is a schedule from which nothing can be left out.  Candidates are tried in a fixed order, so the
same violation gives the same witness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from runlock.conformance.driving.schedule_ids import (
    calls_of,
    deciding_known_calls,
    unknown_calls,
    without_call,
)
from runlock.conformance.trace.moves import Move

TRIES_MAX: Final = 2_000

StillBreaks = Callable[[Sequence[Move]], Sequence[Move] | None]
"""Runs moves; if the clause still breaks, returns those that were sent up to there, else None."""

BreaksIn = Callable[[Any, Sequence[Move]], Sequence[Move] | None]
"""The same in a given scenario."""

Bare = Callable[[Any, Sequence[Move]], Iterable[Any]]
"""(scenario, moves) -> simplified scenarios, each without one thing."""


def minimal(scenario: Any, moves: Sequence[Move], breaks_in: BreaksIn, bare: Bare) -> tuple[Any, list[Move]]:
    """The scenario and the schedule without everything that the violation does without."""
    shortest = shrink(moves, partial(breaks_in, scenario))
    for barer in bare(scenario, shortest):
        if breaks_in(barer, shortest) is not None:
            return minimal(barer, shortest, breaks_in, bare)
    return scenario, shortest


def shrink(moves: Sequence[Move], still_breaks: StillBreaks) -> list[Move]:
    """The shortest schedule that is reached by leaving out and simplifying."""
    shortest = list(moves)
    tries = 0
    improved = True
    while improved and tries < TRIES_MAX:
        improved = False
        for candidate in _smaller(shortest):
            tries += 1
            sent = still_breaks(candidate)
            if sent is not None and _size(sent) < _size(shortest):
                shortest = list(sent)
                improved = True
                break
            if tries >= TRIES_MAX:
                break
    return shortest


def _size(moves: Sequence[Move]) -> tuple[int, int, int, int, int]:
    """Order by number of moves, of calls, of decisions for unknown calls, of parts, and of characters."""
    parts, weight = sum(len(move.parts()) for move in moves), sum(_weight(move) for move in moves)
    return (len(moves), len(calls_of(moves)), unknown_calls(moves), parts, weight)


def _weight(move: Move) -> int:
    return len(str(move.params)) + (0 if move.turns is None else 5)


def _smaller(moves: Sequence[Move]) -> Iterator[list[Move]]:
    """Candidates, largest reductions first: without chunks, without single moves, without a call, and with
    simpler moves."""
    size = len(moves) // 2
    while size >= 1:
        for at in range(len(moves) - size, -1, -1):
            yield [*moves[:at], *moves[at + size :]]
        size //= 2
    for call in reversed(calls_of(moves)):
        yield without_call(moves, call)
    yield from deciding_known_calls(moves)
    for at in range(len(moves)):
        for simpler in _simpler(moves[at]):
            yield [*moves[:at], *simpler, *moves[at + 1 :]]


def _simpler(move: Move) -> Iterator[list[Move]]:
    if move.turns is not None:
        yield [replace(move, turns=None)]
    if move.method == "deliver":
        parts = move.parts()
        for at in range(len(parts)):
            yield [_race(parts[:at] + parts[at + 1 :], move.turns)]
    for params in _simpler_params(move.params):
        yield [replace(move, params=params)]


def _race(parts: Sequence[tuple[str, Any]], turns: int | None) -> Move:
    if len(parts) == 1:
        return Move(parts[0][0], parts[0][1], turns)
    return Move("deliver", {"stimuli": [{"method": name, "params": params} for name, params in parts]}, turns)


def _simpler_params(params: Any) -> Iterator[dict[str, Any]]:
    """Fewer calls in a turn, fewer decisions in a batch, simpler payloads."""
    if "outcome" in params and params["outcome"].get("tool_calls"):
        calls = params["outcome"]["tool_calls"]
        for at in range(len(calls)):
            yield {**params, "outcome": {**params["outcome"], "tool_calls": calls[:at] + calls[at + 1 :]}}
    decisions = params.get("decisions") or []
    for at, decision in enumerate(decisions):
        if len(decisions) > 1:
            yield {**params, "decisions": decisions[:at] + decisions[at + 1 :]}
        if decision.get("payload") is not None:
            plain = {key: value for key, value in decision.items() if key != "payload"}
            yield {**params, "decisions": [*decisions[:at], plain, *decisions[at + 1 :]]}
