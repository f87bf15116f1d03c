"""The page of real runtimes: made from `docs/matrix.json`, which `runlock matrix -o docs` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runlock.conformance.report.matrix import as_markdown, witness_files

KEPT = Path(__file__).parent.parent / "matrix.json"


def pages() -> Iterator[tuple[str, str]]:
    """The one page."""
    yield "matrix.md", as_markdown(_report())


def files() -> Iterator[tuple[str, str]]:
    """The witness of each violation, which the page links to."""
    for path, text in witness_files(_report()):
        yield path.as_posix(), text


def _report() -> Any:
    return json.loads(KEPT.read_text("utf-8"))
