"""What comes from outside is bounded before memory is taken for it, and each fault is one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runlock.conformance import inputs
from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import NotJson, decoded, json_of, text_of, toml_of

NESTED = "[" * 3_000 + "]" * 3_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON (Expecting property name enclosed in double quotes at position 1)"),
        (b"\xff", "is no JSON ('utf-8' codec can't decode byte 0xff in position 0: invalid start byte)"),
        ("1" * 5_000, "is no JSON (Exceeds the limit (4300 digits) for integer string conversion"),
        ("[" * 201 + "]" * 201, "is nested deeper than 200 levels"),
        (NESTED, "is nested deeper than 200 levels"),
        ("[" + "0," * 4_000_000 + "0]", "holds more than 4,000,000 values"),
    ],
    ids=["half", "no text", "a long number", "deep", "very deep", "wide"],
)
def test_a_text_that_is_no_json_says_why(text: str | bytes, said: str) -> None:
    """The words complete a sentence about the text."""
    with pytest.raises(NotJson) as caught:
        decoded(text)

    assert str(caught.value).startswith(said)


def test_what_is_within_the_bounds_is_read() -> None:
    """The deepest value, and one with many parts that are not deep."""
    assert decoded("[" * 200 + "]" * 200)
    assert len(decoded("[" + "{}," * 5_000 + "{}]")) == 5_001


def test_nothing_longer_than_the_bound_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device without an end, a document, and a text that was decoded elsewhere."""
    monkeypatch.setattr(inputs, "SIZE_MAX", 99)
    (tmp_path / "long.json").write_text("[" + " " * 100 + "]")

    for path in (tmp_path / "long.json", Path("/dev/zero")):
        with pytest.raises(UsageError, match="is longer than"):
            text_of(path)
    with pytest.raises(NotJson, match="is longer than"):
        decoded(" " * 100)


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (json_of, "{", "is no JSON (Expecting property name"),
        (json_of, NESTED, "is nested deeper than 200 levels."),
        (toml_of, f"a = {NESTED}", "is nested deeper than 200 levels."),
        (toml_of, f"[{'.'.join('a' * 300)}]", "is nested deeper than 200 levels."),
        (toml_of, "a = [", "is no TOML: "),
        (toml_of, f"a = {'1' * 5_000}", "is no TOML: Exceeds the limit (4300 digits)"),
        (toml_of, "a = 2026-02-31", "is no TOML: "),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_decoded_is_named(
    read: Callable[[Path], Any], text: str, said: str, tmp_path: Path
) -> None:
    """JSON and TOML alike."""
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read(file)

    assert str(caught.value).startswith(f"{file} {said}")
