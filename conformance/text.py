"""Short text that is safe to print, for any string that comes from a runtime.

Characters that move the cursor, change a colour or reverse the writing direction are shown by their code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

TEXT_LIMIT: Final = 32


def plain(text: object) -> str:
    """The text on one line, with everything that is not a visible character shown by its code."""
    return "".join(char if char.isprintable() else _code(char) for char in str(text))


def counted(number: int, noun: str, many: str = "") -> str:
    """A number with its noun: one step, two steps."""
    if number == 1:
        return f"1 {noun}"
    first, of, rest = noun.partition(" of ")
    return f"{number} {many or f'{first}s{of}{rest}'}"


def either(values: Sequence[str]) -> str:
    """Some values, one of which is meant: a, b or c."""
    *most, last = values
    return f"{', '.join(most)} or {last}" if most else last


def in_markdown(text: str) -> str:
    """The text in Markdown, which shows each of its characters as it is."""
    escaped = re.sub(r"([\\`*_{}\[\]>|#])", r"\\\1", text)
    return re.sub(r"&(?=[#\w])", "&amp;", escaped).replace("<", "&lt;")


def _code(char: str) -> str:
    return " " if char in "\n\t" else char.encode("unicode_escape", "surrogatepass").decode("ascii")


def cut(text: str, limit: int) -> str:
    """The text, with an ellipsis where it is longer than the limit."""
    return text if len(text) <= limit else f"{text[: max(limit - 1, 0)]}…"


def quoted(value: Any) -> str:
    """A JSON value as short text."""
    return cut(plain(json.dumps(value, ensure_ascii=False, default=str)), TEXT_LIMIT)


def difference_of(once: Any, again: Any, where: str = "") -> str:
    """The first place where two JSON values differ, in words; an empty string if they are equal."""
    if isinstance(once, dict) and isinstance(again, dict):
        for key in {**once, **again}:
            inner = f"{where}.{key}".lstrip(".")
            if key not in once or key not in again:
                is_new = key in again
                value = quoted(again[key] if is_new else once[key])
                return (
                    f"`{plain(inner)}` {'was missing, and is' if is_new else 'is missing, and was'} {value}"
                )
            if what := difference_of(once[key], again[key], inner):
                return what
        return ""
    if isinstance(once, list) and isinstance(again, list):
        return difference_of(dict(enumerate(once)), dict(enumerate(again)), where)
    return "" if once == again else f"`{plain(where)}` was {quoted(once)}, and is {quoted(again)}"
