"""One JSON object a line: how the pipe writes it, reads it, and quotes a line that is not one.

A line that passes here is safe for all later code: no text without a UTF-8 form, no number outside JSON,
no nesting that exhausts the stack.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from runlock.conformance.inputs import DEPTH_MAX, NotJson, decoded

LINE_LIMIT_BYTES: Final = 4 * 1024 * 1024
QUOTE_LIMIT: Final = 100
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


class NotALine(Exception):
    """The bytes are not a line of the protocol; the words complete the sentence "it …"."""


def encode(message: dict[str, Any]) -> bytes:
    """The message as one line; `ValueError` or `TypeError` if it is not JSON."""
    return _ENCODER.encode(message).encode("ascii") + b"\n"


def decode(line: bytes | bytearray) -> Any:
    """The value of the line; `NotALine` if it cannot be read."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotALine(f"is not UTF-8 (byte 0x{line[error.start]:02x} at position {error.start})") from None
    try:
        message = decoded(line, lambda _: _parsed(text))
    except NotJson as error:
        raise NotALine(str(error)) from None
    if _SURROGATE.search(line):
        _refuse_lone_surrogates(message)
    return message


def detached(message: Any) -> Any:
    """A copy made through JSON, so that neither side can change the other's data."""
    try:
        return decode(_ENCODER.encode(message).encode("ascii"))
    except RecursionError:
        raise NotALine(f"is nested deeper than {DEPTH_MAX} levels") from None
    except (TypeError, ValueError) as error:
        raise NotALine(f"is no JSON ({error})") from None


def quote(text: bytes | bytearray | str, limit: int = QUOTE_LIMIT) -> str:
    """The first characters, escaped, so that any bytes fit into a sentence."""
    if not isinstance(text, str):
        text = bytes(text[: 4 * (limit + 1)]).decode("utf-8", "backslashreplace")
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    return f"“{shown}…”" if len(text) > limit else f"“{shown}”"


def _parsed(text: str) -> Any:
    return _DECODER.decode(_without_mark(text))


def _without_mark(text: str) -> str:
    if text.startswith("\ufeff"):
        raise ValueError("a byte order mark stands before it")
    return text


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits} is too large for a number")
    return number


def _refuse_lone_surrogates(message: Any) -> None:
    try:
        json.dumps(message, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise NotALine("holds half a surrogate pair, which is no text") from None


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
"""Created once: `json.loads` creates one for each line, which takes as long as parsing a short line."""

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
