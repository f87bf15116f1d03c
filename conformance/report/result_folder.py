"""The folder of results: a trace for each violation, and the whole result as JSON."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.result import Result
from runlock.conformance.errors import UsageError
from runlock.conformance.report.text import exception_name, leak_name, trouble_name

DEFAULT: Final = Path("runlock-results")
RESULT: Final = "result.json"


def ready(folder: Path) -> Path:
    """Create the folder, and fail now if nothing can be written there later."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError(
            f"Nothing can be written to the folder {folder}: {why}.", "Name another one with `-o`."
        ) from error


def write_traces(result: Result, folder: Path) -> dict[str, Path]:
    """Write the trace of each violation, and of what could not be judged; returns the files by name."""
    traces = {witness.clause: witness.trace for witness in result.witnesses}
    for number, trouble in enumerate(result.troubles, 1):
        if trouble.trace is not None:
            traces[trouble_name(number)] = trouble.trace
    traces |= {exception_name(number): one.trace for number, one in enumerate(result.raised, 1)}
    traces |= {leak_name(number): leak.trace for number, leak in enumerate(result.leaks, 1)}
    files = {name: folder / f"{name}.jsonl" for name in traces}
    for name, path in files.items():
        path.write_text(traces[name].to_jsonl(), encoding="utf-8")
    return files


def write_result(report: dict[str, Any], folder: Path) -> Path:
    """Write the whole result."""
    path = folder / RESULT
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return path
