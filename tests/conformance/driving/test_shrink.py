"""Shrinking: what is left out, in which order, and what is never lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from runlock.conformance.driving.shrink import TRIES_MAX, shrink
from runlock.conformance.trace.moves import Move, race

NEEDED = Move("cancel", {"run": "r1"})
ALSO = Move("run.start", {"run": "r1", "input": "hello"})


def advance(number: int) -> Move:
    """A move that nothing depends on."""
    return Move("clock.advance", {"ms": number})


def needs(*wanted: Any) -> Callable[[Sequence[Move]], Sequence[Move] | None]:
    """A clause that breaks if these moves are played, in this order."""

    def still_breaks(moves: Sequence[Move]) -> Sequence[Move] | None:
        left = iter(moves)
        return moves if all(any(move == one for move in left) for one in wanted) else None

    return still_breaks


def test_what_is_not_needed_is_left_out() -> None:
    """One move of twenty breaks the clause, and one is left."""
    moves = [*map(advance, range(10)), NEEDED, *map(advance, range(10))]

    assert shrink(moves, needs(NEEDED)) == [NEEDED]


def test_what_is_needed_is_kept_in_its_order() -> None:
    """Two moves that only together break it stay, and stay in order."""
    moves = [advance(1), ALSO, advance(2), advance(3), NEEDED, advance(4)]

    assert shrink(moves, needs(ALSO, NEEDED)) == [ALSO, NEEDED]


def test_a_schedule_that_cannot_be_shorter_is_left_as_it_is() -> None:
    """Each of its moves is needed."""
    assert shrink([ALSO, NEEDED], needs(ALSO, NEEDED)) == [ALSO, NEEDED]


def test_an_empty_schedule_stays_empty() -> None:
    """Nothing can be left out of nothing."""
    assert shrink([], lambda moves: moves) == []


def test_what_was_sent_counts_and_not_what_was_tried() -> None:
    """A play that breaks the clause early sends less than it was given."""
    moves = [NEEDED, *map(advance, range(6))]

    assert shrink(moves, lambda played: [NEEDED] if NEEDED in played else None) == [NEEDED]


def params(move: Move) -> Any:
    """What a move says, without its method."""
    return move.params


CALLS = [{"id": f"c{number}", "name": "read"} for number in (1, 2, 3)]
DECISIONS = [
    {"id": f"d{number}", "call": f"c{number}", "action": "resume", "payload": 3} for number in (1, 2)
]


@pytest.mark.parametrize(
    ("move", "is_needed", "left"),
    [
        (
            Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "tool_calls": CALLS}}),
            lambda one: any(call["id"] == "c2" for call in one.params["outcome"]["tool_calls"]),
            Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "tool_calls": [CALLS[1]]}}),
        ),
        (
            Move("decide", {"run": "r1", "decisions": DECISIONS}),
            lambda one: any(decision["id"] == "d2" for decision in one.params["decisions"]),
            Move("decide", {"run": "r1", "decisions": [{"id": "d2", "call": "c2", "action": "resume"}]}),
        ),
        (Move("cancel", {"run": "r1"}, turns=3), lambda one: one.method == "cancel", NEEDED),
        (race([ALSO, NEEDED, advance(1)]), lambda one: ("cancel", NEEDED.params) in one.parts(), NEEDED),
    ],
    ids=["calls of a turn", "decisions and payloads", "turns", "parts of a race"],
)
def test_a_move_is_made_simpler(move: Move, is_needed: Callable[[Move], bool], left: Move) -> None:
    """Parts that the violation does without are left out of a move that it needs."""

    def still_breaks(moves: Sequence[Move]) -> Sequence[Move] | None:
        return moves if any(map(is_needed, moves)) else None

    assert shrink([move], still_breaks) == [left]


def test_the_result_does_not_depend_on_chance() -> None:
    """The same violation gives the same witness, by the same tries."""
    moves = [*map(advance, range(7)), ALSO, *map(advance, range(7)), NEEDED]
    tried: list[list[Sequence[Move]]] = [[], []]
    for tries in tried:

        def still_breaks(
            played: Sequence[Move], tries: list[Sequence[Move]] = tries
        ) -> Sequence[Move] | None:
            tries.append(played)
            return needs(ALSO, NEEDED)(played)

        shrink(moves, still_breaks)

    assert tried[0] == tried[1]


def test_tries_are_bounded() -> None:
    """A schedule of which nothing can be left out costs no more than the bound."""
    moves = [advance(number) for number in range(3_000)]
    tries = 0

    def never(_: Sequence[Move]) -> None:
        nonlocal tries
        tries += 1

    assert shrink(moves, never) == moves
    assert tries == TRIES_MAX
