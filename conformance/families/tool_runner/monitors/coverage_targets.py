"""Chart coverage of a campaign: transitions exercised, out of those that can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.tool_runner.messages import RunnerHandshake
from runlock.conformance.families.tool_runner.monitors import iteration_chart, response_chart
from runlock.conformance.family.coverage import ChartCoverage, Coverage

UNSEEN: Final = frozenset({"RUN-8"})
"""Clauses whose transitions cannot be observed."""


def covered(
    handshake: RunnerHandshake, policies: Mapping[str, Any], standings: Mapping[str, Any], seen: Coverage
) -> list[ChartCoverage]:
    """Coverage of both charts: transitions of judged clauses, and how often each was certainly taken."""
    found = []
    for table in (iteration_chart.TABLE, response_chart.TABLE):
        judged = [row for row in table.rows if row.clause in standings and standings[row.clause].is_judged]
        shown = [row for row in judged if row.clause not in UNSEEN]
        arrows = {row: seen.arrows[table.name, row.clause] for row in shown}
        found.append(ChartCoverage(table.name, arrows, {}, {}, unseen=len(table.rows) - len(shown)))
    return found
