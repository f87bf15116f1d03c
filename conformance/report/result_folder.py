"""The folder of results: a trace for each violation, and the whole result as JSON."""

from __future__ import annotations

import fcntl
import json
import os
import re
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.result import Result
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import families
from runlock.conformance.inputs import json_of
from runlock.conformance.outputs import refuse_link, replace
from runlock.conformance.report.text import exception_name, incident_name, question_name, trouble_name
from runlock.conformance.trace.trace import Trace, read_trace

DEFAULT: Final = Path("runlock-results")
RESULT: Final = "result.json"
_FINDING: Final = re.compile(r"(incident|trouble|exception|question)-\d+")


def ready(folder: Path) -> Path:
    """Create the folder, and fail now if nothing can be written there later, or if it is a link."""
    refuse_link(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError(
            f"Nothing can be written to the folder {folder}: {why}.", "Name another one with `-o`."
        ) from error


@contextmanager
def reserved(folder: Path) -> Iterator[Path]:
    """The folder for the results of one run, ready and locked; a numbered one next to it if it is in use.

    The operating system releases the lock when the process ends, however it ends.
    """
    for number in count(1):
        named = folder if folder.name not in ("", "..") else folder.resolve()
        chosen = folder if number == 1 else named.with_name(f"{named.name}-{number}")
        with _locked(ready(chosen)) as is_free:
            if is_free:
                yield chosen
                return


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Hold a lock on a folder; false if another run holds it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_free = True
    except BlockingIOError:
        is_free = False
    except OSError:  # a file system without locks
        is_free = True
    try:
        yield is_free
    finally:
        os.close(descriptor)


def write_traces(result: Result, folder: Path) -> dict[str, Path]:
    """Write the trace of each violation, and of what could not be judged; returns the files by name.

    The traces of an earlier run are removed, except a trace that is itself the target.
    """
    traces = {one.clause: one.trace.with_verdict(one.clause, one.reason) for one in result.witnesses}
    for number, one in enumerate(result.ledger.shown, 1):
        if one.trace is not None:
            traces[incident_name(number)] = one.trace.with_verdict(None, one.what)
    for number, trouble in enumerate(result.troubles, 1):
        if trouble.trace is not None:
            traces[trouble_name(number)] = trouble.trace.with_verdict(None, trouble.what)
    for number, raised in enumerate(result.raised, 1):
        traces[exception_name(number)] = raised.trace.with_verdict(None, raised.what)
    for number, asked in enumerate(result.questions, 1):
        traces[question_name(number)] = asked.witness.trace.with_verdict(None, asked.sentence)
    files = {name: folder / f"{name}.jsonl" for name in traces}
    for name, path in files.items():
        replace(path, traces[name].to_jsonl())
    _remove_earlier(folder, {*files.values(), Path(result.target.removeprefix("trace:"))})
    return files


def failures_of_last_run(folder: Path, target: str) -> tuple[Trace, ...]:
    """The counterexamples that the last run of a target left here; nothing if they cannot be read."""
    try:
        last = json_of(folder / RESULT)
        clauses = [one["clause"] for one in last["violations"] if last["target"] == target]
    except (UsageError, LookupError, TypeError):  # there is none, or it was cut off or changed
        return ()
    known = _clauses()  # anything else is no name of a file
    return tuple(trace for one in clauses if one in known for trace in _readable(folder / f"{one}.jsonl"))


def _clauses() -> list[str]:
    return [clause for family in families() for clause in family.spec.clauses]


def _readable(file: Path) -> Iterator[Trace]:
    with suppress(UsageError):
        yield read_trace(file)


def _remove_earlier(folder: Path, kept: Collection[Path]) -> None:
    """Remove the files that an earlier run wrote under the name of a clause or a finding."""
    clauses = _clauses()
    present = {path.resolve() for path in kept}
    for path in folder.glob("*.jsonl"):
        if path.resolve() not in present and (path.stem in clauses or _FINDING.fullmatch(path.stem)):
            path.unlink(missing_ok=True)


def write_result(report: dict[str, Any], folder: Path) -> Path:
    """Write the whole result."""
    path = folder / RESULT
    replace(path, json.dumps(report, indent=1) + "\n")
    return path
