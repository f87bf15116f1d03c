"""The failures of the last run of a target are replayed before anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import run

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import Bench
from runlock.conformance.protocol import Scenario
from runlock.conformance.report.result_folder import RESULT, failures_of_last_run
from runlock.conformance.trace.moves import Move

TARGET = "py:cli_fakes:ExecutesRejected"
RIGHT = "py:cli_fakes:Tiny"
ASKED = {"kind": "turn", "text": "", "tool_calls": [{"id": "c1", "name": "asking", "args": {"k": "c1"}}]}
MOVES = (
    Move("run.start", {"run": "r1", "input": "hello"}),
    Move("gate.release", {"gate": "model", "outcome": ASKED}),
    Move("decide", {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "cancel"}]}),
)


@pytest.fixture
def last(tmp_path: Path) -> Path:
    """The folder of a run in which the target executed a rejected call."""
    bench = Bench(resolve(TARGET).open)
    raw: dict[str, Any] = {"scenario": "s", "tools": [{"name": "asking", "permission": "ask"}]}
    scenario: Scenario = bench.family.vocabulary.scenario.model_validate(raw)
    session = bench.session(scenario)
    session.play(MOVES)
    session.close()
    bench.close()
    (tmp_path / "GATE-2.jsonl").write_text(session.trace.to_jsonl(), "utf-8")
    result = {"target": TARGET, "violations": [{"clause": "GATE-2"}]}
    (tmp_path / RESULT).write_text(json.dumps(result), "utf-8")
    return tmp_path


@pytest.mark.long
def test_the_failure_is_the_first_schedule(capsys, last):
    """With `-x` nothing else is played, and the report says so in one line."""
    ran = run(capsys, "check", TARGET, "-x", "--jobs", 1, "-o", last)
    stored = json.loads((last / RESULT).read_text("utf-8"))

    assert ran.code == 1
    assert "replayed first  1 failure of the last run" in ran.out
    assert (stored["schedules"], [one["clause"] for one in stored["violations"]]) == (1, ["GATE-2"])


def test_only_the_failures_of_the_same_target_are_replayed(last):
    """Another target in the same folder starts afresh."""
    assert len(failures_of_last_run(last, TARGET)) == 1
    assert failures_of_last_run(last, RIGHT) == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (RESULT, '{"target": "py:cli_fakes:Exec'),
        (RESULT, "[]"),
        (RESULT, '{"target": "py:cli_fakes:ExecutesRejected", "violations": 3}'),
        ("GATE-2.jsonl", '{"scenario": '),
    ],
    ids=["cut in the middle", "another file", "no violations", "a trace that is cut"],
)
def test_what_cannot_be_read_is_not_replayed(last, name, text):
    """A run that was killed may leave half a file, which stops no later run."""
    (last / name).write_text(text, "utf-8")

    assert failures_of_last_run(last, TARGET) == ()
