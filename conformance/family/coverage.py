"""What a schedule exercised of the charts: arrows, pairs of arrows, and stimuli that a state refuses.

Whoever follows a life along its chart says which arrows it certainly took; nothing else counts.  An arrow
is named by its clause, which is its own within a chart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from runlock.machines.table import Row, Table

Arrow = tuple[str, str]
"""A chart, and the clause of the arrow."""

Pair = tuple[str, str, str]
"""A chart, and the clauses of two arrows that one life took one after the other."""

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
        """Take in what another schedule exercised."""
        self.arrows.update(other.arrows)
        self.pairs.update(other.pairs)
        self.cells.update(other.cells)


class Trails:
    """The last arrow that each life took, so that the next one makes a pair with it."""

    def __init__(self) -> None:
        self.coverage = Coverage()
        self._last: dict[tuple[str, Hashable], Row] = {}

    def take(self, table: Table, who: Hashable, *rows: Row) -> None:
        """A life certainly took these arrows, one after the other."""
        for row in rows:
            last = self._last.get((table.name, who))
            self.coverage.arrows[table.name, row.clause] += 1
            if last is not None and last.target == row.source:
                self.coverage.pairs[table.name, last.clause, row.clause] += 1
            self._last[table.name, who] = row

    def last(self, table: Table, who: Hashable) -> Row | None:
        """The arrow that a life took last, if nothing came since that is not certain."""
        return self._last.get((table.name, who))

    def lose(self, table: Table, who: Hashable) -> None:
        """What a life did since is not certain: its next arrow makes no pair."""
        self._last.pop((table.name, who), None)


Clauses = tuple[str, ...]
"""One arrow, or two that follow each other, by their clauses."""


@dataclass(frozen=True, slots=True)
class ChartCoverage:
    """One chart: what could be taken of it, and how often it was; `why` if nothing of it can be seen."""

    chart: str
    arrows: Mapping[Row, int]
    pairs: Mapping[tuple[Row, Row], int]
    refusals: Mapping[tuple[str, str], int]
    unseen: int = 0  # arrows that look from outside like another one, or like nothing
    derived: bool = False  # from what was witnessed, for want of statuses
    why: str = ""
