"""Chart coverage of a schedule: arrows, pairs of arrows, and stimuli that a state refuses.

Only arrows that were certainly taken are counted.  An arrow is identified by its clause, which is unique
within a chart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from runlock.machines.table import Row, Table

Arrow = tuple[str, str]
"""A chart, and the clause of the arrow."""

Pair = tuple[str, str, str]
"""A chart, and the clauses of two consecutive arrows of one instance."""

Goal = tuple[str, tuple[str, ...]]
"""A chart, and the clauses of one arrow of it, or of two that follow each other."""

Cell = tuple[str, str, str]
"""A chart, a state of it, and a stimulus that the state refuses."""


@dataclass(slots=True)
class Coverage:
    """How often each arrow and pair was taken, and each refused stimulus sent."""

    arrows: Counter[Arrow] = field(default_factory=Counter)
    pairs: Counter[Pair] = field(default_factory=Counter)
    cells: Counter[Cell] = field(default_factory=Counter)

    def add(self, other: Coverage) -> None:
        """Add the coverage of another schedule."""
        self.arrows.update(other.arrows)
        self.pairs.update(other.pairs)
        self.cells.update(other.cells)


class Trails:
    """The last arrow of each instance, with which the next one forms a pair."""

    def __init__(self) -> None:
        self.coverage = Coverage()
        self._last: dict[tuple[str, Hashable], Row] = {}

    def take(self, table: Table, who: Hashable, *rows: Row) -> None:
        """Count arrows that an instance certainly took, in this order."""
        for row in rows:
            last = self._last.get((table.name, who))
            self.coverage.arrows[table.name, row.clause] += 1
            if last is not None and last.target == row.source:
                self.coverage.pairs[table.name, last.clause, row.clause] += 1
            self._last[table.name, who] = row

    def last(self, table: Table, who: Hashable) -> Row | None:
        """The last arrow of an instance, if nothing uncertain came after it."""
        return self._last.get((table.name, who))

    def lose(self, table: Table, who: Hashable) -> None:
        """Forget the last arrow of an instance: its next arrow forms no pair."""
        self._last.pop((table.name, who), None)


@dataclass(frozen=True, slots=True)
class ChartCoverage:
    """The coverage of one chart: what is possible, and how often it occurred; `why` if it is not
    observable."""

    chart: str
    arrows: Mapping[Row, int]
    pairs: Mapping[tuple[Row, Row], int]
    refusals: Mapping[tuple[str, str], int]
    unseen: int = 0  # arrows that cannot be observed, or not be distinguished
    derived: bool = False  # from witnessed facts, because there are no statuses
    why: str = ""
