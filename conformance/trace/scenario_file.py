"""Scenario files: the readable twin of a trace file, for people to write, read and review.

A block is one stimulus in imperative words, `----`, what was observed, one line each, and a blank line,
which says that the answer was complete.  Comments at the top say what the scenario shows.  Every trace can
be written so, and read back whole.

A file may leave out what was observed.  It then holds moves alone, one a line, and a line `needs` says what
they take of a runtime beyond what each move says by itself: `needs decisions live; stimulus cancel.waiting`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from runlock.conformance.errors import UsageError
from runlock.conformance.trace.definitions import Notes, define
from runlock.conformance.trace.input_files import text_of
from runlock.conformance.trace.line_formats import HEADS, SEEN, Known
from runlock.conformance.trace.parser import read, unknown
from runlock.conformance.trace.printer import write
from runlock.conformance.trace.trace import Record, Trace, read_trace
from runlock.conformance.trace.values import Malformed

ENDING: Final = ".scenario"
RULE: Final = "----"
TARGET: Final = "target"
NEEDS: Final = "needs"
UNANSWERED: Final = "unanswered"
ANSWERS: Final = ("observation", "report")


@dataclass(slots=True)
class Entry:
    """A record with the comments above it and the line that it begins on; without one, only comments."""

    record: Record | None
    comments: list[str] = field(default_factory=list)
    line: int = 0

    @property
    def is_answer(self) -> bool:
        """Whether the runtime said it."""
        return self.record is not None and next(iter(self.record)) in ANSWERS


@dataclass(slots=True)
class Document:
    """A scenario file: its records, its comments, the target it was recorded on, what its moves need."""

    entries: list[Entry]
    target: str = ""
    needs: tuple[str, ...] = ()

    @property
    def trace(self) -> Trace:
        """The records alone."""
        return Trace([entry.record for entry in self.entries if entry.record is not None])

    @property
    def about(self) -> str:
        """The comments at the top, without their marks."""
        top = self.entries[0].comments if self.entries else []
        return "\n".join(comment.lstrip("#").strip() for comment in top)


# --- writing ------------------------------------------------------------------------------------


def to_text(trace: Trace) -> str:
    """The scenario file that says this trace."""
    return render(Document([Entry(record) for record in trace.records]))


def render(document: Document) -> str:
    """The text of a scenario file."""
    known, notes = Known(), Notes()
    blocks = _Blocks(is_spaced=any(entry.is_answer for entry in document.entries))
    for index, entry in enumerate(document.entries):
        blocks.comment(entry.comments)
        if index == 0:
            blocks.top([TARGET, document.target], [NEEDS, "; ".join(document.needs)])
        if entry.record is not None:
            blocks.add(entry.record, write(entry.record, known, notes))
            known.learn(entry.record)
    blocks.end()
    if notes:
        blocks.comment(notes.lines())
    return "\n".join(blocks.lines) + "\n" if blocks.lines else ""


class _Blocks:
    """Puts lines together to blocks, with a blank line between two moves if they are spaced."""

    def __init__(self, *, is_spaced: bool) -> None:
        self.lines: list[str] = []
        self.answering = False
        self.is_spaced = is_spaced
        self.ends_a_part = False  # the next line comes after a blank one in any case

    def top(self, *words: list[str]) -> None:
        """The lines before the scenario."""
        told = [" ".join(line) for line in words if line[1]]
        if told:
            self.head(told)
            self.ends_a_part = True

    def comment(self, comments: Sequence[str]) -> None:
        if comments:
            self.end()
            self.lines += ([""] if self.lines else []) + list(comments)

    def add(self, record: Record, lines: Sequence[str]) -> None:
        key = next(iter(record))
        if key not in ANSWERS:
            self.head(lines)
            self.ends_a_part = key == "scenario"
            return
        if not self.answering:
            self.lines.append(RULE)
            self.answering = True
        self.lines += lines
        if key == "report":
            self.lines.append("")
            self.answering = False

    def head(self, lines: Sequence[str]) -> None:
        self.end()
        last = self.lines[-1] if self.lines else "#"
        if (self.is_spaced or self.ends_a_part) and last and not last.startswith("#"):
            self.lines.append("")
        self.ends_a_part = False
        self.lines += lines

    def end(self) -> None:
        """Whatever was being answered got no report."""
        if self.answering:
            self.lines += [UNANSWERED, ""]
        self.answering = False
        while self.lines and not self.lines[-1]:
            self.lines.pop()


# --- reading ------------------------------------------------------------------------------------


def from_text(text: str, source: str = "scenario") -> Trace:
    """The trace that a scenario file says; `UsageError` names the line that says nothing."""
    return parse(text, source).trace


def read_scenario(path: Path) -> Trace:
    """Read a scenario file."""
    return from_text(text_of(path, "A scenario file is UTF-8 text."), str(path))


def read_recording(path: Path) -> Trace:
    """Read a trace file, or its readable twin, by the ending of its name."""
    return read_scenario(path) if path.suffix == ENDING else read_trace(path)


def parse(text: str, source: str = "scenario") -> Document:
    """A scenario file with its comments."""
    parser = _Parser(source)
    return parser.document(text)


class _Parser:
    """Goes through a file line by line, knowing what stands above."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.number = 0
        self.known = Known()
        self.notes: dict[str, Any] = {}
        self.parsed = Document([])
        self.comments: list[str] = []
        self.answering = False
        self.reported: list[str] = []  # lines of the report that the blank line will close
        self.closes = True

    def document(self, text: str) -> Document:
        chunks = list(_chunks(text))
        self._each((number, lines) for number, lines in chunks if lines[0].startswith("@"))
        self._each((number, lines) for number, lines in chunks if not lines[0].startswith("@"))
        if self.answering:
            self._close()
        if self.comments:
            self.parsed.entries.append(Entry(None, self.comments, self.number))
        return self.parsed

    def _each(self, chunks: Iterable[tuple[int, list[str]]]) -> None:
        for number, lines in chunks:
            self.number = number
            try:
                self._chunk(lines)
            except Malformed as error:
                raise UsageError(f"{self.source}:{number}: {error.what}", error.right) from None
            except RecursionError:
                raise UsageError(
                    f"{self.source}:{number}: a value is nested too deep.", "No message of the protocol is."
                ) from None

    def _chunk(self, lines: list[str]) -> None:
        first = lines[0]
        if first.startswith("@"):
            define(self.notes, "\n".join(lines))
        elif not first:
            if self.answering:
                self._close()
        elif first.startswith("#"):
            self._comment(first)
        elif first[0].isspace():
            raise Malformed(
                "A line is indented under nothing.", "Only the lines of a race and of a scenario are."
            )
        elif first == RULE:
            self._open()
        elif self.answering:
            self._answer(lines)
        else:
            self._head(lines)

    def _comment(self, line: str) -> None:
        if self.answering:
            raise Malformed(
                "A comment stands among what was observed, which --rewrite replaces.",
                "Put it above the stimulus.",
            )
        self.comments.append(line)

    def _open(self) -> None:
        if self.answering:
            raise Malformed(f"`{RULE}` stands in a block for the second time.", "A blank line ends a block.")
        self.answering, self.closes, self.reported = True, True, []

    def _close(self) -> None:
        if self.closes:
            self._add(read(self.reported, self.known, self.notes))
        self.answering = False

    def _head(self, lines: list[str]) -> None:
        word = lines[0].partition(" ")[0]
        if word == TARGET:
            self.parsed.target = lines[0].removeprefix(TARGET).strip()
        elif word == NEEDS:
            self.parsed.needs = tuple(one.strip() for one in lines[0].removeprefix(NEEDS).split(";"))
        elif word not in HEADS:
            if word in SEEN:
                raise Malformed(
                    f"`{word}` is observed, and stands above `{RULE}`.", f"Put `{RULE}` before it."
                )
            raise unknown(word, (*HEADS, TARGET, NEEDS), "stimulus")
        else:
            self._add(read(lines, self.known, self.notes))

    def _answer(self, lines: list[str]) -> None:
        word = lines[0].partition(" ")[0]
        if lines[0] == UNANSWERED:
            self.closes = False
        elif word in ("refused", "report"):
            read(lines, self.known, self.notes)  # here, where the number of the line is known
            self.reported += lines
        elif word not in SEEN:
            if word in HEADS:
                raise Malformed(f"`{word}` is no observation.", "A blank line ends a block.")
            raise _not_seen(word)
        else:
            record = read(lines, self.known, self.notes)
            self.closes = self.closes and "report" not in record
            self._add(record)

    def _add(self, record: Record) -> None:
        self.parsed.entries.append(Entry(record, self.comments, self.number))
        self.comments = []
        self.known.learn(record)


