"""A report as a person reads it: pinned for one fixed result, in the width of two terminals."""

import io
from pathlib import Path

import pytest

from runlock.conformance.covered import ChartCoverage
from runlock.conformance.moves import Move, race
from runlock.conformance.oracle import CALLS, RUNS
from runlock.conformance.report.clauses import ranges
from runlock.conformance.report.page import Page
from runlock.conformance.report.text import write_report
from runlock.conformance.result import ClauseVerdict, Result, Toured, Trouble, Witness
from runlock.conformance.trace import Trace
from runlock.conformance.wording import plain, shown, step

GOLDEN = Path(__file__).parent.parent / "golden"

TRACE = Trace(
    [
        {"handshake": {"implementation": {"name": "acme-runtime", "version": "2.1"}}},
        {"scenario": {"scenario": "s", "tools": [{"name": "asking", "permission": "ask"}]}},
        {"stimulus": {"method": "run.start", "params": {"run": "r1", "input": "hello"}}},
        {"observation": {"kind": "run.status", "run": "r1", "from": None, "to": "Running"}},
        {"observation": {"kind": "gate.open", "run": "r1", "gate": "g1", "on": "model", "step": 1}},
        {"report": {"quiescent": True, "refused": []}},
        {
            "stimulus": {
                "method": "gate.release",
                "params": {
                    "gate": "g1",
                    "outcome": {
                        "kind": "turn",
                        "tool_calls": [{"id": "c1", "name": "asking"}, {"id": "c2", "name": "asking"}],
                    },
                },
            }
        },
        {"observation": {"kind": "call.status", "run": "r1", "call": "c1", "from": None, "to": "Suspended"}},
        {"observation": {"kind": "call.status", "run": "r1", "call": "c2", "from": None, "to": "Suspended"}},
        {"observation": {"kind": "run.status", "run": "r1", "from": "Running", "to": "Waiting"}},
        {"report": {"quiescent": True, "refused": []}},
        {
            "stimulus": {
                "method": "decide",
                "params": {
                    "run": "r1",
                    "decisions": [{"id": "d1", "call": "c1", "action": "resume", "payload": False}],
                },
            }
        },
        {
            "observation": {
                "kind": "call.status", "run": "r1", "call": "c2", "from": "Suspended", "to": "Resuming",
            }
        },
        {"observation": {"kind": "gate.open", "run": "r1", "gate": "g2", "on": "tool", "call": "c2"}},
        {"report": {"quiescent": True, "refused": [{"why": "a \x1b[31mred\x1b[0m reason"}]}},
    ]
)  # fmt: skip

MOVES = (
    Move("run.start", {"run": "r1", "input": "hello"}),
    Move(
        "gate.release",
        {
            "gate": "model",
            "outcome": {
                "kind": "turn",
                "tool_calls": [{"id": "c1", "name": "asking"}, {"id": "c2", "name": "asking"}],
            },
        },
    ),
    Move(
        "decide",
        {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "resume", "payload": False}]},
    ),
)

RESULT = Result(
    target="cmd:./acme-adapter --fast",
    implementation={"name": "acme-runtime", "version": "2.1"},
    profile="awaken-8",
    policies={},
    spec="1.0",
    budget={"examples": 100},
    schedules=100,
    stimuli=812,
    partial="its time was over",
    clauses=[
        ClauseVerdict("CALL-1", "MUST", "held", "", 212),
        ClauseVerdict("CALL-2", "MUST", "held", "", 4),
        ClauseVerdict("CALL-3", "MUST", "held", "", 1),
        ClauseVerdict("CALL-5", "MUST", "held", "", 9),
        ClauseVerdict("CALL-9", "MAY", "untested", "no schedule reached it"),
        ClauseVerdict("CALL-24", "MUST", "untested", "no schedule reached it"),
        ClauseVerdict("DECIDE-5", "MUST", "broken", "decision d1 names call c1, yet call c2 moved", 3),
        ClauseVerdict("DECIDE-6", "MUST", "untested", "its decisions have no payload", 0, False),
        ClauseVerdict("RUN-11", "MUST", "not-applicable", "the policy run.created is no"),
    ],
    witnesses=[Witness("DECIDE-5", "decision d1 names call c1, yet call c2 moved", MOVES, TRACE)],
    troubles=[
        Trouble("adapter", "The answer to decide does not fit the protocol: kind is \"\\u001b\"."),
        Trouble("SUT", "The runtime did not answer decide within 10 s."),
        Trouble("SUT", "The runtime did not answer decide within 10 s."),
    ],
    coverage=[
        ChartCoverage(
            "Run",
            {row: 3 * (row.event != "stopped") for row in RUNS.rows},
            {(RUNS.rows[0], row): number for number, row in enumerate(RUNS.rows) if row.source == "Waiting"},
            {("Done", "cancel"): 4},
            derived=True,
        ),
        ChartCoverage(
            "ToolCall",
            {row: 9 for row in CALLS.rows},
            {},
            {(state, "decide resume"): 0 for state in CALLS.states},
        ),
        ChartCoverage("ResumeToolCall", {}, {}, {}, 14, why="the runtime does not show resume"),
    ],
    tours=[Toured("Run", ("RUN-1", "RUN-2"), 3, 2), Toured("Run", ("RUN-1", "RUN-18"), 3, 0)],
)  # fmt: skip

FILES = {"DECIDE-5": Path("runlock-results/DECIDE-5.jsonl"), "trouble-2": Path("runlock-results/t.jsonl")}


