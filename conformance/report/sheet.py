"""A sheet about one name, as a page for a person and as an object for JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.report.console import Page

SCHEMA: Final = 1
MARGIN: Final = "    "


@dataclass(frozen=True, slots=True)
class Said:
    """Sentences or names with one label."""

    label: str
    texts: Sequence[str]

    def write(self, page: Page) -> None:
        """Write them on the page, each on its own line."""
        for number, text in enumerate(self.texts):
            page.labelled("" if number else self.label, text)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A table or a timeline under one label, after a blank line, in the available width."""

    label: str
    title: str
    draw: Callable[[int], Sequence[str]]
    below: Sequence[str] = ()

    def write(self, page: Page) -> None:
        """Write it on the page."""
        page.line()
        page.labelled(self.label, self.title)
        for line in self.draw(page.width - len(MARGIN)):
            page.line(f"{MARGIN}{line}" if line else "")
        for text in self.below:
            page.wrapped(text, indent=MARGIN)


Part = Said | Drawn


@dataclass(frozen=True, slots=True)
class Sheet:
    """Everything about one name."""

    kind: str
    name: str
    rest: str  # of the headline
    parts: Sequence[Part]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def write(self, page: Page) -> None:
        """Write the whole sheet on a page."""
        page.headline(self.name, self.rest, "cyan")
        for part in self.parts:
            part.write(page)

    def as_json(self) -> dict[str, Any]:
        """The whole sheet for JSON."""
        return {"kind": self.kind, "name": self.name, **self.facts}


def in_columns(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Rows of short words and a last text that is wrapped in its column."""
    if not rows:
        return []
    *sizes, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    left = sum(sizes) + 2 * len(sizes)
    lines: list[str] = []
    for *cells, text in rows:
        start = "".join(f"{cell:<{size}}  " for cell, size in zip(cells, sizes, strict=True))
        first, *more = textwrap.wrap(text, max(width - left, 20), break_on_hyphens=False) or [""]
        lines += [f"{start}{first}".rstrip(), *(f"{' ' * left}{line}" for line in more)]
    return lines
