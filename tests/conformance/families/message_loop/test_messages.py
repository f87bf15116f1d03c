"""The messages of the family: omitted fields and validation errors."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from runlock.conformance.families.message_loop.messages import (
    EVENTS,
    OUTCOMES_BY_GATE,
    SLOTS,
    STIMULI,
    Delta,
    Handshake,
    Report,
    Scenario,
    Turn,
)

PARTY = {"name": "a", "version": "1"}


def handshake(**fields: Any) -> Handshake:
    """A handshake with these fields."""
    return Handshake.model_validate({"implementation": PARTY, **fields})


def test_what_a_handshake_leaves_out_is_all_of_it() -> None:
    claimed = handshake()
    assert claimed.gates == ["model", "tool", "prompt"]
    assert (claimed.events, claimed.hooks, claimed.stimuli) == (list(EVENTS), list(SLOTS), list(STIMULI))
    assert claimed.outcomes.at("assert") == ["ok", "retry", "fail"]


@pytest.mark.parametrize(
    ("field", "word", "meant"),
    [
        ("gates", "modle", "model"),
        ("events", "SessionTurnBegin", "SessionTurn"),
        ("hooks", "TOOL_CALL.pre.gaurd", "TOOL_CALL.pre.guard"),
        ("modes", "allow-list", "allowlist"),
        ("stimuli", "interactor.goes", "interactor.gone"),
        ("turns", "chats", "chat"),
        ("bounds", "max_iteration", "max_iterations"),
        ("observes", "mesage", "message"),
    ],
)
def test_an_unknown_word_is_refused_with_the_nearest_one(field: str, word: str, meant: str) -> None:
    with pytest.raises(ValidationError) as caught:
        handshake(**{field: [word]})
    assert f"Input should be '{meant}" in str(caught.value)


def test_a_word_like_no_other_is_refused_with_all_known_ones() -> None:
    with pytest.raises(ValidationError) as caught:
        handshake(modes=["xyz"])
    assert "one of ask, allowlist, yolo" in str(caught.value)


def test_a_hook_is_held_where_it_was_declared() -> None:
    claimed = handshake(gates=["model", "tool", "hook"], hooks=["TOOL_CALL.pre.guard"])
    assert claimed.holds("TOOL_CALL.pre.guard")
    assert not claimed.holds("RENDER.pre.transform")
    assert not handshake().holds("TOOL_CALL.pre.guard")  # it has no hook gate


def test_a_scenario_without_a_bound_has_fifty() -> None:
    scenario = Scenario(scenario="s")
    assert scenario.bounds.max_iterations == 50
    assert scenario.in_full["bounds"] == {}


def test_a_model_gate_takes_pieces_and_whole_responses() -> None:
    taken = OUTCOMES_BY_GATE["model"].validate_python
    assert isinstance(taken({"kind": "delta", "text": "a"}), Delta)
    response = taken({"kind": "turn", "tool_calls": [{"id": "c1", "name": "t0", "args": '{"k": '}]})
    assert isinstance(response, Turn)
    assert response.tool_calls[0].is_malformed


def test_an_observation_of_another_kind_is_kept() -> None:
    report = Report.model_validate({"observations": [{"kind": "heartbeat", "run": "r1", "beats": 3}]})
    assert report.observations[0].to_wire() == {"kind": "heartbeat", "run": "r1", "beats": 3}
