"""Ids in schedules: a call is left out everywhere, and what is left counts from 1."""

from __future__ import annotations

from typing import Any

from runlock.conformance.driving.schedule_ids import (
    calls_of,
    deciding_known_calls,
    highest_ids,
    renumbered,
    unknown_calls,
    without_call,
)
from runlock.conformance.driving.shrink import shrink
from runlock.conformance.trace.moves import Move, race

START = Move("run.start", {"run": "r3", "input": "c2: what of c2?"})


def turn(*calls: str) -> Move:
    """A turn of the model that asks for these calls."""
    asked = [{"id": call, "name": "read", "args": {"k": call}} for call in calls]
    return Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "tool_calls": asked}})


def tool(call: str) -> Move:
    """The result of a call."""
    return Move("gate.release", {"gate": f"tool:{call}", "outcome": {"kind": "ok", "content": call}})


def decide(*calls: str, first: int = 1) -> Move:
    """A batch of decisions for these calls."""
    decisions = [
        {"id": f"d{number}", "call": call, "action": "resume"} for number, call in enumerate(calls, first)
    ]
    return Move("decide", {"run": "r3", "decisions": decisions})


def test_a_call_is_left_out_of_turns_batches_races_and_gates() -> None:
    """Nothing of the schedule speaks of the call any more."""
    moves = [START, turn("c1", "c2"), decide("c1", "c2"), race([tool("c1"), tool("c2")]), decide("c1")]
    left = without_call(moves, "c1")

    assert left == [START, turn("c2"), Move("decide", {"run": "r3", "decisions": [_decision()]}), tool("c2")]
    assert calls_of(left) == ["c2"]


def _decision() -> dict[str, Any]:
    return {"id": "d2", "call": "c2", "action": "resume"}


def test_ids_count_from_one_in_the_order_in_which_they_appear() -> None:
    """Runs, calls and decisions, in gates and arguments too; a text that only mentions an id is kept."""
    moves = [START, turn("c7", "c5"), decide("c5", first=9), tool("c5")]
    start, asked, decided, answered = renumbered(moves)

    assert start.params == {"run": "r1", "input": "c2: what of c2?"}
    assert asked == turn("c1", "c2")
    assert decided.params == {"run": "r1", "decisions": [{"id": "d1", "call": "c2", "action": "resume"}]}
    assert answered == tool("c2")


def test_an_id_with_a_meaning_keeps_its_name() -> None:
    """The id of an unknown call is kept; decisions are numbered, also those of the kit itself."""
    drained = Move("decide", {"run": "r3", "decisions": [{"id": "end3-c1", "call": "nobody"}]})

    assert renumbered([drained])[0].params["decisions"] == [{"id": "d1", "call": "nobody"}]


def test_a_decision_for_an_unknown_call_is_made_one_for_a_known_call() -> None:
    """In a batch and in a race too."""
    moves = [turn("c1"), race([decide("c1", "nobody"), tool("c1")])]
    (changed,) = deciding_known_calls(moves)

    assert (unknown_calls(moves), unknown_calls(changed)) == (1, 0)
    assert changed[1].parts()[0][1]["decisions"][1]["call"] == "c1"


def test_a_violation_that_takes_one_call_is_shown_with_one() -> None:
    """Three calls in one turn, of which the violation needs any one and its decision."""

    def still_breaks(moves: Any) -> Any:
        decided = {one["call"] for move in moves for one in move.params.get("decisions", ())}
        return moves if decided & set(calls_of(moves)) else None

    moves = [START, turn("c1", "c2", "c3"), decide("c1"), decide("c2"), tool("c1"), tool("c3"), decide("c4")]
    shortest = shrink(moves, still_breaks)

    assert (len(shortest), len(calls_of(shortest)), unknown_calls(shortest)) == (2, 1, 0)


def test_a_decision_for_an_unknown_call_stays_where_it_is_the_point() -> None:
    """No candidate without it breaks the clause."""

    def still_breaks(moves: Any) -> Any:
        return moves if unknown_calls(moves) else None

    assert shrink([START, turn("c1"), decide("nobody")], still_breaks) == [decide("nobody")]


def test_the_highest_number_of_each_prefix_is_found() -> None:
    """Also inside of races and of names of gates, so that new ids go on from there."""
    moves = [
        Move("gate.release", {"gate": "tool:c10"}),
        race([Move("cancel", {"run": "r2"}), Move("unwatch", {"watcher": "w1"})]),
        Move("run.start", {"run": "r1"}),
    ]

    assert highest_ids(moves) == {"c": 10, "r": 2, "w": 1}
