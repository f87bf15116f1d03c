"""One record from the lines that say it: what goes without saying, and what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from runlock.conformance.trace.line_formats import Known
from runlock.conformance.trace.parser import read
from runlock.conformance.trace.values import Malformed


def known() -> Known:
    """A file that has begun run r1 and opened two gates."""
    return Known(run="r1", gates={"g1": "model", "g2": "tool:c1"})


def record(text: str) -> dict[str, Any]:
    """The record that these lines say there."""
    return read(text.splitlines(), known(), {"state1": {"run": "r1"}})


@pytest.mark.parametrize(
    ("text", "method", "params"),
    [
        ('start r2 "write it"', "run.start", {"run": "r2", "input": "write it"}),
        ("cancel", "cancel", {"run": "r1"}),
        ("cancel run=r2", "cancel", {"run": "r2"}),
        ("cancel -run", "cancel", {}),
        ("advance 500", "clock.advance", {"ms": 500}),
        ("look", "inspect", {"run": "r1"}),
        ("recover store=@state1", "recover", {"run": "r1", "store": {"run": "r1"}}),
        (
            "release model turn done",
            "gate.release",
            {"gate": "g1", "outcome": {"kind": "turn", "text": "done"}},
        ),
        ("release g9 ok 3", "gate.release", {"gate": "g9", "outcome": {"kind": "ok", "content": 3}}),
        (
            "release tool:c1 raise broken turns=2",
            "gate.release",
            {"gate": "g2", "outcome": {"kind": "raise", "message": "broken"}, "turns": 2},
        ),
        (
            "release model turn c2:read",
            "gate.release",
            {
                "gate": "g1",
                "outcome": {
                    "kind": "turn",
                    "tool_calls": [{"id": "c2", "name": "read", "args": {"k": "c2"}}],
                },
            },
        ),
        (
            "decide d1 resume c1 payload=false; d2 cancel c2",
            "decide",
            {
                "run": "r1",
                "decisions": [
                    {"id": "d1", "action": "resume", "call": "c1", "payload": False},
                    {"id": "d2", "action": "cancel", "call": "c2"},
                ],
            },
        ),
        (
            "race turns=1\n  cancel\n  advance 5",
            "deliver",
            {
                "turns": 1,
                "stimuli": [
                    {"method": "cancel", "params": {"run": "r1"}},
                    {"method": "clock.advance", "params": {"ms": 5}},
                ],
            },
        ),
    ],
)
def test_a_line_is_a_stimulus(text: str, method: str, params: dict[str, Any]) -> None:
    """A gate is named by what waits there, and the run that the file is about is left unsaid."""
    assert record(text) == {"stimulus": {"method": method, "params": params}}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (
            "run.status -> Running",
            {"kind": "run.status", "run": "r1", "from": None, "to": "Running", "reason": None},
        ),
        (
            "run.status Running -> Done reason=NaturalEnd",
            {
                "kind": "run.status",
                "run": "r1",
                "from": "Running",
                "to": "Done",
                "reason": {"code": "NaturalEnd", "detail": None},
            },
        ),
        (
            "call.status c1 New -> Suspended suspension=1",
            {
                "kind": "call.status",
                "run": "r1",
                "call": "c1",
                "from": "New",
                "to": "Suspended",
                "suspension": 1,
            },
        ),
        ("call.status c1 -from -> New", {"kind": "call.status", "run": "r1", "call": "c1", "to": "New"}),
        (
            "gate.open g3 tool:c2",
            {
                "kind": "gate.open",
                "run": "r1",
                "gate": "g3",
                "on": "tool",
                "call": "c2",
                "args": {"k": "c2"},
                "resume": None,
            },
        ),
        ("gate.closed g1 cancel", {"kind": "gate.closed", "run": "r1", "gate": "g1", "because": "cancel"}),
        (
            "message user hello",
            {"kind": "message", "run": "r1", "message": {"role": "user", "text": "hello"}},
        ),
        (
            "run.finished Suspended pending=[c1]",
            {
                "kind": "run.finished",
                "run": "r1",
                "reason": {"code": "Suspended", "detail": None},
                "pending": ["c1"],
            },
        ),
        ("unlisted acme.trace depth=3", {"kind": "acme.trace", "run": "r1", "depth": 3}),
    ],
)
def test_a_line_is_an_observation(text: str, seen: dict[str, Any]) -> None:
    """What nearly every observation of its kind has is left unsaid."""
    assert record(text) == {"observation": seen}


def test_an_answer_without_a_word_is_quiescent() -> None:
    """Only what is otherwise is said: what was refused, and that the runtime is busy."""
    assert record("") == {"report": {"quiescent": True, "refused": []}}
    assert record('refused "too late" decision=d1\nreport quiescent=false') == {
        "report": {"quiescent": False, "refused": [{"why": "too late", "decision": "d1", "stimulus": 0}]}
    }


def test_a_scenario_has_its_parts_under_it() -> None:
    """Tools, stop conditions, hooks and what is held are lines of their own."""
    text = "scenario s\n  tool write ask\n  stop max_rounds rounds=2\n  hook StepEnd\n  hold store.put"

    assert record(text) == {
        "scenario": {
            "scenario": "s",
            "tools": [{"name": "write", "permission": "ask"}],
            "agent": {"stop": [{"kind": "max_rounds", "rounds": 2}]},
            "hooks": [{"at": "StepEnd"}],
            "hold": ["store.put"],
        }
    }


def test_any_record_can_be_written_out() -> None:
    """What no words fit is one key and its value."""
    assert record("record crash={by=kill}") == {"crash": {"by": "kill"}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("strat r1 hello", "`strat` is no word. Did you mean `start`?"),
        ("run.start r1 hello", "`run.start` is no word. Did you mean `start`?"),
        ("cancel now", "now stands in `cancel` without a name. Without a name it takes nothing"),
        ("start r1 hello run=r2", "`run` is given twice."),
        ("start r1 inptu=hello", "`start` has no field `inptu`. Did you mean `input`?"),
        ("release model", "`release` names a gate and an outcome."),
        ("release tool:c1 pending soon", "soon stands behind `pending` without a name."),
        ("release tool:c1 {}", "{} is no kind of outcome."),
        ("decide d1 resume c1;", "A decision is missing at a semicolon."),
        ("cancel run=r1; cancel", "A semicolon stands in `cancel`."),
        ("call.status c1 New -> Running -> Failed", "An arrow stands between two statuses."),
        ("start r1 hello\n  cancel", "Lines are indented under `start`, which has none."),
        ("race\n  race", "`race` is no stimulus of a race."),
        ("scenario s\n  tol read", "`tol` is no part of a scenario. Did you mean `tool`?"),
        ("report busy", "`report` says whether the runtime is quiescent."),
        ("record a=1 b=2", "`record` takes one key and its value."),
    ],
)
def test_what_is_wrong_is_named(text: str, says: str) -> None:
    """A slip is told with what would have been right."""
    with pytest.raises(Malformed) as caught:
        record(text)

    assert says in str(caught.value)