def reported(width):
    """The report in a terminal of that width, without colours."""
    stream = io.StringIO()
    write_report(RESULT, Page(stream, width), FILES, RESULT.target)
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_a_report_reads_well(width, rewrites):
    """Headline, table, violation and verdict, within the width of the terminal."""
    text = reported(width)
    golden = GOLDEN / f"report-{width}.txt"
    if rewrites:
        golden.write_text(text)

    assert text == golden.read_text()


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_passes_the_edge(width):
    """Only a command, which is there to be copied, may be wider than the terminal."""
    lines = [line for line in reported(width).splitlines() if "runlock replay" not in line]

    assert not [line for line in lines if len(line) > width]
    assert not [line for line in lines if line != line.rstrip()]


DECISION = {"id": "d1", "call": "c1", "action": "resume"}


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (Move("run.start", {"run": "r1", "input": "hello"}), 'start r1 "hello"'),
        (
            Move("run.start", {"run": "r2", "input": "hi", "decisions": [DECISION]}),
            'start r2 "hi", decide c1 resume (d1)',
        ),
        (Move("run.input", {"run": "r1", "input": "stop"}), 'input r1 "stop"'),
        (Move("decide", {"run": "r1", "decisions": [DECISION]}), "decide c1 resume (d1)"),
        (Move("decide", {"run": "r1", "decisions": []}), "decide nothing"),
        (
            Move("decide", {"run": "r1", "decisions": [{**DECISION, "payload": False, "suspension": 1}]}),
            "decide c1 resume with false (d1, its suspension 1)",
        ),
        (Move("cancel", {"run": "r1"}), "cancel r1"),
        (Move("clock.advance", {"ms": 30_000}), "30000 ms pass"),
        (Move("settle", {}, 0), "settle (at most 0 turns)"),
        (Move("cancel", {"run": "r1"}, 1), "cancel r1 (at most 1 turn)"),
        (Move("crash", {}), "crash and recover"),
        (MOVES[1], "model asks c1 asking, c2 asking"),
        (
            Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "text": "bye"}}),
            'model ends "bye"',
        ),
        (Move("gate.release", {"gate": "model", "outcome": {"kind": "fault"}}), "model breaks"),
        (Move("gate.release", {"gate": "tool:c1", "outcome": {"kind": "ok"}}), "tool c1 answers ok"),
        (Move("gate.release", {"gate": "tool:c1", "outcome": {"kind": "raise"}}), "tool c1 throws"),
        (Move("gate.release", {"gate": "tool:c1", "outcome": {"kind": "fault"}}), "tool c1 cannot be run"),
        (
            Move("gate.release", {"gate": "tool:c1", "outcome": {"kind": "pending"}}),
            "tool c1 answers pending",
        ),
        (
            Move("gate.release", {"gate": "permission:c1", "outcome": {"kind": "block"}}),
            "permission blocks c1",
        ),
        (
            Move("gate.release", {"gate": "permission:c1", "outcome": {"kind": "fault"}}),
            "permission breaks at c1",
        ),
        (Move("gate.release", {"gate": "store.put", "outcome": {"kind": "ok"}}), "store takes it"),
        (Move("gate.release", {"gate": "store.put", "outcome": {"kind": "fault"}}), "store breaks"),
        (Move("gate.release", {"gate": "mail:c1", "outcome": {"kind": "ok"}}), "mail c1 answers ok"),
        (
            race([Move("cancel", {"run": "r1"}), Move("decide", {"run": "r1", "decisions": [DECISION]})]),
            "race: cancel r1 | decide c1 resume (d1)",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_step_has_words(move, words):
    """A schedule can be read aloud."""
    assert step(move) == words


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ({"kind": "gate.open", "on": "permission", "call": "c1"}, "permission for c1 is asked"),
        ({"kind": "gate.open", "on": "tool", "call": "c1", "attempt": 2}, "tool c1 is entered (attempt 2)"),
        ({"kind": "gate.open", "on": "store.put", "trigger": "StepEnd"}, "StepEnd waits for the store"),
        ({"kind": "gate.open", "on": "mail"}, "a mail gate opens"),
        ({"kind": "gate.closed", "gate": "g1"}, "gate g1 is given up"),
        ({"kind": "decision", "decision": "d1", "disposition": "ignored"}, "decision d1 is ignored"),
        (
            {"kind": "run.finished", "reason": {"code": "NaturalEnd"}},
            "the segment ends: NaturalEnd",
        ),
        ({"kind": "run.finished", "reason": 3}, 'run.finished {"reason": 3}'),
        ({"kind": "acme.says", "text": "hi"}, 'acme.says {"text": "hi"}'),
        ({}, "None {}"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_observation_has_words(seen, words):
    """What a runtime shows can be read aloud too, also what fits no protocol."""
    assert shown(seen) == words


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\tb\nc", "a b c"),
        ("\u202egnirts", "\\u202egnirts"),
        ("\ud800", "\\ud800"),
        ("ünïcode 🙂", "ünïcode 🙂"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
    ],
)
def test_what_cannot_be_seen_is_shown_by_its_code(text, safe):
    """No text of a runtime reaches a terminal as anything but text."""
    assert plain(text) == safe


def test_numbers_of_clauses_are_shown_as_ranges():
    """Neighbours are one range."""
    assert ranges(["CALL-7", "CALL-1", "CALL-2", "CALL-3", "CALL-10"]) == "1-3, 7, 10"
