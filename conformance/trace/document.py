"""A scenario file as a value: records, with the comments and lines of their source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.trace.trace import Record, Trace

ANSWERS: Final = ("observation", "report")


@dataclass(slots=True)
class Entry:
    """A record with the comments above it and the line on which it begins; without one, only comments."""

    record: Record | None
    comments: list[str] = field(default_factory=list)
    line: int = 0

    @property
    def is_answer(self) -> bool:
        """Whether the record comes from the runtime."""
        return self.record is not None and next(iter(self.record)) in ANSWERS


@dataclass(slots=True)
class Document:
    """A scenario file: its entries, the target it was recorded on, its family, and what its moves need."""

    entries: list[Entry]
    target: str = ""
    family: str = ""
    needs: tuple[str, ...] = ()

    @property
    def trace(self) -> Trace:
        """The records alone."""
        return Trace([entry.record for entry in self.entries if entry.record is not None])

    @property
    def numbered(self) -> list[tuple[int, Record]]:
        """The records, each with the line on which it begins."""
        return [(entry.line, entry.record) for entry in self.entries if entry.record is not None]

    @property
    def about(self) -> str:
        """The comments at the top, without their marks."""
        top = self.entries[0].comments if self.entries else []
        return "\n".join(comment.lstrip("#").strip() for comment in top)


def is_move(record: Record) -> bool:
    """Whether the kit chooses to send it; `recover` is a part of the crash before it."""
    if "crash" in record:
        return True
    stimulus: Mapping[str, Any] | None = record.get("stimulus")
    return stimulus is not None and stimulus["method"] != "recover"


def rewritten(document: Document, answers: Sequence[Sequence[Record]], end: Record | None) -> Document:
    """The document with new answers: for each of its moves, the records that sending it produced, or none."""
    left = iter(answers)
    entries: list[Entry] = []
    for entry in document.entries:
        record = entry.record
        if record is None or not is_move(record):
            keeps = record is None or next(iter(record)) in ("handshake", "scenario")
            entries += [entry] if keeps else []
            continue
        gave = list(next(left, ())) or [record]
        entries.append(Entry(gave[0], entry.comments, entry.line))
        entries += [Entry(later) for later in gave[1:]]
    whole = entries + ([Entry(end)] if end is not None else [])
    return Document(whole, document.target, document.family, document.needs)
