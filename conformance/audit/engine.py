"""Reads recordings and judges them, in this process or in several.

Where every thread lies in one piece in one file, each is judged as soon as it has been read.  Otherwise the
records are first brought together by thread (see `partitions`).  The summary is the same however many
processes there are, since summaries add up to the same one in any order; and so only one of them, which does
not grow with the input, is kept while many are at work.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final, Protocol

from runlock.conformance.audit.formats import HEAD, importer_named, importer_of, refusal
from runlock.conformance.audit.judging import ThreadJudge
from runlock.conformance.audit.origins import Origin
from runlock.conformance.audit.partitions import PARTITIONS, rows_of, split
from runlock.conformance.audit.reading import is_named, is_text, lines_of, placed_of, records_of, values_of
from runlock.conformance.audit.recording import Importer, Piece, Row, TextImporter, Unreadable
from runlock.conformance.audit.shapes import Held, shape_of
from runlock.conformance.audit.summary import HELD, IDLE, NOT_READ, Summary
from runlock.conformance.errors import UsageError
from runlock.conformance.extras import MissingExtra
from runlock.conformance.inputs import RECORDS_MAX, Damaged
from runlock.conformance.judging.selection import EVERYTHING, Selection

Advanced = Callable[[int], None]
"""Called with the number of files that were read."""

NAMES: Final = "files.json"
"""The names of all files, for the processes that judge their parts."""

NOTHING_READ: Final = "nothing of it could be read"


@dataclass(frozen=True, slots=True)
class Task:
    """How files are read and judged; the same in every process."""

    format: str | None = None
    selection: Selection = EVERYTHING
    folders: tuple[Path, ...] = ()  # in which files are looked for

    def importer(self, path: Path) -> Importer | None:
        """The importer of a file; None if there is nothing in it, `UsageError` if no format fits."""
        incidents: list[str] = []
        with closing(records_of(path, incidents.append)) as records:
            first = list(islice(records, HEAD))
        found = importer_of(first)
        if self.format is not None:
            return self._named(self.format, first, found, path)
        if found is None and not incidents and is_blank(first) and path.stat().st_size:
            return None
        if found is None:
            unreadable = [one.sentence for one in first if isinstance(one, Unreadable)]
            why = incidents or unreadable or [refusal(first) if first else "it is empty"]
            is_found = any(folder in path.parents for folder in self.folders)
            error = NoRecords if is_found and (not is_named(path) or is_settings(first)) else UsageError
            raise error(f"{path}: {NOTHING_READ}; {why[0]}.")
        return found

    def _named(self, name: str, first: Sequence[Any], found: Importer | None, path: Path) -> Importer:
        """The importer that the user names, unless it knows none of the records and another one does."""
        named = importer_named(name)
        if found is not None and not any(map(named.recognises, first)):
            raise UsageError(f"{path}: {NOTHING_READ}; it is no {name}, but looks like {found.name}.")
        return named


class NoRecords(UsageError):
    """A file of a folder that holds no records, and whose name does not say that it does."""


def is_blank(records: Sequence[Any]) -> bool:
    """Whether records hold nothing but empty lists, as an export of no spans does."""
    return all(not any(_lists(record)) and (record == [] or bool(_lists_of(record))) for record in records)


def is_settings(records: Sequence[Any]) -> bool:
    """Whether it is one object in which no list has objects, as settings are and no recording is."""
    return len(records) == 1 and isinstance(records[0], dict) and not _has_objects(records[0])


def _has_objects(value: Any) -> bool:
    """Whether a list within the value has an object in it."""
    if isinstance(value, dict):
        return any(map(_has_objects, value.values()))
    return isinstance(value, list) and any(isinstance(one, dict | list) for one in value)


def _lists(record: Any) -> list[Any]:
    return [one for one in _lists_of(record) if one]


def _lists_of(record: Any) -> list[Any]:
    return [one for one in record.values() if isinstance(one, list)] if isinstance(record, dict) else []


class Workers(Protocol):
    """Processes that run tasks; the results come in any order."""

    def run(self, work: Callable[..., Summary], of: Iterable[tuple[Any, ...]]) -> Iterator[Summary]:
        """The results of calling `work` with each of these arguments, few of them at a time."""
        ...


def judged(
    files: Sequence[Path],
    task: Task,
    advanced: Advanced,
    workers: AbstractContextManager[Workers] | None = None,
    scratch: Path | None = None,
) -> Summary:
    """The summary of all files; without workers, this process does it all."""
    total = Summary()
    with tempfile.TemporaryDirectory(dir=scratch, prefix="runlock-audit-") as name:
        folder = Path(name)
        (folder / NAMES).write_text(json.dumps([str(path) for path in files]), "utf-8")
        if workers is None:
            for number, path in enumerate(files, 1):
                read_file(task, number, path, folder, total)
                advanced(number)
            for part in range(PARTITIONS):
                judge_part(task, part, folder, total)
            return total
        with workers as crew:
            every = ((task, number, path, folder) for number, path in enumerate(files, 1))
            for number, summary in enumerate(crew.run(read_file, every), 1):
                total.add(summary)
                advanced(number)
            for summary in crew.run(judge_part, ((task, part, folder) for part in range(PARTITIONS))):
                total.add(summary)
    return total


def read_file(task: Task, number: int, path: Path, folder: Path, into: Summary | None = None) -> Summary:
    """Judge a file in which no thread is apart; write the rows of any other one to the partitions."""
    found, judge = Summary(), _judge_of(task)
    try:
        _read(task, number, path, folder, found)
    except MissingExtra:
        raise
    except NoRecords:
        found.pass_by(str(path))
    except UsageError as error:
        found = found if not isinstance(error, Damaged) else Summary()
        found.outcome(str(path), NOT_READ)
        found.error(f"{error}" if str(path) in str(error) else f"{path}: {error}")
    except Exception as error:  # one file must not end the audit of all others
        found.error(f"{path}: it cannot be read: {type(error).__name__}: {error}")
        found.outcome(str(path), NOT_READ)
    judge.shapes.forget_counts()
    if into is None:
        return found
    into.add(found)
    return into


def _read(task: Task, number: int, path: Path, folder: Path, into: Summary) -> None:
    importer, source = task.importer(path), str(path)
    if importer is None:
        into.outcome(source, IDLE)
        return
    into.read[importer.name] += 1
    if isinstance(importer, TextImporter) and is_text(path):
        lines = lines_of(path, into.error)
        judge_texts(importer.texts(lines, source), importer, _judge_of(task), into, path)
        return
    numbered = _Numbered(placed_of(path, into.error))
    keyed = (row._replace(line=numbered.line, file=number) for row in importer.keyed(numbered, source))
    rows = _watched(keyed, source, into)
    if importer.is_scattered:
        split(rows, importer.name, number, folder)
    else:
        judge_rows(rows, importer, _judge_of(task), into, {number: source})


class _Numbered:
    """The records of a file; `line` is that of the last one that was taken."""

    def __init__(self, placed: Iterable[tuple[int, Any]]) -> None:
        self._placed = placed
        self.line = 0

    def __iter__(self) -> Iterator[Any]:
        for line, record in self._placed:
            self.line = line
            yield record


@lru_cache(maxsize=1)
def _judge_of(task: Task) -> ThreadJudge:
    """The judge of this process, which remembers the shapes of threads from one file to the next."""
    return ThreadJudge(task.selection)


def _watched(rows: Iterable[Row], source: str, summary: Summary) -> Iterator[Row]:
    """The rows; an input of which no row belongs to a thread is an error."""
    is_empty = True
    for row in rows:
        is_empty = is_empty and row.thread == source
        yield row
    if is_empty:
        summary.error(f"{source}: {NOTHING_READ}")
        summary.outcome(source, NOT_READ)


def judge_part(task: Task, part: int, folder: Path, into: Summary | None = None) -> Summary:
    """Judge the threads of one partition."""
    summary = Summary() if into is None else into
    judge, files = ThreadJudge(task.selection), _files(folder)
    for format_, rows in groupby(rows_of(part, folder), key=lambda one: one[0]):
        judge_rows((row for _, row in rows), importer_named(format_), judge, summary, files)
    return summary


@lru_cache(maxsize=1)
def _files(folder: Path) -> Mapping[int, str]:
    """The files of an audit by their numbers."""
    return dict(enumerate(json.loads((folder / NAMES).read_text("utf-8")), 1))


def judge_texts(
    pieces: Iterable[Piece], importer: Importer, judge: ThreadJudge, into: Summary, path: Path
) -> None:
    """Judge threads that are given as text, each shape of them once."""
    before = into.judged
    for piece in pieces:
        shape = shape_of(piece)
        if shape is None or not judge.shapes.met(shape.key, piece.thread):
            records = list(values_of(piece.lines, piece.first))
            places = [(str(path), piece.first + at) for at in range(len(records))]
            held = _judge_one(piece.thread, Origin(records, places), importer, judge, into)
            if shape is not None and held is not None:
                judge.learn(shape, held, importer)
        else:
            is_held = any(judge.shapes.known[shape.key].exercised.values())
            into.outcome(str(path), HELD if is_held else IDLE)
    judge.shapes.flush(into)
    if into.judged == before:
        into.error(f"{path}: {NOTHING_READ}")
        into.outcome(str(path), NOT_READ)


def judge_rows(
    rows: Iterable[Row], importer: Importer, judge: ThreadJudge, into: Summary, files: Mapping[int, str]
) -> None:
    """Judge rows in which each thread is in one piece; `files` are their names by number."""
    for thread, of_thread in groupby(rows, key=lambda row: row.thread):
        found = list(islice(of_thread, RECORDS_MAX + 1))
        if len(found) > RECORDS_MAX:
            into.error(f"{thread}: it has more than {RECORDS_MAX:,} records")
        else:
            places = [(files.get(row.file, ""), row.line) for row in found]
            _judge_one(thread, Origin([row.record for row in found], places), importer, judge, into)


def _judge_one(
    thread: str, origin: Origin, importer: Importer, judge: ThreadJudge, into: Summary
) -> Held | None:
    """Judge one thread; what it held, if that can be remembered."""
    held: Held | None = None
    try:
        for recording in importer.recordings(thread, origin.records):
            held = judge.judge(importer, recording, into, origin)
    except MissingExtra:
        raise
    except Exception as error:  # one thread must not end the audit of all others
        into.error(f"{thread}: it cannot be judged: {type(error).__name__}: {error}")
    return held
