"""The notation of values: what is written is read back, JSON is read as well, and a slip is named."""

from __future__ import annotations

from typing import Any

import pytest

from runlock.conformance.trace.values import (
    Bare,
    Malformed,
    Reader,
    changes,
    decode,
    encode,
    plain,
    same,
)

NOTES = {"state1": {"run": {"status": "Running"}, "calls": {}}, "texts": ["a", "b"]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Running", "Running"),
        ("tool:c1", "tool:c1"),
        ("two words", '"two words"'),
        ("", '""'),
        ("true", '"true"'),
        ("3", '"3"'),
        ("é", "é"),
        ("a\u202eb", '"a\\u202eb"'),
        (True, "true"),
        (None, "null"),
        (1.0, "1.0"),
        ([1, "a b", None], '[1 "a b" null]'),
        ({"k": "c1", "a b": []}, '{k=c1 "a b"=[]}'),
    ],
)
def test_a_value_is_written_and_read_back(value: Any, text: str) -> None:
    """A string is bare where nothing else could be meant."""
    assert encode(value) == text
    assert same(plain(decode(text, {})), value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, "x"], "b": {"c": null}}', {"a": [1, 2.5, "x"], "b": {"c": None}}),
        ("[1, 2]", [1, 2]),
        ('"\\u00e9"', "é"),
        ("-3", -3),
        ("0x10", "0x10"),
        ("@texts", ["a", "b"]),
        ("@texts +[c]", ["a", "b", "c"]),
        ("@state1 +{run={status=Done} -calls}", {"run": {"status": "Done"}}),
    ],
)
def test_json_and_definitions_are_read(text: str, value: Any) -> None:
    """Commas and colons of JSON are taken, and `@name` stands for a value that was written before."""
    assert plain(decode(text, NOTES)) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{a=1", "The line ends before its `}`."),
        ("[1", "The line ends before its `]`."),
        ("{a=1 a=2}", "`a` is given twice."),
        ("{3}", "`3}` stands where a key, a value or `}` belongs."),
        ('"open', "A quote is opened that nothing closes."),
        ("}", "A value is missing before `}`."),
        ("", "A value is missing before the end of the line."),
        ("@nobody", "There is no note @nobody. The notes at the end of the file are: @state1, @texts."),
        ("1 2", "`2` is left over."),
        ('"\\x"', '"\\x" is no JSON string.'),
        ("9" * 5_000, "is too long for a number."),
        ("@state1 +[1]", "There is no list to which `+[…]` could add."),
    ],
)
def test_a_slip_is_named_with_what_would_be_right(text: str, says: str) -> None:
    """Each sentence says what is wrong; the second one says how it is written."""
    with pytest.raises(Malformed) as caught:
        decode(text, NOTES)

    assert says in str(caught.value)
    assert caught.value.right


def test_a_line_is_parted_into_values_and_fields() -> None:
    """Values by position, fields by name, fields of the writer's own, and fields that are left out."""
    first, second = Reader("d1 resume payload=false +acme=3 -run; d2", {}).parts()

    assert (first.given, first.named, first.added, first.left) == (
        ["d1", "resume"],
        {"payload": False, "acme": 3},
        {"acme"},
        ["run"],
    )
    assert (second.given, second.named) == (["d2"], {})


@pytest.mark.parametrize(("text", "is_bare"), [("c1:read", True), ('"c1:read"', False)])
def test_only_a_word_without_quotes_may_be_short_for_something(text: str, is_bare: bool) -> None:
    """`c1:read` is a call of a tool, `"c1:read"` is a text."""
    (value,) = Reader(text, {}).parts()[0].given

    assert isinstance(value, Bare) is is_bare


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "{b=3}"),
        ({"a": 1, "b": 2}, {"a": 1}, "{-b}"),
        ({"a": 1}, {"a": 1, "c": "x"}, "{c=x}"),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, "{a={c=3}}"),
        ({"a": [1]}, {"a": [1, 2]}, "{a=+[2]}"),
        ({"a": 1}, {"a": 1.0}, "{a=1.0}"),
        ({"a": 1}, {"a": True}, "{a=true}"),
        ([1, 2], [1, 2, 3], "+[3]"),
        ([1, 2], [2, 1], None),
        ("a", "b", None),
    ],
)
def test_what_changed_is_told(before: Any, after: Any, text: str | None) -> None:
    """What has to be done to one value to have the other is written, and read back to the other."""
    assert changes(before, after) == text
    if text is not None:
        joined = f"@before {text if text.startswith('+') else '+' + text}"
        assert same(plain(decode(joined, {"before": before})), after)


def test_numbers_and_constants_are_not_the_same() -> None:
    """1, 1.0 and true are three values of JSON, though Python takes them for equal."""
    assert [same(1, other) for other in (1, 1.0, True)] == [True, False, False]
