"""What each runtime did in the schedules of its violations, so that a page can play it: `docs/traces.json`.

The file has a packed trace for each violation, by runtime and clause.  A trace is shown only if its steps and
its version are those of the matrix, for a runtime may be judged again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.matrix import Column
from runlock.conformance.inputs import json_of
from runlock.conformance.report.matrix import steps
from runlock.conformance.trace.trace import Trace
from runlock.diagrams.charts.playable import packed, unpacked

FILE: Final = "traces.json"

Packed = Mapping[str, Mapping[str, str]]
"""By the name of a runtime and the id of a clause."""


def of_columns(columns: Sequence[Column]) -> dict[str, dict[str, str]]:
    """The traces of the runtimes that were judged."""
    return {
        one.runtime.name: {found.clause: packed(found.trace) for found in one.result.witnesses}
        for one in columns
        if one.result is not None
    }


def merged(file: Path, news: Packed) -> dict[str, Any]:
    """The content of the file, with the news about some runtimes."""
    return dict(sorted({**known(file), **news}.items()))


def known(file: Path) -> Packed:
    """The content of the file, if it is there."""
    found: Packed = json_of(file) if file.is_file() else {}
    return found


def shown(report: Mapping[str, Any], stored: Packed) -> Iterator[tuple[str, str, Trace]]:
    """The runtime, the clause and the trace of each violation whose trace has its steps."""
    for runtime in report["runtimes"]:
        own = stored.get(runtime["name"], {})
        for found in runtime.get("violations", ()):
            trace = unpacked(own[found["clause"]]) if found["clause"] in own else Trace()
            if _implementation(trace) == runtime["implementation"] and steps(trace) == found["witness"]:
                yield runtime["name"], found["clause"], trace


def _implementation(trace: Trace) -> Any:
    """Name and version of the runtime that did it."""
    return next((one["implementation"] for one in trace.of("handshake")), None)
