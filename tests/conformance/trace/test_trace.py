"""Traces: records in order, as a file, and as a digest that does not depend on ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runlock.conformance.errors import UsageError
from runlock.conformance.trace.trace import Trace, read_trace


def trace(gate: str, run: str, call: str, *, to: str = "Running") -> Trace:
    """A trace in which the ids are these."""
    turn: dict[str, Any] = {"tool_calls": [{"id": call, "name": "t0", "args": {"k": call}}]}
    return Trace(
        [
            {"handshake": {"family": "any"}},
            {"stimulus": {"method": "run.start", "params": {"run": run, "input": "go"}}},
            {"observation": {"kind": "gate.open", "run": run, "gate": gate, "on": "model"}},
            {
                "stimulus": {
                    "method": "gate.release",
                    "params": {"gate": gate, "outcome": turn},
                }
            },
            {"observation": {"kind": "call.status", "run": run, "call": call, "to": to}},
            {"report": {"quiescent": True, "refused": []}},
        ]
    )


def test_a_file_is_read_back(tmp_path: Path) -> None:
    """One record a line; blank lines are skipped."""
    path = tmp_path / "t.jsonl"
    path.write_text(trace("g1", "r1", "c1").to_jsonl() + "\n \n", encoding="utf-8")

    assert read_trace(path) == trace("g1", "r1", "c1")


def test_records_are_found_by_key() -> None:
    """In the order of the trace."""
    found = trace("g1", "r1", "c1")
    found.add("end", {"leaks": []})

    assert [stimulus["method"] for stimulus in found.stimuli] == ["run.start", "gate.release"]
    assert [seen["kind"] for seen in found.of("observation")] == ["gate.open", "call.status"]
    assert list(found.of("end")) == [{"leaks": []}]


def test_a_digest_is_the_same_under_other_ids() -> None:
    """Ids are renamed by first appearance; anything else that differs counts."""
    assert trace("g1", "r1", "c1").digest() == trace("x", "y", "z").digest()
    assert trace("g1", "r1", "c1").digest() == trace("c1", "r1", "c1").digest()
    assert trace("g1", "r1", "c1").digest() != trace("g1", "r1", "r1").digest()
    assert trace("g1", "r1", "c1").digest() != trace("g1", "r1", "c1", to="Done").digest()
    assert Trace().digest() != trace("g1", "r1", "c1").digest()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "is no JSON"),
        ("[1]", "is no record of a trace"),
        ('{"end": {}, "crash": {}}', "is no record of a trace"),
        ('{"odd": {}}', "is no record of a trace"),
        ('{"end": 3}', "`end` holds no object"),
        ('{"stimulus": {"method": "settle"}}', "a stimulus lacks its method or params"),
        ("[" * 100_000, "is nested deeper than 200 levels"),
        ('{"stimulus": {"method": ["settle"], "params": {}}}', "the method of a stimulus is no text"),
        ('{"stimulus": {"method": "settle", "params": []}}', "or its params are no object"),
        ('{"observation": {"kind": "gate.open", "gate": {}}}', "a gate opens that has no id"),
        ('{"end": {"verdict": {"clause": ["RUN-1"]}}}', "the clause of a verdict is no text"),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str, says: str) -> None:
    """The error names the file and the line."""
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"crash": {{}}}}\n{line}\n', encoding="utf-8")

    with pytest.raises(UsageError) as caught:
        read_trace(path)

    assert "t.jsonl:2" in str(caught.value)
    assert says in str(caught.value)


def test_a_trace_carries_its_verdict():
    """The closing record says what is wrong, in place of none or together with what was left."""
    trace = Trace([{"end": {"leaks": [{"task": "loop"}]}}])
    broken, cut_off = trace.with_verdict("RUN-36", "a task is alive"), Trace().with_verdict(None, "it hung")

    assert trace.verdict_in_words == ""
    assert broken.verdict_in_words == "RUN-36: a task is alive"
    assert broken.records == [
        {
            "end": {
                "leaks": [{"task": "loop"}],
                "verdict": {"clause": "RUN-36", "because": "a task is alive"},
            }
        }
    ]
    assert cut_off.verdict_in_words == "it hung"
    assert broken.digest() == trace.digest()
