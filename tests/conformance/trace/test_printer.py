"""One record as lines: short where the words fit it, written out where they do not, and never lossy."""

from __future__ import annotations

from typing import Any

import pytest

from runlock.conformance.trace.definitions import Notes
from runlock.conformance.trace.line_formats import Known
from runlock.conformance.trace.parser import read
from runlock.conformance.trace.printer import write

ASKED = {"id": "c1", "name": "read", "args": {"k": "c1"}}
LONG = {"messages": [{"role": "user", "text": "x" * 80}]}


def known() -> Known:
    """A file that has begun run r1 and opened two gates."""
    return Known(run="r1", gates={"g1": "model", "g2": "tool:c1"})


def stimulus(method: str, **params: Any) -> dict[str, Any]:
    """A stimulus as a trace keeps it."""
    return {"stimulus": {"method": method, "params": params}}


def seen(kind: str, **fields: Any) -> dict[str, Any]:
    """An observation of run r1 as a trace keeps it."""
    return {"observation": {"kind": kind, "run": "r1", **fields}}


@pytest.mark.parametrize(
    ("record", "lines"),
    [
        (stimulus("run.start", run="r2", input="write it"), ['start r2 "write it"']),
        (stimulus("cancel", run="r1"), ["cancel"]),
        (stimulus("cancel", run="r2"), ["cancel run=r2"]),
        (stimulus("cancel"), ["cancel -run"]),
        (
            stimulus("gate.release", gate="g2", outcome={"kind": "ok", "content": "a b"}),
            ['release tool:c1 ok "a b"'],
        ),
        (stimulus("gate.release", gate="g9", outcome={"kind": "fault"}), ["release g9 fault"]),
        (
            stimulus("gate.release", gate="g1", outcome={"kind": "turn", "text": "", "tool_calls": [ASKED]}),
            ['release model turn c1:read ""'],
        ),
        (
            stimulus(
                "gate.release", gate="g1", outcome={"kind": "turn", "tool_calls": [{**ASKED, "args": {}}]}
            ),
            ["release model turn tool_calls=[{id=c1 name=read args={}}]"],
        ),
        (
            stimulus("decide", run="r1", decisions=[{"id": "d1", "action": "resume", "call": "c1"}]),
            ["decide d1 resume c1"],
        ),
        (
            stimulus("deliver", stimuli=[{"method": "cancel", "params": {"run": "r1"}}], turns=1),
            ["race turns=1", "  cancel"],
        ),
        ({"crash": {"by": "kill"}}, ["crash kill"]),
        ({"end": {"leaks": []}}, ["end"]),
        ({"report": {"quiescent": True, "refused": []}}, []),
        (
            {"report": {"quiescent": False, "refused": [{"why": "late", "stimulus": 0}]}},
            ["refused late", "report quiescent=false"],
        ),
    ],
)
def test_a_record_is_written_in_few_words(record: dict[str, Any], lines: list[str]) -> None:
    """What goes without saying is left unsaid, and a gate is named by what waits there."""
    assert write(record, known(), Notes()) == lines


@pytest.mark.parametrize(
    ("record", "lines"),
    [
        (seen("call.status", call="c1", **{"from": None}, to="New"), ["call.status c1 -> New"]),
        (seen("call.status", call="c1", to="New"), ["call.status c1 -from -> New"]),
        (
            seen("gate.open", gate="g3", on="tool", call="c2", args={"k": "c2"}, resume=None),
            ["gate.open g3 tool:c2"],
        ),
        (seen("gate.open", gate="g3", on="tool", call="c2"), ["gate.open g3 tool:c2 -args -resume"]),
        (seen("run.finished", reason={"code": "Error", "detail": None}, pending=[]), ["run.finished Error"]),
        (seen("run.finished", reason="Error", pending=[]), ['run.finished "Error"']),
        (seen("acme.trace", depth=3), ["unlisted acme.trace depth=3"]),
        (seen("phase", phase="StepEnd", colour="blue"), ["phase StepEnd +colour=blue"]),
    ],
)
def test_an_observation_is_written_in_few_words(record: dict[str, Any], lines: list[str]) -> None:
    """A field that is there though it usually is not, or is missing though it usually is there, is said."""
    assert write(record, known(), Notes()) == lines


@pytest.mark.parametrize(
    "record",
    [
        {"stimulus": {"method": "fly", "params": {}}},
        {"stimulus": {"params": []}},
        {"stimulus": []},
        {"observation": {"run": "r1"}},
        {"report": {"quiescent": True}},
        {"scenario": {"scenario": "s", "tools": [3]}},
        {"weather": 1.0},
    ],
)
def test_what_no_words_fit_is_written_out(record: dict[str, Any]) -> None:
    """Any record can be written, and is read back as it was."""
    lines = write(record, known(), Notes())

    assert read(lines, known(), {}) == record


def test_a_long_value_is_set_apart() -> None:
    """It is written once, under a name, and the next one of its field by what has changed."""
    notes = Notes()
    first = write(seen("checkpoint", trigger="StepEnd", state=LONG), known(), notes)
    again = write(seen("checkpoint", trigger="StepEnd", state=LONG), known(), notes)
    other = write(seen("checkpoint", trigger="StepEnd", state={**LONG, "step": 2}), known(), notes)

    assert first == again
    assert (first[0][-7:], other[0][-7:]) == ("@state1", "@state2")
    assert notes.lines()[1] == "@state2 = @state1 +{step=2}"


def test_one_and_true_are_written_apart() -> None:
    """What Python takes for equal is not: each is read back as it was."""
    for value in (1, 1.0, True):
        lines = write(seen("acme.trace", depth=value), known(), Notes())
        assert repr(read(lines, known(), {})["observation"]["depth"]) == repr(value)
