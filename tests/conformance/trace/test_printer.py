"""One record as lines: the shortest text from which the parser reads the same record again."""

from __future__ import annotations

from typing import Any

import pytest

from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.trace.definitions import Definitions
from runlock.conformance.trace.line_context import LineContext
from runlock.conformance.trace.printer import write
from runlock.conformance.trace.trace import Record

CALL = {"id": "c1", "name": "t0", "args": {"k": "c1"}}


def lines(record: Record, *above: Record) -> list[str]:
    """The lines of a record below these."""
    context = LineContext(LINE_FORMATS)
    for earlier in above:
        context.learn(earlier)
    return write(record, context, Definitions())


def sent(method: str, **params: Any) -> Record:
    return {"stimulus": {"method": method, "params": params}}


def seen(kind: str, **fields: Any) -> Record:
    return {"observation": {"kind": kind, **fields}}


def released(gate: str, kind: str, **fields: Any) -> Record:
    return sent("gate.release", gate=gate, outcome={"kind": kind, **fields})


START = sent("run.start", run="r1", input="go")
OPENED = seen("gate.open", gate="g1", on="tool", call="c1")


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (sent("cancel", run="r1"), "cancel"),
        (sent("cancel", run="r2"), "cancel run=r2"),
        (sent("cancel"), "cancel -run"),
        (sent("fly", run="r1"), "record stimulus={method=fly params={run=r1}}"),
        (
            sent("gate.release", gate="g1", outcome={"kind": "ok", "content": "a b"}),
            'release tool:c1 ok "a b"',
        ),
        (
            sent("gate.release", gate="g1", outcome={"kind": "raise", "message": "c2:x"}),
            'release tool:c1 raise "c2:x"',
        ),
        (sent("gate.release", gate="tool:c1", outcome={"kind": "ok"}), 'release "tool:c1" ok'),
        (sent("gate.release", gate="g1", outcome="ok"), "release gate=g1 outcome=ok"),
        (
            sent("gate.release", gate="g9", outcome={"kind": "turn", "tool_calls": [CALL]}),
            "release g9 turn c1:t0",
        ),
        (sent("run.input", run="r1", input="x", odd=1), "input x +odd=1"),
        (sent("deliver", stimuli=[]), "race"),
        (seen("run.status", run="r1", to="Done"), "run.status -from -> Done -reason"),
        (seen("phase", run="r1", phase="RunStart"), "phase RunStart"),
        (seen("acme", run="r1", a=1), "unlisted acme a=1"),
        ({"crash": {"by": "kill"}}, "crash kill"),
        ({"end": {"leaks": []}}, "end"),
        ({"report": 3}, "record report=3"),
        ({"scenario": {"scenario": "s", "agent": {"stop": [], "x": 1}}}, "scenario s agent={stop=[] x=1}"),
    ],
)
def test_a_line(record: Record, line: str) -> None:
    """Implied fields are left out; what no format fits is a `record` line."""
    assert lines(record, START, OPENED) == [line]


def test_a_race_and_a_scenario_have_indented_lines() -> None:
    """Members stand below, one a line; a race with a member that takes several lines is a record."""
    parts = [sent("cancel", run="r1"), sent("settle")]
    race = sent("deliver", stimuli=[part["stimulus"] for part in parts])
    scenario = {
        "scenario": "s",
        "hold": ["a", "b"],
        "agent": {"stop": [{"kind": "timeout"}]},
        "tools": [{"name": "t"}],
    }
    nested = sent("deliver", stimuli=[race["stimulus"]])

    assert lines(race, START) == ["race", "  cancel", "  settle"]
    assert lines({"scenario": scenario}) == ["scenario s", "  tool t", "  stop timeout", "  hold a b"]
    assert lines(nested, START) == ["record stimulus=@stimulus1"]


def test_a_gate_is_named_as_long_as_it_is_open() -> None:
    """Progress leaves the gate open; after any other outcome, and after a crash, it is known by its id."""
    release = released("g1", "ok")
    progress = released("g1", "activity")

    assert lines(release, OPENED, progress) == ["release tool:c1 ok"]
    assert lines(release, OPENED, release) == ["release g1 ok"]
    assert lines(release, OPENED, {"crash": {}}) == ["release g1 ok"]
    assert lines(release, OPENED, seen("gate.closed", gate="g1")) == ["release g1 ok"]
    assert lines(release, OPENED, sent("deliver", stimuli=[release["stimulus"]])) == ["release g1 ok"]


def test_the_oldest_of_two_gates_has_the_name() -> None:
    """Two gates of one name: the newer one is named by its id."""
    newer = seen("gate.open", gate="g2", on="tool", call="c1")

    assert lines(released("g1", "ok"), OPENED, newer) == ["release tool:c1 ok"]
    assert lines(released("g2", "ok"), OPENED, newer) == ["release g2 ok"]


def test_a_gate_with_fields_of_any_type_is_named() -> None:
    """A name is made of whatever the fields hold: the record is not lost."""
    odd = seen("gate.open", gate="g1", on=1, at=[2])

    assert lines(released("g1", "ok"), odd) == ["release g1 ok"]
