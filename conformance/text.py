"""Short text that is safe to print, whatever a runtime put into it.

What would move the cursor, change a colour or reverse the writing direction is shown by its code.
"""

from __future__ import annotations

import json
from typing import Any, Final

TEXT_LIMIT: Final = 32


def plain(text: object) -> str:
    """The text on one line, with everything that is not a visible character shown by its code."""
    return "".join(char if char.isprintable() else _code(char) for char in str(text))


def _code(char: str) -> str:
    return " " if char in "\n\t" else char.encode("unicode_escape", "surrogatepass").decode("ascii")


def cut(text: str, limit: int) -> str:
    """The text, with an ellipsis where it is longer than the limit."""
    return text if len(text) <= limit else f"{text[: max(limit - 1, 0)]}…"


def quoted(value: Any) -> str:
    """A JSON value in few words."""
    return cut(plain(json.dumps(value, ensure_ascii=False, default=str)), TEXT_LIMIT)
