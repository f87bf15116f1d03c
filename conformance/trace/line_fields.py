"""Reads the fields of one line: values by position, by name, and implied ones."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from runlock.conformance.trace.line_context import LineContext
from runlock.conformance.trace.line_formats import CALLS, LineFormat, LineFormats, call_of
from runlock.conformance.trace.values import Bare, Malformed, Part, encode


def filled(line: LineFormat, part: Part, context: LineContext, open_ended: bool = False) -> dict[str, Any]:
    """The fields that a part of a line gives, with those that are implied."""
    if len(part.given) > len(line.positions):
        extra = encode(part.given[len(line.positions)])
        takes = ", ".join(line.positions) or "nothing"
        raise Malformed(
            f"{extra} stands in `{line.word}` without a name.",
            f"Without a name it takes {takes}, in this order.",
        )
    fields = dict(zip(line.positions, part.given, strict=False))
    if not open_ended:
        _check_names(line, part)
    for name in part.named.keys() & fields.keys():
        raise Malformed(f"`{name}` is given twice.", "Once without its name, and once with it.")
    fields |= part.named
    implied = context.implied_in(line).implied
    fields |= {name: value for name, value in implied.items() if name not in fields and name not in part.left}
    return {name: _field_value(name, value, context.formats) for name, value in fields.items()}


def _check_names(line: LineFormat, part: Part) -> None:
    listed = line.fields()
    for name in part.named:
        if name in listed or name in part.added:
            continue
        meant = get_close_matches(name, listed, n=1)
        hint = f"Did you mean `{meant[0]}`?" if meant else f"It has {', '.join(sorted(listed)) or 'none'}."
        raise Malformed(
            f"`{line.word}` has no field `{name}`.",
            f"{hint} A field that the protocol does not list is `+{name}=…`.",
        )


def _field_value(name: str, value: Any, formats: LineFormats) -> Any:
    if name in formats.codes and isinstance(value, Bare):
        return formats.codes[name](value)
    if name == CALLS and isinstance(value, list):
        return [long_call(call) for call in value]
    return value


def is_short_call(value: Any) -> bool:
    """Whether it is a call that was written `c1:t0`."""
    return isinstance(value, Bare) and ":" in value


def long_call(value: Any) -> Any:
    """The call that a short one stands for; anything else as it is."""
    return call_of(*value.split(":", 1)) if is_short_call(value) else value
