"""Sessions of coding agents: each form that an agent keeps, with its right verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from audited import audited, broken, put, summed, verdicts
from recorded_sessions import (
    ACTIONS_RIGHT,
    ACTIONS_WRONG,
    DONE,
    HIDDEN,
    RIGHT,
    TOLD,
    WRONG,
    agent_of,
    chat,
    gemini,
    person,
    sees,
    whole,
)

PAIRS = ("PAIR-1", "PAIR-2", "PAIR-3")


def exported(events: list[Any]) -> str:
    """A trajectory as the server gives it."""
    return json.dumps({"trajectory": events}, indent=1)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_session_is_held(name: str, tmp_path: Path) -> None:
    """What the agent does every day breaks nothing."""
    found = audited(put(tmp_path / "a.session", whole(RIGHT[name])))

    assert (broken(found), found.result.troubles, dict(found.unknown)) == ({}, [], {})
    assert {verdicts(found)[one] for one in PAIRS} == {"held"}
    assert found.sources[0]["format"] == agent_of(name)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_session_is_broken(name: str, tmp_path: Path) -> None:
    """Open calls, orphans, two results, and one id for two calls."""
    records, clause = WRONG[name]
    found = audited(put(tmp_path / "a.session", whole(records)))

    assert (clause in broken(found), found.sources[0]["format"]) == (True, agent_of(name))


@pytest.mark.parametrize("name", HIDDEN)
def test_what_the_agent_fills_in_is_not_observable(name: str, tmp_path: Path) -> None:
    """Codex answers function calls without an output itself, and an old one does not say what stayed."""
    records, clause = HIDDEN[name]
    found = audited(put(tmp_path / "a.session", whole(records)))

    assert (broken(found), verdicts(found)[clause]) == ({}, "untested")


@pytest.mark.parametrize("name", ACTIONS_RIGHT)
@pytest.mark.parametrize("form", [json.dumps, whole, exported])
def test_right_actions_are_held(name: str, form: Callable[[list[Any]], str], tmp_path: Path) -> None:
    """A trajectory of OpenHands in each of its forms."""
    found = audited(put(tmp_path / "a.json", form(ACTIONS_RIGHT[name])))

    assert (broken(found), found.result.troubles, found.sources[0]["format"]) == ({}, [], "openhands")
    assert verdicts(found)["CALL-23"] == "held"


@pytest.mark.parametrize("name", ACTIONS_WRONG)
def test_wrong_actions_are_broken(name: str, tmp_path: Path) -> None:
    """A call that runs again, and a call of another tool."""
    records, clause = ACTIONS_WRONG[name]
    assert clause in broken(audited(put(tmp_path / "a.json", json.dumps(records))))


def test_an_observation_of_no_action_is_left_over(tmp_path: Path) -> None:
    """It is an error, as any record that nothing explains."""
    (error,) = summed(put(tmp_path / "a.json", json.dumps([TOLD, sees("r1", "a"), DONE]))).errors
    assert "no turn asks for call a" in error


def test_a_chat_over_many_lines_is_one_session(tmp_path: Path) -> None:
    """As older versions of gemini-cli write it."""
    file = put(tmp_path / "session-1.json", json.dumps(*chat(person(1), gemini(2)), indent=2))

    assert audited(file).threads == 1