def _not_seen(word: str) -> Malformed:
    error = unknown(word, SEEN, "kind of observation")
    return Malformed(error.what, f"{error.right} A kind of the runtime's own is `unlisted {word} …`.")


def _chunks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Lines by number, each with those that are indented under it."""
    chunk: tuple[int, list[str]] | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip()
        if line[:1].isspace() and chunk is not None and _may_go_on(chunk[1][0]):
            chunk[1].append(line)
            continue
        if chunk is not None:
            yield chunk
        chunk = (number, [line])
    if chunk is not None:
        yield chunk


def _may_go_on(line: str) -> bool:
    return bool(line) and not line.startswith("#") and not line[0].isspace() and line != RULE


# --- rewriting ----------------------------------------------------------------------------------


def is_move(record: Record) -> bool:
    """Whether it is something that the kit decides to send: `recover` is a part of the crash before it."""
    if "crash" in record:
        return True
    stimulus: Mapping[str, Any] | None = record.get("stimulus")
    return stimulus is not None and stimulus["method"] != "recover"


def rewritten(document: Document, answers: Sequence[Sequence[Record]], end: Record | None) -> Document:
    """The document with new answers: for each of its moves the records that sending it gave, or none."""
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
    return Document(entries + ([Entry(end)] if end is not None else []), document.target, document.needs)
