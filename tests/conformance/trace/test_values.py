"""The notation of values: any JSON value as text that is read back as the same value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runlock.conformance.trace.definitions import Definitions, define
from runlock.conformance.trace.values import Malformed, Reader, changes, decode, encode, plain, same

words = st.text(max_size=5) | st.sampled_from(
    ["true", "-1", "1e3", "NaN", "@a", "a.b", "a=b", ";", "\\", '"']
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
repeatable = settings(max_examples=200, deadline=None, derandomize=True, database=None)


@repeatable
@given(values)
def test_a_value_is_read_back(value: Any) -> None:
    """Also 1, 1.0 and true."""
    assert same(plain(decode(encode(value), {})), value)


@repeatable
@given(values, values)
def test_a_change_leads_from_one_value_to_the_other(before: Any, after: Any) -> None:
    """A change that is written after the name of a definition gives the new value."""
    change = changes(before, after)
    if change is not None:
        text = f"@before {change if change.startswith('+') else '+' + change}"

        assert same(plain(decode(text, {"before": before})), after)


@pytest.mark.long
@repeatable
@given(st.lists(values, max_size=5))
def test_definitions_are_read_back(held: list[Any]) -> None:
    """Values that are too long for a line are defined once, and the file gives them back."""
    long = [{"held": value, "filler": "x" * 80} for value in held]
    definitions = Definitions()
    texts = [definitions.text("state", value) for value in long]
    found: dict[str, Any] = {}
    for line in definitions.lines():
        define(found, line)

    assert [same(plain(decode(text, found)), value) for text, value in zip(texts, long, strict=True)] == (
        [True] * len(long)
    )
    assert len(definitions) == len({encode(value) for value in long})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[a, b c]", ["a", "b", "c"]),
        ('{"a": 1, b=2}', {"a": 1, "b": 2}),
        ("@a +{b={c=3}}", {"b": {"c": 3}}),
        ("@a +{-b d=1}", {"d": 1}),
        ("@l +[3]", [1, 2, 3]),
        ("-0.5e1", -5.0),
        ("01", "01"),
    ],
)
def test_what_a_text_means(text: str, value: Any) -> None:
    """Commas are blanks, JSON is read as well, and a defined value can be changed."""
    assert plain(decode(text, {"a": {"b": {"c": 1}}, "l": [1, 2]})) == value


def test_a_line_has_parts() -> None:
    """Values, named values, added and removed fields; a semicolon begins the next part."""
    first, second = Reader("a b=1 +c=2 -d; e", {}).parts()

    assert (first.given, first.named, first.added, first.left) == (["a"], {"b": 1, "c": 2}, {"c"}, ["d"])
    assert second.given == ["e"]


@pytest.mark.parametrize(
    "text", ["{a=1", "[1", "{a=1 a=2}", '"\\x"', "@none", "1 2", "@l +{a=+[1]}", "@l +[1]"]
)
def test_what_is_no_value(text: str) -> None:
    """Nothing is guessed: a text that is not whole is an error that says what would be right."""
    with pytest.raises(Malformed) as caught:
        decode(text, {"l": {"a": 1}})

    assert caught.value.right
