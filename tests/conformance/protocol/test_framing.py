"""One JSON object a line: what is written, what is read, and how each unreadable line is reported."""

from __future__ import annotations

from typing import Any

import pytest

from runlock.conformance.inputs import DEPTH_MAX
from runlock.conformance.protocol.framing import (
    NotALine,
    decode,
    detached,
    encode,
    quote,
)


def nested(levels: int) -> bytes:
    """A list in a list in a list."""
    return b"[" * levels + b"]" * levels


def test_a_message_is_one_line_of_ascii() -> None:
    """No byte of a message ends the line early, whatever its text holds."""
    line = encode({"text": "first\nsecond é \u2028"})

    assert line == b'{"text":"first\\nsecond \\u00e9 \\u2028"}\n'
    assert decode(line) == {"text": "first\nsecond é \u2028"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes"], ids=repr)
def test_what_json_does_not_have_is_not_written(value: Any) -> None:
    """A message that another language could not read never leaves."""
    with pytest.raises((TypeError, ValueError)):
        encode({"value": value})


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"\xff{}", "is not UTF-8 (byte 0xff at position 0)"),
        (b"{", "is no JSON (Expecting property name enclosed in double quotes at position 1)"),
        (b"", "is no JSON (Expecting value at position 0)"),
        (b'{"n": NaN}', "is no JSON (NaN is no JSON number)"),
        (b'{"n": -Infinity}', "is no JSON (-Infinity is no JSON number)"),
        (b'{"n": 1e999}', "is no JSON (1e999 is too large for a number)"),
        (b"\xef\xbb\xbf{}", "is no JSON (a byte order mark stands before it)"),
        (b'"\\ud800"', "holds half a surrogate pair, which is no text"),
        (nested(DEPTH_MAX + 1), f"is nested deeper than {DEPTH_MAX} levels"),
        (nested(100_000), f"is nested deeper than {DEPTH_MAX} levels"),
    ],
)
def test_a_line_that_cannot_be_read_says_why(line: bytes, says: str) -> None:
    """Each kind of garbage has its own sentence, and none exhausts the stack."""
    with pytest.raises(NotALine) as caught:
        decode(line)

    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'"\\ud83d\\ude00"', "😀"),
        (b"[1, 1.0, true]", [1, 1.0, True]),
        (b"[" + b"[]," * 5_000 + b"[]]", [[]] * 5_001),
    ],
    ids=["a whole surrogate pair", "numbers", "wide and not deep"],
)
def test_an_unusual_line_is_read(line: bytes, value: Any) -> None:
    """What JSON allows is read."""
    assert decode(line) == value


def test_the_deepest_line_is_read() -> None:
    """The limit itself is no fault."""
    assert decode(nested(DEPTH_MAX)) is not None


def test_a_detached_copy_shares_nothing() -> None:
    """Neither side can change what the other one keeps."""
    message = {"calls": [{"id": "c1"}]}
    copy = detached(message)
    copy["calls"][0]["id"] = "c2"

    assert message == {"calls": [{"id": "c1"}]}


def test_what_cannot_be_detached_is_no_line() -> None:
    """An object that refers to itself, and one that is no JSON, are refused with a sentence."""
    endless: list[Any] = []
    endless.append(endless)

    for message, says in (
        (endless, "is no JSON (Circular reference"),
        ({1, 2}, "is no JSON (Object of type set"),
    ):
        with pytest.raises(NotALine) as caught:
            detached(message)
        assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"plain", "“plain”"),
        (b"\x1b[31m\n\xff", "“\\x1b[31m\\n\\xff”"),
        ("right \u202e left", "“right \\u202e left”"),
        ("x" * 101, f"“{'x' * 100}…”"),
    ],
)
def test_a_quote_is_printable_and_short(text: bytes | str, shown: str) -> None:
    """Any bytes fit into a sentence, without moving a cursor or turning the writing direction."""
    assert quote(text) == shown
