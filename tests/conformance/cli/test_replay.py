"""`runlock replay`: the steps of a trace, on whatever runtime, with what it does now."""

import json
import re

import pytest
from command_line import run
from places import GOLDEN as GOLDEN_FILES

GOLDEN = GOLDEN_FILES / "replay.txt"
TOY = "py:cli_fakes:ExecutesRejected"
RIGHT = "py:cli_fakes:Tiny"

HANDSHAKE = {"implementation": {"name": "tiny", "version": "1.0"}, "control": {"settle": "exact"}}
RECORDS = [
    {"handshake": HANDSHAKE},
    {"scenario": {"scenario": "s", "tools": [{"name": "asking", "permission": "ask"}]}},
    {"stimulus": {"method": "run.start", "params": {"run": "r1", "input": "hello"}}},
    {"observation": {"kind": "gate.open", "run": "r1", "gate": "g1", "on": "model", "step": 1}},
    {"report": {"quiescent": True, "refused": []}},
    {
        "stimulus": {
            "method": "gate.release",
            "params": {
                "gate": "g1",
                "outcome": {
                    "kind": "turn",
                    "tool_calls": [{"id": "c1", "name": "asking", "args": {"k": "c1"}}],
                },
            },
        }
    },
    {
        "observation": {
            "kind": "run.finished", "run": "r1", "reason": {"code": "Suspended"}, "pending": ["c1"],
        }
    },
    {"report": {"quiescent": True, "refused": []}},
    {
        "stimulus": {
            "method": "decide",
            "params": {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "cancel"}]},
        }
    },
    {
        "observation": {
            "kind": "gate.open", "run": "r1", "gate": "g2", "on": "tool", "call": "c1", "name": "asking",
            "args": {"k": "c1"},
        }
    },
    {"report": {"quiescent": True, "refused": []}},
    {
        "stimulus": {
            "method": "gate.release",
            "params": {"gate": "g2", "outcome": {"kind": "ok", "content": "done"}},
        }
    },
    {"report": {"quiescent": True, "refused": []}},
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a trace in which a rejected call ran."""
    (tmp_path / "rejected.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_replay_reads_like_a_story(capsys, equals_golden):
    """Each step with what it led to, the timeline, the verdict, and whether the recording breaks the same."""
    ran = run(capsys, "replay", "rejected.jsonl", TOY)

    assert ran.code == 1
    equals_golden(GOLDEN, ran.out)


def test_a_runtime_that_does_better_is_told_so(capsys):
    """A trace that broke a clause once, and no more: exit 0, and what has no occasion here is left out."""
    ran = run(capsys, "replay", "rejected.jsonl", RIGHT)

    assert ran.code == 0
    assert "left out: what it names does not wait here" in ran.out
    assert (
        "the recording breaks GATE-2, which did not break now; 1 of its steps had no occasion here" in ran.out
    )


def test_a_recorded_verdict_is_shown_first(capsys, folder):
    """A reader of the file sees what it was recorded for, also if judging it again does not show that."""
    verdict = {"clause": "RUN-34", "because": "no value explains it"}
    records = [*RECORDS, {"end": {"leaks": [], "verdict": verdict}}]
    (folder / "kept.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    replayed = run(capsys, "replay", "kept.jsonl", RIGHT)
    judged = run(capsys, "check", "trace:kept.jsonl")

    assert replayed.out.startswith("recorded: RUN-34: no value explains it\n")
    assert "the recording breaks RUN-34, which did not break now" in replayed.out
    assert "warning: the file was recorded for this: RUN-34: no value explains it" in judged.out


def test_a_machine_reads_one_json_object(capsys):
    """With --json a replay is one object, each step with the observations that it led to."""
    ran = run(capsys, "replay", "rejected.jsonl", TOY, "--json")

    assert (ran.code, ran.err) == (1, "")
    assert {key: ran.json[key] for key in ("schema", "verdict", "clause", "recorded")} == {
        "schema": 1,
        "verdict": "broken",
        "clause": "GATE-2",
        "recorded": "GATE-2",
    }
    assert [step["method"] for step in ran.json["steps"]] == ["run.start", "gate.release", "decide"]
    assert ran.json["steps"][2]["observations"][0]["kind"] == "gate.open"


class Enters:
    """A keyboard at a terminal on which someone presses Enter."""

    def __init__(self):
        self.lines = 0

    def isatty(self):
        return True

    def readline(self):
        self.lines += 1
        return "\n"


def test_a_stepped_replay_waits_at_a_terminal(capsys, monkeypatch):
    """With --step each stimulus waits for Enter."""
    keyboard = Enters()
    monkeypatch.setattr("sys.stdin", keyboard)
    ran = run(capsys, "replay", "rejected.jsonl", TOY, "--step")

    assert keyboard.lines == len(re.findall(r"Enter for the next step", ran.err)) == 3


def test_a_stepped_replay_without_a_terminal_goes_on(capsys):
    """Where no one can press Enter, --step waits for no one."""
    plain = run(capsys, "replay", "rejected.jsonl", TOY)

    assert run(capsys, "replay", "rejected.jsonl", TOY, "--step").out == plain.out


def test_a_trace_without_a_handshake_can_be_replayed(capsys, folder):
    """Steps written by hand need no runtime that they were recorded on."""
    (folder / "by_hand.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS[1:]))
    ran = run(capsys, "replay", "by_hand.jsonl", TOY)

    assert ran.code == 1
    assert "the file holds steps alone, and nothing to compare with" in ran.out


def test_nothing_played_is_nothing_decided(capsys, folder):
    """A trace without a step exercises nothing: exit 3."""
    (folder / "still.jsonl").write_text(json.dumps(RECORDS[1]) + "\n")

    assert run(capsys, "replay", "still.jsonl", RIGHT).code == 3


def test_a_scenario_file_is_replayed(capsys, tmp_path):
    """What a person wrote by hand is sent as a recorded trace is; a slip in it is reported by its line."""
    scenario = tmp_path / "wait.scenario"
    scenario.write_text("scenario wait\n  tool read ask\n\nstart r1 hello\n\nrelease model turn c1:read\n")
    held = run(capsys, "replay", scenario, "reference")
    assert (held.code, held.err) == (0, "")

    scenario.write_text("scenario wait\n  tool read\n\nstrat r1 hello\n")
    slipped = run(capsys, "replay", scenario, "reference")
    assert slipped.code == 2
    assert slipped.err.startswith(f"runlock: {scenario}:4: ")
    assert "start" in slipped.err
