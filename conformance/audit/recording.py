"""What an importer makes of a recording, and what it says about its format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from runlock.conformance.trace.trace import Trace

Shown = Literal["shown", "in part", "not shown"]


@dataclass(frozen=True, slots=True)
class Grade:
    """How much of a run a format shows."""

    statuses: Shown
    decisions: Shown
    results: Shown
    order: Shown
    ends: Shown

    def as_dict(self) -> dict[str, Shown]:
        """The grade as JSON."""
        return asdict(self)


class Row(NamedTuple):
    """A record, and the thread that it belongs to; the engine adds where it stands."""

    thread: str
    record: Any
    line: int = 0
    file: int = 0  # the number of the file


@dataclass(slots=True)
class Recording:
    """One thread as a trace, and what was left over of its records."""

    thread: str
    trace: Trace
    is_open: bool = False  # it ends before its run did
    unknown: Counter[str] = field(default_factory=Counter)  # kinds of record that the importer does not know
    unexplained: list[str] = field(default_factory=list)  # records that do not fit the rest, as sentences
    hidden: frozenset[str] = frozenset()  # clauses that this thread does not show, though its format can


class Piece(NamedTuple):
    """A thread as text: the line that it shares with others, and its own from the line of that number on."""

    thread: str
    shared: str
    line: int
    own: list[str]

    @property
    def lines(self) -> list[str]:
        """All of its lines."""
        return [self.shared, *self.own] if self.shared else self.own

    @property
    def first(self) -> int:
        """The number of the first of its lines; the shared one counts as the line before."""
        return self.line - bool(self.shared)


class Importer(Protocol):
    """Reads one format; found by its name, or through an entry point of the group `runlock.importers`."""

    name: str
    says: str  # the format in a few words
    clauses: (
        frozenset[str] | None
    )  # those that the format can show held and broken; None: as the handshake says
    is_scattered: bool  # the records of a thread may be apart: in several files, or between those of others

    def grade(self, handshake: Mapping[str, Any]) -> Grade:
        """How much a recording with this handshake shows."""
        ...

    def recognises(self, record: Any) -> bool:
        """Whether a file with this record among its first ones is of the format."""
        ...

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """The records of one file, each with its thread; `source` names the file."""
        ...

    def recordings(self, thread: str, records: Sequence[Any]) -> Iterable[Recording]:
        """The trace of one thread, from all of its records; one more for each agent that it calls as a tool.

        The records of one file come in its order.
        """
        ...


@runtime_checkable
class TextImporter(Protocol):
    """An importer that finds the threads of a file in its text, so that not each has to be parsed."""

    def texts(self, lines: Iterable[str], source: str) -> Iterator[Piece]:
        """The threads of a file of JSON Lines."""
        ...


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is no JSON within the bounds, in the place of its record; `why` completes "it …"."""

    line: int
    why: str

    @property
    def sentence(self) -> str:
        """What is wrong, as a sentence."""
        return f"line {self.line} {self.why}"
