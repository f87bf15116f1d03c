"""One record from its lines, with what the lines above said."""

from __future__ import annotations

import pytest

from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.trace.line_context import LineContext
from runlock.conformance.trace.parser import read
from runlock.conformance.trace.trace import Record
from runlock.conformance.trace.values import Malformed


def record(*lines: str, run: str | None = None, gates: dict[str, str] | None = None) -> Record:
    """The record in these lines, where that run and these gates are known."""
    return read(lines, LineContext(LINE_FORMATS, run, gates or {}), {"store": {"a": 1}})


@pytest.mark.parametrize(
    ("line", "params"),
    [
        ("start r2 hello", {"run": "r2", "input": "hello"}),
        ("cancel", {"run": "r1"}),
        ("cancel run=r0", {"run": "r0"}),
        ("cancel -run", {}),
        ("watch w1 +odd=1", {"watcher": "w1", "odd": 1, "run": "r1"}),
        ("recover store=@store", {"store": {"a": 1}, "run": "r1"}),
        ("release tool:c1 ok done", {"gate": "g2", "outcome": {"kind": "ok", "content": "done"}}),
        ('release "tool:c1" ok', {"gate": "tool:c1", "outcome": {"kind": "ok"}}),
        ("release g9 pending turns=2", {"gate": "g9", "outcome": {"kind": "pending"}, "turns": 2}),
        (
            'release model turn c1:t0 "c2:t1"',
            {
                "gate": "model",
                "outcome": {
                    "kind": "turn",
                    "text": "c2:t1",
                    "tool_calls": [{"id": "c1", "name": "t0", "args": {"k": "c1"}}],
                },
            },
        ),
        (
            "decide d1 resume c1 payload=false; d2 cancel c2 turns=1",
            {
                "run": "r1",
                "turns": 1,
                "decisions": [
                    {"id": "d1", "action": "resume", "call": "c1", "payload": False},
                    {"id": "d2", "action": "cancel", "call": "c2"},
                ],
            },
        ),
    ],
)  # fmt: skip
def test_a_stimulus(line: str, params: dict[str, object]) -> None:
    """Values by position, fields by name, the newest run where none is named, gates by name."""
    assert record(line, run="r1", gates={"g2": "tool:c1"})["stimulus"]["params"] == params


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("run.status -> Running", {"from": None, "to": "Running", "reason": None}),
        ("run.status -from -> Running -reason", {"to": "Running"}),
        (
            "run.status Running -> Done reason=Error",
            {"from": "Running", "to": "Done", "reason": {"code": "Error", "detail": None}},
        ),
        ('run.status -> Done reason="Error"', {"from": None, "to": "Done", "reason": "Error"}),
        (
            "gate.open g1 tool:c1 read",
            {"gate": "g1", "on": "tool", "name": "read", "args": {"k": "c1"}, "resume": None, "call": "c1"},
        ),
        ("gate.open g1 model", {"gate": "g1", "on": "model"}),
        ("message user hi", {"message": {"role": "user", "text": "hi"}}),
        ("message message=3", {"message": 3}),
        ("unlisted acme a=1", {"kind": "acme", "a": 1}),
    ],
)
def test_an_observation(line: str, seen: dict[str, object]) -> None:
    """A change has an arrow, a gate may be named with its call, a message has its fields in the line."""
    assert record(line)["observation"] == {"kind": line.split(maxsplit=1)[0], **seen}


def test_a_scenario_and_its_members() -> None:
    """Each indented line adds to the list that its word stands for."""
    lines = ("scenario s", "  tool a ask", "  stop timeout seconds=3", "  tool b", "  hold x y", "  hold z")

    assert record(*lines)["scenario"] == {
        "scenario": "s",
        "tools": [{"name": "a", "permission": "ask"}, {"name": "b"}],
        "agent": {"stop": [{"kind": "timeout", "seconds": 3}]},
        "hold": ["x", "y", "z"],
    }


def test_a_report() -> None:
    """No line is the report of a quiescent runtime that refused nothing."""
    assert record() == {"report": {"quiescent": True, "refused": []}}
    assert record("refused late decision=d1", "report quiescent=false") == {
        "report": {"quiescent": False, "refused": [{"why": "late", "decision": "d1", "stimulus": 0}]}
    }


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("scenario s agent=3", "  stop timeout"), "`agent.stop` is given, and is no list."),
        (
            ("scenario s", "  tool a; b"),
            "A semicolon stands in `tool`. Only decisions are",
        ),
        (("refused a; b",), "A semicolon stands in `refused`."),
        (("decide ; d1 resume c1",), "A decision is missing at a semicolon."),
        (("race", "  race"), "`race` is no stimulus of a race."),
        (("race", "  gate.release"), "Did you mean `release`?"),
        (("release 1 2",), "2 is no kind of outcome."),
        (("fly",), "`fly` is no word."),
    ],
)
def test_what_no_record_can_be_read_from(lines: tuple[str, ...], says: str) -> None:
    """A line that would lose something is not read."""
    with pytest.raises(Malformed) as caught:
        record(*lines)

    assert says in str(caught.value)
