"""A trace: its records, its file, and the digest that names what happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runlock.conformance.errors import UsageError
from runlock.conformance.trace.trace import Record, Trace, read_trace


def records(gate: str = "g1", call: str = "c1", decision: str = "d1", run: str = "r1") -> list[Record]:
    """A call that waits and is decided, with these ids."""
    turn = {"kind": "turn", "tool_calls": [{"id": call, "name": "write", "args": {"k": call}}]}
    decided = {"id": decision, "call": call, "action": "resume"}
    return [
        {"stimulus": {"method": "run.start", "params": {"run": run, "input": "hello"}}},
        {"observation": {"kind": "gate.open", "run": run, "gate": gate, "on": "model"}},
        {"stimulus": {"method": "gate.release", "params": {"gate": gate, "outcome": turn}}},
        {"observation": {"kind": "run.finished", "run": run, "pending": [call]}},
        {"stimulus": {"method": "decide", "params": {"run": run, "decisions": [decided]}}},
        {"observation": {"kind": "checkpoint", "state": {"calls": {call: {"status": "Resuming"}}}}},
    ]


def digest(**ids: str) -> str:
    """The digest of these records."""
    return Trace(records(**ids)).digest()


def test_records_are_found_by_their_key() -> None:
    """What was sent and what was shown are read apart, each in its order."""
    trace = Trace()
    trace.add("scenario", {"scenario": "s"})
    for record in records():
        trace.add(*next(iter(record.items())))

    assert [stimulus["method"] for stimulus in trace.stimuli] == ["run.start", "gate.release", "decide"]
    assert [seen["kind"] for seen in trace.of("observation")] == ["gate.open", "run.finished", "checkpoint"]
    assert list(trace.of("report")) == []


def test_a_file_is_read_back_whole(tmp_path: Path) -> None:
    """One object a line; blank lines say nothing."""
    file = tmp_path / "t.jsonl"
    file.write_text(Trace(records()).to_jsonl() + "\n\n", "utf-8")

    assert read_trace(file).records == records()
    assert len(Trace(records()).to_jsonl().splitlines()) == len(records())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", ":2 is no JSON: "),
        ("3", ":2 is no record of a trace."),
        ("{}", ":2 is no record of a trace."),
        ('{"weather": {}}', ":2 is no record of a trace."),
        ('{"end": {}, "crash": {}}', ":2 is no record of a trace."),
        ('{"report": []}', ":2: `report` holds no object."),
        ('{"stimulus": {"method": "cancel"}}', ":2: a stimulus lacks its method or params."),
        ("[" * 100_000, ":2 is no JSON: "),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str, says: str) -> None:
    """The error names the file, the line and what a line is."""
    file = tmp_path / "t.jsonl"
    file.write_text(f'{{"end": {{}}}}\n{line}\n', "utf-8")
    with pytest.raises(UsageError) as caught:
        read_trace(file)

    assert f"{file}{says}" in str(caught.value)
    assert "one key of handshake, scenario, stimulus, observation, report, crash, end." in str(caught.value)


@pytest.mark.parametrize("renamed", ["gate", "call", "decision", "run"])
def test_the_digest_does_not_depend_on_ids(renamed: str) -> None:
    """Two runtimes that do the same under other names have the same digest."""
    assert digest(**{renamed: "another"}) == digest()


CHANGES: dict[str, Record] = {
    "another observation": {"observation": {"kind": "run.finished", "run": "r1", "pending": []}},
    "another stimulus": {"stimulus": {"method": "cancel", "params": {"run": "r1"}}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_digest_depends_on_what_happened(change: Record) -> None:
    """Something more, and another order, are another digest."""
    changed = [*records(), change]

    assert Trace(changed).digest() != digest()
    assert Trace(changed[::-1]).digest() != Trace(changed).digest()


@pytest.mark.parametrize(
    "record", [{"report": {"quiescent": True}}, {"handshake": {"protocol": 1}}, {"end": {}}]
)
def test_the_digest_leaves_out_what_is_neither_sent_nor_shown(record: dict[str, Any]) -> None:
    """A handshake that says more changes no digest."""
    assert Trace([record, *records()]).digest() == digest()


def test_ids_that_change_places_are_another_digest() -> None:
    """Renaming keeps apart what is apart: two calls that swap their parts are not one and the same."""
    one, other = (
        [{"observation": {"kind": "x", "call": call}} for call in calls] for calls in ("aab", "aba")
    )

    assert Trace(one).digest() != Trace(other).digest()
