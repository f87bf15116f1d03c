"""Reads recordings and judges them, in this process or in several.

Where every thread lies in one piece in one file, each is judged as soon as it has been read.  Otherwise, and
for several processes, the records are first partitioned by thread (see `partitions`).  The summary is the
same either way, since summaries add up to the same one in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Final

from runlock.conformance.audit.formats import importer_named, importer_of
from runlock.conformance.audit.judging import ThreadJudge
from runlock.conformance.audit.reading import records_of
from runlock.conformance.audit.recording import Importer, Row, Unreadable
from runlock.conformance.audit.summary import Summary
from runlock.conformance.errors import UsageError
from runlock.conformance.judging.selection import EVERYTHING, Selection

Advanced = Callable[[int], None]
"""Called with the number of files that were read."""

NOTHING_READ: Final = "nothing of it could be read"


@dataclass(frozen=True, slots=True)
class Task:
    """How files are read and judged; the same in every process."""

    format: str | None = None
    selection: Selection = EVERYTHING

    def importer(self, path: Path) -> tuple[Importer, Iterator[Row]]:
        """The importer of a file, and its rows; `UsageError` if no format fits."""
        records = records_of(path)
        first = list(_head(records))
        whole = chain(first, records)
        importer = importer_named(self.format) if self.format else importer_of(first[-1] if first else None)
        if importer is None:
            raise UsageError(f"{path}: {NOTHING_READ}; no importer recognises its first record.")
        return importer, importer.keyed(whole, str(path))


def _head(records: Iterable[Any]) -> Iterator[Any]:
    """The records up to the first one that could be read."""
    for record in records:
        yield record
        if not isinstance(record, Unreadable):
            return


def judged_here(files: Iterable[Path], task: Task, advanced: Advanced) -> Summary:
    """The summary of files whose threads each lie in one piece."""
    summary, judge = Summary(), ThreadJudge(task.selection)
    for number, path in enumerate(files, 1):
        try:
            importer, rows = task.importer(path)
            judge_rows(rows, importer, judge, summary, str(path))
        except (UsageError, OSError) as error:
            summary.error(f"{error}" if str(path) in str(error) else f"{path}: {error}")
        advanced(number)
    return summary


def judge_rows(rows: Iterable[Row], importer: Importer, judge: ThreadJudge, into: Summary, name: str) -> None:
    """Judge rows in which each thread is in one piece; an input without any is an error."""
    before = into.judged
    for thread, of_thread in groupby(rows, key=lambda row: row.thread):
        records = [row.record for row in of_thread]
        try:
            judge.judge(importer.name, importer.recorded(thread, records), into)
        except Exception as error:  # one thread must not end the audit of all others
            into.error(f"{thread}: it cannot be judged: {type(error).__name__}: {error}")
    if into.judged == before:
        into.error(f"{name}: {NOTHING_READ}")


def judged(files: Sequence[Path], task: Task, jobs: int, on: str | None, advanced: Advanced) -> Summary:
    """The summary of all files."""
    return judged_here(files, task, advanced)
