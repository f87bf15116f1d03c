"""Plain text for a terminal: wrapped explicitly, coloured only on a terminal, never interpreted as markup."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final, TextIO

from rich.console import Console
from rich.text import Text

LABEL: Final = 10
"""How wide the column of labels is."""

INDENT: Final = "  "
NO_BREAK: Final = "\u00a0"
"""A space at which a line is not broken."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """The reader closed the pipe; the exit code stays the same."""
        self.quiet = True


class Page:
    """Lines for a person, in the width of the terminal, or of 100 columns if there is none."""

    def __init__(self, stream: TextIO, width: int | None = None) -> None:
        is_terminal = stream.isatty()
        self.console = _Console(
            file=stream,
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=True,
            width=width or (None if is_terminal else 100),
        )

    @property
    def width(self) -> int:
        """How many columns a line has."""
        return self.console.width

    def line(self, text: str = "", style: str = "") -> None:
        """One line as it is."""
        self.console.print(Text(text, style=style))

    def wrapped(self, text: str, style: str = "", indent: str = "") -> None:
        """A text, wrapped over as many lines as it needs."""
        for line in self._wrapped(text, indent):
            self.line(line, style)

    def headline(self, word: str, rest: str, style: str) -> None:
        """A first line whose first word is highlighted."""
        first, *more = self._wrapped(f"{word}{rest}", "", "  ")
        news = Text(first[: len(word)], style=f"bold {style}")
        self.console.print(news.append(first[len(word) :], style="bold"))
        for line in more:
            self.line(line, "bold")

    def columns(self, left: str, text: str, style: str = "") -> None:
        """A text with a hanging indent."""
        for number, line in enumerate(self._wrapped(text, "", width=self.width - len(left))):
            self.line(f"{left if number == 0 else ' ' * len(left)}{line}", style)

    def labelled(self, label: str, text: str) -> None:
        """A text with a label to its left."""
        self.block(label, self._wrapped(text, "", width=self.width - len(INDENT) - LABEL))

    def block(self, label: str, lines: Sequence[str]) -> None:
        """Lines with a label to their left, not wrapped."""
        for number, line in enumerate(lines):
            shown = Text(INDENT).append((label if number == 0 else "").ljust(LABEL), style="dim")
            self.console.print(shown.append(line))

    def _wrapped(
        self, text: str, indent: str, hanging: str | None = None, width: int | None = None
    ) -> list[str]:
        lines = textwrap.wrap(
            text,
            max(width or self.width, 20),
            initial_indent=indent,
            subsequent_indent=indent if hanging is None else hanging,
            break_on_hyphens=False,
            break_long_words=False,
        )
        return [line.replace(NO_BREAK, " ") for line in lines] or [""]
