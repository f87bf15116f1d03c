"""Judges threads that differ in names and texts only once.

The *shape* of a thread is its JSON text with every string replaced by the number of its first appearance;
short words without blanks or digits stay as they are, since kinds, statuses and reasons are among them.  Two
threads of one shape and one handshake differ in ids, texts and contents, consistently.  The judge compares
those with each other and with nothing else, so what it finds in one it finds in the other.

One comparison is finer than equality: whether one text contains another.  So a shape is only remembered if
its thread held everything, and holds the same, as often, when each string is replaced by one that contains no
other.  A thread of any other shape is judged itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from runlock.conformance.audit.recording import Piece
from runlock.conformance.audit.summary import SourceSummary, Summary
from runlock.conformance.family.coverage import Coverage

PLAIN: Final = r"[^\"\\\x00-\x1f]*"
STRING: Final = re.compile(rf'"({PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}}){PLAIN})*)"')
ESCAPING: Final = b"\\" + bytes(set(range(32)) - {10})
"""The bytes without which each quotation mark begins or ends a string."""

RENAMED: Final = re.compile(r"[\d\s]")
USAGE: Final = re.compile(r'"usage":\s*\{[^{}"]*(?:"(?:input|output)"[^{}"]*)*\}')
WORDS: Final[set[str]] = set()
"""The words that were met and stay as they are."""

SHAPES_MAX: Final = 20_000


class Shape(NamedTuple):
    """A digest of a shape, and a thread of that shape whose strings do not contain each other."""

    key: bytes
    shared: str
    plain: str

    @property
    def lines(self) -> list[str]:
        """The lines of that thread."""
        return [self.shared, *self.plain.split("\n")]


@dataclass(slots=True)
class Held:
    """What judging a thread found that held everything."""

    format: str
    handshake: Mapping[str, Any]
    thread: str  # the first one by name that was judged
    records: int
    stimuli: int
    is_open: bool
    exercised: Mapping[str, int]
    coverage: Coverage
    policies: frozenset[str]
    rules_out: frozenset[tuple[str, str]]  # values of open policies
    times: int = 0  # threads of its shape that were not judged themselves

    def says_the_same_as(self, other: Held) -> bool:
        """Whether the same clauses were exercised as often, and the same values are ruled out."""
        return self.exercised == other.exercised and self.rules_out == other.rules_out

    def add_to(self, summary: Summary) -> None:
        """Add the threads that were not judged themselves."""
        source = summary.source(self.format, self.handshake)
        source.threads += self.times
        source.open += self.is_open * self.times
        source.records += self.records * self.times
        source.stimuli += self.stimuli * self.times
        source.policies |= self.policies
        self._add_counts(source)
        self.times = 0

    def _add_counts(self, source: SourceSummary) -> None:
        found, total = self.coverage, source.coverage
        pairs: list[tuple[Mapping[Any, int], Counter[Any]]] = [
            (self.exercised, source.exercised),
            (found.arrows, total.arrows),
            (found.pairs, total.pairs),
            (found.cells, total.cells),
        ]
        for counted, into in pairs:
            into.update({key: number * self.times for key, number in counted.items()})


class Shapes:
    """The shapes that are remembered."""

    def __init__(self) -> None:
        self.known: dict[bytes, Held] = {}
        self.once: set[bytes] = set()  # shapes that were met once: most of a rare kind are never met again

    def met(self, shape: bytes, thread: str) -> bool:
        """Count a thread of a shape that is remembered; false if it has to be judged.

        The first thread by name that rules out a value is the one that shows it, so it is judged.
        """
        held = self.known.get(shape)
        if held is None or (held.rules_out and thread < held.thread):
            return False
        held.times += 1
        return True

    def is_known(self, shape: bytes, thread: str) -> bool:
        """Whether a shape is remembered; then a thread of it was judged all the same, the first by name."""
        held = self.known.get(shape)
        if held is not None:
            held.thread = min(held.thread, thread)
        return held is not None

    def is_frequent(self, shape: bytes) -> bool:
        """Whether a shape was met before, so that it is worth to be remembered."""
        is_known = shape in self.once
        if not is_known and len(self.once) < SHAPES_MAX:
            self.once.add(shape)
        return is_known

    def remember(self, shape: bytes, held: Held) -> None:
        """Remember a shape, unless there are many already."""
        if len(self.known) < SHAPES_MAX:
            self.known[shape] = held

    def forget_counts(self) -> None:
        """Drop what was counted since the last time: it is of a file that was not read to its end."""
        for held in self.known.values():
            held.times = 0

    def flush(self, summary: Summary) -> None:
        """Add the threads that were counted since the last time."""
        for held in self.known.values():
            if held.times:
                held.add_to(summary)


def shape_of(piece: Piece) -> Shape | None:
    """The shape of a thread; None if a text or a number of it may say what is right.

    A stop condition reads them, and so does the stream that a watcher asks for.
    """
    text = "".join(piece.own)
    if '"stop"' in text or '"stream"' in text:
        return None
    try:
        parts = _parts(USAGE.sub('"usage":{}', text) if '"usage"' in text else text)
        strings = parts[1::2]
        names = {one: one if one in WORDS else _name(one, n) for n, one in enumerate(dict.fromkeys(strings))}
        parts[1::2] = map(names.__getitem__, strings)
        plain = '"'.join(parts)
        return Shape(blake2b(f"{piece.shared}{plain}".encode(), digest_size=16).digest(), piece.shared, plain)
    except ValueError:  # not UTF-8, or a string that goes over a line
        return None


def _parts(text: str) -> list[str]:
    """What is outside of strings and, at each odd place, what is in them."""
    data = text.encode()
    is_simple = len(data.translate(None, ESCAPING)) == len(data)
    return text.split('"') if is_simple else STRING.split(text)


def _name(string: str, number: int) -> str:
    """What stands for a string in a shape: itself if it is a plain word, else its number."""
    if "\n" in string:
        raise ValueError("a string goes over a line")
    if RENAMED.search(string):
        return f"~{number}~"
    if len(WORDS) < SHAPES_MAX:
        WORDS.add(string)
    return string
