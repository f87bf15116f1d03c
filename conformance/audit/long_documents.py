"""Reads a JSON document that is too long to be parsed as a whole: element by element.

The document is an array, or an object with arrays under some of its keys.  Each object or array in one of
them is an element, which is bounded as a line is; what else the document has is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from runlock.conformance import inputs
from runlock.conformance.inputs import DEPTH_MAX, Damaged, Lines

TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|["\[\]{}]', re.DOTALL)
"""A whole string, a bracket, or the quotation mark of a string that goes on."""

PIECE: Final = 4 * 1024 * 1024
"""Bytes that are read at once."""

OPENING: Final = (b"[", b"{")
NOTHING: Final = "Nothing in it was judged."


def elements(path: Path) -> Iterator[tuple[str, bytes]]:
    """The elements of a document as text, each with the key of its array; "" where the document is one."""
    scanner = _Scanner(path)
    for piece in Lines(path).pieces(PIECE):
        yield from scanner.take(piece)
    if scanner.depth or not scanner.root:
        raise Damaged(f"{path} is a document that breaks off.", NOTHING)


class _Scanner:
    """Follows strings and brackets; `text` begins with the element that is not complete yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = b""
        self.at = 0  # where the next token is looked for
        self.depth = 0
        self.root = self.key = b""
        self.is_array = False  # whether the value at the first level of an object is an array
        self.begins: int | None = None

    def take(self, piece: bytes) -> Iterator[tuple[str, bytes]]:
        """The elements that end in the next piece of the document."""
        self.text += piece
        for token in TOKEN.finditer(self.text, self.at):
            if token[0] == b'"':
                break  # the string goes on in the next piece
            self.at = token.end()
            if token[0] in OPENING:
                self._open(token[0], token.start())
            elif token[0][:1] != b'"':
                self.depth -= 1
                if self.begins is not None and self.depth == self._level:
                    yield self.key[1:-1].decode("utf-8", "replace"), self.text[self.begins : self.at]
                    self.begins = None
            elif self.depth == 1:
                self.key = token[0] if self.root == b"{" else b""
        self._forget()

    @property
    def _level(self) -> int:
        """The depth at which elements stand."""
        return 1 if self.root == b"[" else 2

    def _open(self, bracket: bytes, at: int) -> None:
        if not self.root:
            self.root = bracket
        elif self.depth == 0:
            raise Damaged(
                f"{self.path} has a line that is longer than {inputs.SIZE_MAX // 1024**2} MiB.", NOTHING
            )
        elif self.depth == 1 and self.root == b"{":
            self.is_array = bracket == b"["
        if self.depth == self._level and (self.root == b"[" or self.is_array):
            self.begins = at
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise Damaged(f"{self.path} is nested deeper than {DEPTH_MAX} levels.", NOTHING)

    def _forget(self) -> None:
        """Drop what is behind, which may be long; an element that is longer than a line may be is refused."""
        keep = self.at if self.begins is None else self.begins
        self.text, self.at = self.text[keep:], self.at - keep
        self.begins = None if self.begins is None else 0
        if len(self.text) > inputs.SIZE_MAX:
            raise Damaged(
                f"{self.path}: a part of it is longer than {inputs.SIZE_MAX // 1024**2} MiB.", NOTHING
            )
