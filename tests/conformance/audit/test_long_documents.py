"""A document that is too long to be parsed says what it says if it is parsed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from audited import RECORDINGS, audited, broken, records_in, summed, verdicts
from recorded_events import PERSON, REPLY, chat_result, chat_turn
from span_exports import EXPORTS

from runlock.conformance import inputs
from runlock.conformance.audit import long_documents

QUOTES = {"role": "user", "content": 'Say "[{" and \\ twice: \\\\"}]", and \u00e6.'}
OPEN = [QUOTES, chat_turn("a"), QUOTES, REPLY]
WHOLE: dict[str, Any] = {
    "an array": OPEN,
    "an object": {"id": "x[", "meta": {"tags": ["}"], "more": [{"no": "element"}]}, "messages": OPEN},
    "an array of lists": [OPEN, [PERSON, REPLY]],
}


def short(monkeypatch: pytest.MonkeyPatch, size: int, piece: int) -> None:
    """Documents of that size are too long, and are read in such pieces."""
    monkeypatch.setattr(inputs, "SIZE_MAX", size)
    monkeypatch.setattr(long_documents, "PIECE", piece)


@pytest.mark.parametrize("piece", [1, 7, 4096])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", WHOLE)
def test_a_list_is_read_element_by_element(
    name: str, indent: int | None, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stands in its strings, and wherever a piece ends."""
    text = json.dumps(WHOLE[name], indent=indent)
    (tmp_path / "a.json").write_text(text)
    short(monkeypatch, len(text) - 1, piece)
    found = audited(tmp_path / "a.json")

    assert (set(broken(found)), found.result.troubles) == ({"PAIR-1"}, [])


@pytest.mark.parametrize("export", ["tempo", "jaeger", "console", "phoenix"])
def test_an_export_says_the_same(export: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compressed as well."""
    pytest.importorskip("duckdb")
    text = json.dumps(EXPORTS[export](records_in("otel_genai/plain")))
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(text.encode()))
    short(monkeypatch, len(text) - 1, 999)
    found = audited(tmp_path / "a.json.gz")

    assert found.result.troubles == []
    assert verdicts(found) == verdicts(audited(RECORDINGS / "otel_genai" / "plain.jsonl"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (json.dumps([PERSON, REPLY, chat_result("a")])[:-9], "breaks off"),
        (json.dumps([{"role": "user", "content": "x" * 300}]), "a part of it is longer"),
        (json.dumps([PERSON] * 9) + "\n" + json.dumps([PERSON]), "has a line that is longer"),
    ],
)
def test_what_cannot_be_followed_is_an_error(
    text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of such a file counts."""
    (tmp_path / "a.json").write_text(text)
    short(monkeypatch, 100, 10)

    assert [says in error for error in summed(tmp_path / "a.json").errors] == [True]
