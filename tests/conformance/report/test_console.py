"""A report as a person reads it: pinned for one fixed result, in the width of two terminals."""

import io

import pytest
from sample_result import FILES, MOVES, RESULT

from runlock.conformance.families.lifecycle.wording import shown, step
from runlock.conformance.report.clause_names import ranges
from runlock.conformance.report.console import Page
from runlock.conformance.report.text import write_report
from runlock.conformance.text import plain
from runlock.conformance.trace.moves import Move, race


def reported(width):
    """The report in a terminal of that width, without colours."""
    stream = io.StringIO()
    write_report(RESULT, Page(stream, width), FILES, RESULT.target)
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_a_report_reads_well(width, equals_golden):
    """Headline, table, violation and verdict, within the width of the terminal."""
    equals_golden(f"report-{width}.txt", reported(width))


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
