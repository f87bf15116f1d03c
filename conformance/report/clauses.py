"""What the kit can say about a clause: its title, who looks at it, and the arrow that it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from interlock.conformance.invariants import INVARIANTS
from interlock.conformance.oracle import CALLS, RESUME_GATE, RUNS, RUNS_WITH_CREATED
from interlock.machines.table import Row, Table
from interlock.spec.model import Clause

TABLES: Final[tuple[Table, ...]] = (CALLS, RUNS, RUNS_WITH_CREATED, RESUME_GATE)


def file_of(clause: Clause) -> str:
    """Where its words stand."""
    return f"spec/clauses/{clause.area.lower()}.toml"


def checks(clause_id: str) -> list[str]:
    """The titles of the checks that look at it."""
    return [check.title for check in INVARIANTS if check.clause == clause_id]


def arrows(clause_id: str) -> Iterator[tuple[Table, Row]]:
    """The arrows of the charts that it is."""
    return ((table, row) for table in TABLES for row in table.rows if row.clause == clause_id)


def closes(clause_id: str) -> Iterator[tuple[Table, str]]:
    """The states of which it says that nothing else leaves them."""
    for table in TABLES:
        yield from ((table, state) for state, clause in table.closed.items() if clause == clause_id)


def title(clause: Clause) -> str:
    """The clause in few words: the sentence of its only check, or else its own without the full stop."""
    titles = checks(clause.id)
    if len(titles) == 1:
        return titles[0]
    return f"{clause.sentence[0].lower()}{clause.sentence[1:].rstrip('.')}"


def ranges(ids: Sequence[str]) -> str:
    """The numbers of clauses of one area, as in `1-4, 7`."""
    numbers = sorted(int(clause_id.rpartition("-")[2]) for clause_id in ids)
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    ]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
