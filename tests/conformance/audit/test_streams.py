"""What coding agents print or keep event by event: each form with its right verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from audited import audited, broken, put, summed, verdicts
from recorded_sessions import agent_of
from recorded_streams import HIDDEN, RIGHT, STARTED, WRONG, acts, completes, sees, starts, written

pytest.importorskip("duckdb", reason="the records of some formats are brought together by DuckDB")


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_stream_is_held(name: str, tmp_path: Path) -> None:
    """What the agent does every day breaks nothing."""
    records, held = RIGHT[name]
    found = audited(put(tmp_path / "a.log", written(records)))

    assert (broken(found), found.result.troubles, dict(found.unknown)) == ({}, [], {})
    assert {verdicts(found)[one] for one in held.split()} == {"held"}
    assert found.sources[0]["format"] == agent_of(name)


@pytest.mark.parametrize("name", RIGHT)
def test_a_stream_that_is_cut_gives_no_alarm(name: str, tmp_path: Path) -> None:
    """After each of its records."""
    records, _ = RIGHT[name]
    for length in range(1, len(records)):
        assert broken(audited(put(tmp_path / "a.log", written(records[:length])))) == {}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_stream_leaves_out_is_not_observable(name: str, tmp_path: Path) -> None:
    """Interrupted requests, and what a compaction kept."""
    records, clause = HIDDEN[name]
    found = audited(put(tmp_path / "a.log", written(records)))

    assert (broken(found), verdicts(found)[clause]) == ({}, "untested")


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_stream_is_broken(name: str, tmp_path: Path) -> None:
    """The clause that says what is wrong."""
    records, clause = WRONG[name]
    found = audited(put(tmp_path / "a.log", written(records)))

    assert (clause in broken(found), found.sources[0]["format"]) == (True, agent_of(name))


def test_events_in_files_of_their_own_are_one_thread(tmp_path: Path) -> None:
    """As the SDK of OpenHands keeps them, and as its server answers them."""
    events = [acts("r", "a"), sees("a"), sees("a")]
    for number, one in enumerate(events):
        (tmp_path / "kept" / "events").mkdir(parents=True, exist_ok=True)
        (tmp_path / "kept" / "events" / f"event-{number:05}-{one['id']}.json").write_text(json.dumps(one))
    (tmp_path / "page.json").write_text(json.dumps({"items": events, "next_page_id": None}))
    kept = audited(*sorted((tmp_path / "kept" / "events").iterdir()))

    assert (kept.threads, set(broken(kept))) == (1, {"ONCE-1"})
    assert set(broken(audited(tmp_path / "page.json"))) == {"ONCE-1"}


def test_an_observation_of_no_action_is_left_over(tmp_path: Path) -> None:
    """It is an error, as any record that nothing explains."""
    (error,) = summed(put(tmp_path / "a.jsonl", written([acts("r", "a"), sees("b")]))).errors
    assert "no turn asks for call b" in error


def test_each_run_of_a_command_is_a_thread(tmp_path: Path) -> None:
    """Its items are counted anew."""
    one = [STARTED, starts("i"), completes("i")]
    found = audited(put(tmp_path / "a.log", written(one * 2)))

    assert (found.threads, broken(found)) == (2, {})
