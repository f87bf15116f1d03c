"""Definitions: long values of a scenario file, written at its end as the changes to an earlier one.

`@state2 = @state1 +{run={status=Done}}` means: the value of `@state1`, with this change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from runlock.conformance.trace.values import (
    Malformed,
    changes,
    decode,
    encode,
    same,
    word,
)

SHORT: Final = 76
"""A value no longer than this stays in its line."""

WIDTH: Final = 110

_DEFINITION: Final = re.compile(r"@([^\s=]+)\s*=\s*(.*)", re.DOTALL)


class Definitions(dict[str, Any]):
    """The definitions of a file by name, in the order in which they were first needed."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[str, str] = {}
        self._newest: dict[str, str] = {}  # the newest definition for each field

    def text(self, field: str, value: Any) -> str:
        """The value as it stands in a line: itself, or the name of its definition."""
        whole = encode(value)
        if not isinstance(value, list | Mapping) or len(whole) <= SHORT:
            return whole
        known = next((name for name, held in self.items() if same(held, value)), None)
        return f"@{known or self._define(field, value, whole)}"

    def _define(self, field: str, value: Any, whole: str) -> str:
        stem = field if re.fullmatch(r"[a-z]+", field) else "value"
        name = f"{stem}{sum(1 for other in self if other.rstrip('0123456789') == stem) + 1}"
        before = self._newest.get(stem)
        change = changes(self[before], value) if before is not None else None
        if change is not None:
            change = f"@{before} {change if change.startswith('+') else '+' + change}"
        text = change if change is not None and len(change) < len(whole) else _laid_out(value, whole)
        self._texts[name] = text
        self._newest[stem] = name
        self[name] = decode(text, self)
        return name

    def lines(self) -> list[str]:
        """The definitions as they stand at the end of the file."""
        return [f"@{name} = {text}" for name, text in self._texts.items()]


def _laid_out(value: Any, whole: str) -> str:
    if len(whole) <= WIDTH:
        return whole
    if isinstance(value, Mapping):
        return f"{{{_filled(f'{word(key)}={encode(inner)}' for key, inner in value.items())}}}"
    return f"[{_filled(encode(item) for item in value)}]"


def _filled(items: Iterable[str]) -> str:
    """The items in lines as long as they may be, but never with an item cut in two."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) < WIDTH:
            lines[-1] += f" {item}"
        else:
            lines.append(item)
    return "\n  ".join(lines)


def define(definitions: dict[str, Any], text: str) -> None:
    """Add one definition, as it stands in a file."""
    definition = _DEFINITION.fullmatch(text)
    if definition is None:
        raise Malformed(
            "A definition has a name and a value.", "Write `@name = value`, or `@name = @other +{…}`."
        )
    name, written = definition.groups()
    if name in definitions:
        raise Malformed(f"@{name} is defined twice.", "Each definition has a name of its own.")
    definitions[name] = decode(written, definitions)
