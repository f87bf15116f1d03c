"""Each file of invariants has a table: a few records, the clause that is judged, and why it is broken.

Nothing judges but the checks of the file.  `pytest -k test_tables --rewrite` writes the reasons anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from judged_records import Row, rows_of
from places import LIFECYCLE

from runlock.conformance.family.invariant import Invariant, gathered

TABLES = Path(__file__).parent / "tables"
HELPERS = {"__init__", "selectors", "segment_queries", "stream_reader", "prompt_reader", "states_reader"}
FILES = sorted(path.stem for path in (LIFECYCLE / "invariants").glob("*.py") if path.stem not in HELPERS)
PACKAGE = "runlock.conformance.families.lifecycle.invariants"


def checks_of(file: str) -> tuple[Invariant, ...]:
    """The checks of a file, in the order of blame."""
    return gathered(import_module(f"{PACKAGE}.{file}"))


def rows() -> Iterator[tuple[str, Row]]:
    """Every row of every table, with the file that it is about."""
    return ((path.stem, row) for path in sorted(TABLES.glob("*.toml")) for row in rows_of(path))


ROWS = list(rows())
IDS = [f"{file}-{row.clause}-{'broken' if row.reason else 'held'}" for file, row in ROWS]


@pytest.mark.parametrize(("file", "row"), ROWS, ids=IDS)
def test_the_records_have_their_verdict(file: str, row: Row, rewrites: bool) -> None:
    """The clause is exercised, and is broken for the reason of the row, or held where the row has none."""
    judge = row.judged(checks_of(file))
    reason = judge.violation.reason if judge.violation else ""
    if rewrites and row.reason:
        _rewrite(TABLES / f"{file}.toml", row.reason, reason)
        return

    assert judge.exercised[row.clause]
    assert reason == row.reason


def _rewrite(table: Path, old: str, new: str) -> None:
    before, after = (f"reason = {json.dumps(reason, ensure_ascii=False)}\n" for reason in (old, new))
    table.write_text(table.read_text("utf-8").replace(before, after), encoding="utf-8")


@pytest.mark.parametrize("file", FILES)
def test_each_file_of_invariants_has_a_row_that_holds_and_one_that_breaks(file: str) -> None:
    """The clauses of a table are those that its file checks."""
    about = [row for stem, row in ROWS if stem == file]

    assert {bool(row.reason) for row in about} == {True, False}
    assert {row.clause for row in about} <= {check.clause for check in checks_of(file)}
