"""Moves become parameters for one runtime: gates by id, and only the parts that can be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from runlock.conformance.family.grounding import ground_by_name, with_parts
from runlock.conformance.family.state import OpenGate
from runlock.conformance.trace.moves import Move, race

OK = {"kind": "ok"}


@dataclass
class Gate:
    """An open gate."""

    id: str
    on: str
    ref: str


class State:
    """A state with two open gates."""

    gates = {
        "model": Gate("g1", "model", "model"),
        "tool:c1": Gate("g2", "tool", "tool:c1"),
    }

    def gate(self, ref: str) -> Gate | None:
        """The gate of that name or id."""
        return self.gates.get(ref) or next((gate for gate in self.gates.values() if gate.id == ref), None)


def release(gate: str, turns: int | None = None) -> Move:
    return Move("gate.release", {"gate": gate, "outcome": OK}, turns)


def ground(move: Move) -> dict[str, Any] | None:
    return ground_by_name(move, State())


def test_a_gate_is_found_by_its_name() -> None:
    """The turns of a move are among the parameters."""
    assert ground(release("tool:c1")) == {"gate": "g2", "outcome": OK}
    assert ground(release("model", turns=2)) == {"gate": "g1", "outcome": OK, "turns": 2}
    assert ground(release("tool:c9", turns=2)) is None


def test_a_move_without_a_gate_is_sent_as_it_is() -> None:
    """Its parameters are a copy."""
    params = {"run": "r1"}
    found = ground(Move("cancel", params))

    assert found == params
    assert found is not params


def test_a_race_is_sent_without_the_parts_whose_gate_is_not_open() -> None:
    """It is not sent at all if nothing is left, or if two parts are for one gate."""
    cancel = Move("cancel", {"run": "r1"})
    sent = {"method": "cancel", "params": {"run": "r1"}}

    assert ground(race([release("tool:c9"), cancel])) == {"stimuli": [sent]}
    assert ground(race([release("tool:c9")])) is None
    assert ground(race([release("model"), release("g1")])) is None
    assert ground(race([release("model"), release("tool:c1")])) == {
        "stimuli": [
            {"method": "gate.release", "params": {"gate": "g1", "outcome": OK}},
            {"method": "gate.release", "params": {"gate": "g2", "outcome": OK}},
        ]
    }


def test_an_outcome_is_filled_by_what_the_gate_is_on() -> None:
    """A family says what a schedule may leave out."""

    def whole(gate: OpenGate, outcome: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**outcome, "on": gate.on}

    found = ground_by_name(race([release("tool:c1")]), State(), whole)

    assert found is not None
    assert found["stimuli"][0]["params"]["outcome"] == {"kind": "ok", "on": "tool"}


def test_a_family_grounds_its_own_methods() -> None:
    """A method of a family that names a gate finds it in its own way, alone and in a race."""
    own = {"late": lambda params: {**params, "gate": "g0"} if params["gate"] == "old" else None}

    def found(move: Move) -> dict[str, Any] | None:
        return ground_by_name(move, State(), own=own)

    late, never = Move("late", {"gate": "old"}), Move("late", {"gate": "model"})
    assert found(late) == {"gate": "g0"}
    assert found(never) is None
    assert found(race([late, never])) == {"stimuli": [{"method": "late", "params": {"gate": "g0"}}]}


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_move_with_some_of_its_parts(count: int) -> None:
    """All parts: the same move; one part: a stimulus; none: no move.  The turns are kept."""
    parts = [Move("cancel", {"run": f"r{number}"}) for number in range(3)]
    whole = Move("deliver", race(parts).params, turns=4)
    expected = {
        0: None,
        1: Move("cancel", {"run": "r0"}, 4),
        2: Move("deliver", race(parts[:2]).params, 4),
        3: whole,
    }

    assert with_parts(whole, whole.parts()[:count]) == expected[count]
