"""An audit as the tests run it: files with records, and what became of each clause."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from places import DATA

from runlock.conformance.audit.engine import Task, judged
from runlock.conformance.audit.result import AuditResult, results_of
from runlock.conformance.audit.summary import Summary
from runlock.conformance.judging.selection import EVERYTHING

RECORDINGS = DATA / "recordings"
Records = list[Any]


def records_in(name: str) -> Records:
    """The records of a recording, such as `ag_ui/plain`."""
    return [json.loads(line) for line in (RECORDINGS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def written(path: Path, records: Iterable[Any]) -> Path:
    """A file with these records."""
    return put(path, "".join(json.dumps(record) + "\n" for record in records))


def put(path: Path, text: str) -> Path:
    """A file with this text."""
    path.write_text(text, "utf-8")
    return path


def summed(*files: Path) -> Summary:
    """The summary of files, judged in this process."""
    return judged(files, Task(), lambda _: None)


def audited(*files: Path) -> AuditResult:
    """The result of files of one family."""
    (found,) = results_of(summed(*files), "audit:test", EVERYTHING)
    return found


def broken(result: AuditResult) -> dict[str, str]:
    """The clauses that broke, with their reasons."""
    return {one.clause: one.reason for one in result.result.witnesses}


def verdicts(result: AuditResult) -> dict[str, str]:
    """The verdict of each clause."""
    return {one.id: one.verdict for one in result.result.clauses}


def changed(records: Records, change: Callable[[Any], Any]) -> Records:
    """The records, each as `change` makes it; those for which it gives None are left out."""
    return [made for record in records if (made := change(record)) is not None]
