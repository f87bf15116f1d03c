"""Scenario files and traces of several families: each is read and written in the formats of its own."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from courier_family import courier_formats

from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.family import formats
from runlock.conformance.family.recordings import (
    from_text,
    parse,
    read_recording,
    read_scenario,
    render,
    to_text,
)
from runlock.conformance.trace.trace import Trace

PARCEL = "family courier\n\nstart r1 go\nparcel p1 large\n"
CANCEL = "start r1 go\ncancel\n"


@pytest.fixture(autouse=True)
def families(monkeypatch: pytest.MonkeyPatch) -> None:
    """The made-up family, in addition to the built-in ones."""
    known = {"courier": courier_formats(), "lifecycle": LINE_FORMATS}

    def named(name: str) -> Any:
        if name not in known:
            raise LookupError(f"There is no family {name!r}.")
        return SimpleNamespace(line_formats=known[name])

    monkeypatch.setattr(formats, "family_named", named)


@pytest.mark.parametrize("text", [PARCEL, CANCEL])
def test_a_file_is_read_and_written_in_the_formats_of_its_family(text: str) -> None:
    """The first line names the family; without it, the file is one of the default family."""
    document = parse(text)

    assert render(document) == text
    assert document.family == ("courier" if text is PARCEL else "lifecycle")


def test_a_trace_is_written_in_the_formats_of_its_handshake() -> None:
    """A recording says of which family the runtime was."""
    handshake = {"family": "courier", "protocol": 1}
    trace = Trace([{"handshake": handshake}, *from_text(PARCEL).records])
    text = to_text(trace)

    assert text.startswith("family courier\n")
    assert "\nparcel p1 large\n" in text
    assert from_text(text).records == trace.records


def test_a_recording_is_read_by_the_ending_of_its_name(tmp_path: Path) -> None:
    """A scenario file and a trace file of the same records are the same trace."""
    trace = from_text(CANCEL)
    for name, text in (("a.scenario", CANCEL), ("a.jsonl", trace.to_jsonl())):
        (tmp_path / name).write_text(text, encoding="utf-8")

        assert read_recording(tmp_path / name) == trace


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("decide d1 maybe c1", "decisions.0.action is 'maybe'. Input should be 'resume' or 'cancel'."),
        ("release model blah", "kind is 'blah'. Input should be 'turn'."),
        ("release nosuch:c1 ok x", "no gate is called nosuch:c1."),
        ("advance soon", "ms is 'soon'. Input should be a valid integer."),
        ("settle turns=some", "turns is 'some'. Input should be a valid integer."),
        ("race\n  decide d1 maybe c1", "decisions.0.action is 'maybe'."),
        ("record stimulus={method=jump params={}}", "jump is no stimulus."),
        ("scenario s\n  tool read sometimes", "tools.0.permission is 'sometimes'."),
        ("scenario s\n  stop max_rounds rounds=many", "agent.stop.0.rounds is 'many'."),
    ],
)
def test_what_does_not_fit_the_protocol_is_the_fault_of_the_file(
    tmp_path: Path, line: str, says: str
) -> None:
    """The error names the file and the line, and no adapter has to turn it down."""
    path = tmp_path / "a.scenario"
    path.write_text(f"start r1 go\n\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_recording(path)

    assert f"{path}:3: " in str(caught.value)
    assert says in str(caught.value)


def test_a_trace_names_the_line_too(tmp_path: Path) -> None:
    """Blank lines count; what a runtime reported may be wrong, since the trace may be there to show that."""
    records = [
        {"handshake": {"implementation": {"name": "a", "version": "1"}}},
        {"observation": {"kind": "run.status", "to": 3}},
        {"stimulus": {"method": "cancel", "params": {"run": 7}}},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n\n".join(map(json.dumps, records)), encoding="utf-8")

    with pytest.raises(UsageError, match=r"a\.jsonl:5: run is 7"):
        read_recording(path)


def test_a_family_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The error names the file and the family."""
    path = tmp_path / "a.scenario"
    path.write_text("family train\nsettle\n", encoding="utf-8")

    with pytest.raises(UsageError, match=r"a\.scenario: There is no family 'train'"):
        read_scenario(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A missing file, and one that is no text, are errors with its name."""
    garbage = tmp_path / "garbage.scenario"
    garbage.write_bytes(b"\xff\xfe")
    for path in (tmp_path / "missing.scenario", garbage):
        with pytest.raises(UsageError, match="cannot be read"):
            read_scenario(path)
