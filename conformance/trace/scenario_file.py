"""Scenario files: a readable form of trace files, for people to write, read and review.

A block is one stimulus in imperative words, `----`, what was observed, one line each, and a blank line,
which says that the answer was complete.  Comments at the top say what the scenario shows.  Every trace can
be written so, and read back whole.

A file may leave out what was observed.  It then holds moves alone, one a line, and a line `needs` says what
they take of a runtime beyond what each move says by itself: `needs decisions live; stimulus cancel.waiting`.
A file of another family than the default one says so in its first line, `family NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from runlock.conformance.errors import UsageError
from runlock.conformance.protocol import Handshake
from runlock.conformance.trace.definitions import Definitions, define
from runlock.conformance.trace.document import ANSWERS, Document, Entry
from runlock.conformance.trace.line_context import LineContext
from runlock.conformance.trace.line_formats import FAMILY, TARGET, LineFormats
from runlock.conformance.trace.parser import read, unknown
from runlock.conformance.trace.printer import write
from runlock.conformance.trace.trace import Record, Trace
from runlock.conformance.trace.values import Malformed

ENDING: Final = ".scenario"
RULE: Final = "----"
NEEDS: Final = "needs"
UNANSWERED: Final = "unanswered"
DEFAULT_FAMILY: Final[str] = Handshake.model_fields["family"].default
"""The family of a file, and of a handshake, that names none."""


# --- writing ------------------------------------------------------------------------------------


def to_text(trace: Trace, formats: LineFormats) -> str:
    """The scenario file of a trace."""
    return render(Document([Entry(record) for record in trace.records]), formats)


def render(document: Document, formats: LineFormats) -> str:
    """The text of a scenario file."""
    context, definitions = LineContext(formats), Definitions()
    blocks = _Blocks(is_spaced=any(entry.is_answer for entry in document.entries))
    family = "" if formats.family == DEFAULT_FAMILY else formats.family
    for index, entry in enumerate(document.entries):
        blocks.comment(entry.comments)
        if index == 0:
            blocks.top([FAMILY, family], [TARGET, document.target], [NEEDS, "; ".join(document.needs)])
        if entry.record is not None:
            blocks.add(entry.record, write(entry.record, context, definitions))
            context.learn(entry.record)
    blocks.end()
    if definitions:
        blocks.comment(definitions.lines())
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


def family_of(text: str) -> str:
    """The family that a scenario file names in its first line, or the default one."""
    lines = (line for line in text.split("\n") if line[:1] not in ("", "#", "@") and not line[0].isspace())
    word, _, name = next(lines, "").partition(" ")
    return name.strip() if word == FAMILY else DEFAULT_FAMILY


def from_text(text: str, formats: LineFormats, source: str = "scenario") -> Trace:
    """The trace in a scenario file; a `UsageError` names the line that cannot be read."""
    return parse(text, formats, source).trace


def parse(text: str, formats: LineFormats, source: str = "scenario") -> Document:
    """A scenario file with its comments."""
    return _Parser(formats, source).document(text)


class _Parser:
    """Reads a file line by line, with what the lines above said."""

    def __init__(self, formats: LineFormats, source: str) -> None:
        self.formats = formats
        self.source = source
        self.number = 0
        self.context = LineContext(formats)
        self.definitions: dict[str, Any] = {}
        self.parsed = Document([], family=formats.family)
        self.is_first = True  # no line but comments above
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
            define(self.definitions, "\n".join(lines))
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
        self.answering, self.closes, self.reported, self.is_first = True, True, [], False

    def _close(self) -> None:
        if self.closes:
            self._add(read(self.reported, self.context, self.definitions))
        self.answering = False

    def _head(self, lines: list[str]) -> None:
        word, _, rest = lines[0].partition(" ")
        formats, is_first, self.is_first = self.formats, self.is_first, False
        if word == FAMILY:
            self._check_family(rest.strip(), is_first)
        elif word == TARGET:
            self.parsed.target = rest.strip()
        elif word == NEEDS:
            self.parsed.needs = tuple(one.strip() for one in rest.split(";"))
        elif word in formats.headings:
            self._add(read(lines, self.context, self.definitions))
        elif word in formats.answers:
            raise Malformed(f"`{word}` is observed, and stands above `{RULE}`.", f"Put `{RULE}` before it.")
        else:
            raise unknown(word, (*formats.headings, TARGET, NEEDS, FAMILY), "stimulus", formats)

    def _check_family(self, name: str, is_first: bool) -> None:
        if not is_first:
            raise Malformed(f"`{FAMILY}` stands below other lines.", "Only comments stand above it.")
        if name != self.formats.family:
            raise Malformed(
                f"This is a file of the family `{name}`.", f"Here files of `{self.formats.family}` are read."
            )

    def _answer(self, lines: list[str]) -> None:
        word = lines[0].partition(" ")[0]
        if lines[0] == UNANSWERED:
            self.closes = False
        elif word in ("refused", "report"):
            read(lines, self.context, self.definitions)  # here, where the number of the line is known
            self.reported += lines
        elif word not in self.formats.answers:
            if word in self.formats.headings:
                raise Malformed(f"`{word}` is no observation.", "A blank line ends a block.")
            raise self._no_kind(word)
        else:
            record = read(lines, self.context, self.definitions)
            self.closes = self.closes and "report" not in record
            self._add(record)

    def _no_kind(self, word: str) -> Malformed:
        error = unknown(word, self.formats.answers, "kind of observation", self.formats)
        return Malformed(error.what, f"{error.right} A kind of the runtime's own is `unlisted {word} …`.")

    def _add(self, record: Record) -> None:
        self.parsed.entries.append(Entry(record, self.comments, self.number))
        self.comments = []
        self.context.learn(record)


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
