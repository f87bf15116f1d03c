"""Scenario files and traces of several families: each is read and written in the formats of its own."""

from __future__ import annotations

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
    moves_of,
    parse,
    read_recording,
    read_scenario,
    render,
    to_text,
)
from runlock.conformance.trace.trace import Trace

PARCEL = "family courier\n\nstart r1 go\n\nparcel p1 large\n"
CANCEL = "start r1 go\n\ncancel\n"


@pytest.fixture(autouse=True)
def families(monkeypatch: pytest.MonkeyPatch) -> None:
    """The made-up family next to the one that stands."""
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


def test_gates_are_named_as_the_family_names_them() -> None:
    """The family of the moves is the one that is given, else the one of the handshake."""
    hook = {"kind": "gate.open", "gate": "g1", "on": "hook", "at": "RunStart"}
    release = {"method": "gate.release", "params": {"gate": "g1", "outcome": {"kind": "ok"}}}
    trace = Trace([{"observation": hook}, {"stimulus": release}])
    recorded = Trace([{"handshake": {"family": "courier"}}, *trace.records])

    assert [move.params["gate"] for move in moves_of(trace)] == ["hook:RunStart"]
    assert [move.params["gate"] for move in moves_of(trace, "courier")] == ["hook"]
    assert [move.params["gate"] for move in moves_of(recorded)] == ["hook"]


def test_a_recording_is_read_by_the_ending_of_its_name(tmp_path: Path) -> None:
    """A scenario file and a trace file of the same records are the same trace."""
    trace = from_text(PARCEL)
    for name, text in (("a.scenario", PARCEL), ("a.jsonl", trace.to_jsonl())):
        (tmp_path / name).write_text(text, encoding="utf-8")

        assert read_recording(tmp_path / name) == trace


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
