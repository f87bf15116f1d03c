"""The exchanges of the table of the area PRODUCER, as a recording of a client has them."""

from __future__ import annotations

from typing import Any

from judged_records import Row, rows_of
from places import ROOT

from runlock.conformance.family.recordings import parse

TABLE = ROOT / "tests/conformance/families/lifecycle/invariants/tables/producer.toml"
UNSEEN = ("PRODUCER-5", "PRODUCER-6", "PRODUCER-8", "PRODUCER-14")
"""Clauses that no recording shows."""


def recorded(row: Row) -> list[dict[str, Any]]:
    """Each request of a row, with the events that answered it."""
    seen = [
        one for one in parse(row.records, row.clause).trace.of("observation") if one["kind"] == "exchange"
    ]
    return [record for one in seen for record in (one["request"], *one["events"])]


def rows(is_broken: bool) -> list[Row]:
    """The rows that a recording shows: a request that is known, and its run."""
    found = [row for row in rows_of(TABLE) if row.clause not in UNSEEN and "request=" in row.records]
    return [row for row in found if bool(row.reason) == is_broken and "RUN_STARTED" in row.records]
