"""A chart as a flat table: `react` is total and pure, and a refusal is a value with an explanation.

All code that judges or moves by a chart uses this module; the chart itself runs only in the test that
proves that both are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from runlock.machines.chart import Chart, arrow_of, closed_by

__all__ = [
    "NO_FACTS", "Cursor", "Facts", "IllegalTransition", "Moved", "Refused", "Row", "Table", "compile_chart",
    "react",
]  # fmt: skip

Facts = Set[str] | Mapping[str, bool]
"""The facts that hold, by name; a mapping gives a boolean for each."""

NO_FACTS: Final[frozenset[str]] = frozenset()
NOWHERE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Row:
    """One arrow: under `clause`, `event` takes `source` to `target` while all `guards` hold."""

    clause: str
    source: str
    event: str
    target: str
    guards: tuple[str, ...]
    phrase: str


@dataclass(frozen=True, slots=True)
class Table:
    """All arrows of a chart, in the order in which it draws them."""

    name: str
    subject: str
    states: tuple[str, ...]
    initial: str
    finals: frozenset[str]
    rows: tuple[Row, ...]
    closed: Mapping[str, str] = field(hash=False)
    _cells: Mapping[tuple[str, str], tuple[Moved, ...]] = field(init=False, repr=False, compare=False)
    _arrows: Mapping[tuple[str, str], tuple[Row, ...]] = field(init=False, repr=False, compare=False)
    _targets: Mapping[str, frozenset[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        cells: dict[tuple[str, str], tuple[Moved, ...]] = {}
        arrows: dict[tuple[str, str], tuple[Row, ...]] = {}
        for row in self.rows:
            cells[row.source, row.event] = (*cells.get((row.source, row.event), ()), Moved(row))
            arrows[row.source, row.target] = (*arrows.get((row.source, row.target), ()), row)
        targets = {source: frozenset(to for start, to in arrows if start == source) for source, _ in arrows}
        for name, index in (("_cells", cells), ("_arrows", arrows), ("_targets", targets)):
            object.__setattr__(self, name, index)

    @property
    def events(self) -> tuple[str, ...]:
        """Every event of the chart once, in the order of its rows."""
        return tuple(dict.fromkeys(row.event for row in self.rows))

    def cell(self, state: str, event: str) -> tuple[Row, ...]:
        """Return the rows that an event may take in a state; the first whose guards hold is taken."""
        return tuple(moved.row for moved in self._cells.get((state, event), ()))

    def arrow(self, source: str, target: str) -> tuple[Row, ...]:
        """Return all rows from one state to another, whatever the event."""
        return self._arrows.get((source, target), ())

    def targets(self, source: str) -> frozenset[str]:
        """Return the states that one move leads to."""
        return self._targets.get(source, NOWHERE)

    def takes(self, state: str) -> tuple[str, ...]:
        """Return the events that a state takes, under whatever facts."""
        return tuple(dict.fromkeys(row.event for row in self.rows if row.source == state))

    def is_final(self, state: str) -> bool:
        """Whether nothing leaves a state."""
        return state in self.finals


@dataclass(frozen=True, slots=True)
class Moved:
    """The event takes this row."""

    row: Row

    @property
    def state(self) -> str:
        """The state after the move."""
        return self.row.target


@dataclass(frozen=True, slots=True)
class Refused:
    """The event takes no row: `takes` lists what the state does take, according to `clause`.

    `clause` is None for a state that is not in the chart.
    """

    table: Table
    state: str
    event: str
    takes: tuple[str, ...]
    clause: str | None

    def __str__(self) -> str:
        subject = self.table.subject
        if self.state not in self.table.states:
            known = _listed(self.table.states, "or")
            return f"{_a(subject)} is never in {self.state}, only in {known}; it was sent {self.event}"
        here = f"{_a(subject)} in {self.state}"
        if self.table.cell(self.state, self.event):
            return f"{here} takes {self.event} only {self._conditions()} ({self.clause})"
        return f"{here} takes {self._taken()}; {self._sent()} ({self.clause})"

    def _taken(self) -> str:
        return _listed(self.takes, "or") if self.takes else "nothing, it is final"

    def _sent(self) -> str:
        if self.event in self.table.events:
            return f"it was sent {self.event}"
        return f"it was sent {self.event or 'nothing'}, which no {self.table.subject} takes"

    def _conditions(self) -> str:
        rows = self.table.cell(self.state, self.event)
        return " or ".join(f"when {' and '.join(row.guards)}" for row in rows)


class IllegalTransition(Exception):
    """An event that the chart refuses; the message is that of the refusal."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(str(refused))
        self.refused = refused

    def __reduce__(self) -> tuple[type[IllegalTransition], tuple[Refused]]:
        return type(self), (self.refused,)


def _a(subject: str) -> str:
    return f"an {subject}" if subject[0] in "aeiou" else f"a {subject}"


def _listed(names: Iterable[str], last: str) -> str:
    *most, final = names
    return f"{', '.join(most)} {last} {final}" if most else final


def react(table: Table, state: str, event: str, facts: Facts = NO_FACTS) -> Moved | Refused:
    """The result of an event in a state under some facts: the row it takes, or the refusal."""
    for moved in table._cells.get((state, event), ()):
        if all(_holds(guard, facts) for guard in moved.row.guards):
            return moved
    return Refused(table, state, event, table.takes(state), table.closed.get(state))


def _holds(guard: str, facts: Facts) -> bool:
    name = guard.removeprefix("not ")
    holds = bool(facts.get(name, False)) if isinstance(facts, Mapping) else name in facts
    return holds is (name == guard)


@cache
def compile_chart(chart: type[Chart]) -> Table:
    """Flatten a chart into its table, once."""
    states = tuple(state.id for state in chart.states)
    return Table(
        name=chart.__name__,
        subject=chart.subject,
        states=states,
        initial=chart.initial_state.id,
        finals=frozenset(state.id for state in chart.final_states),
        rows=tuple(_rows(chart)),
        closed=closed_by(chart.closed, states),
    )


def _rows(chart: type[Chart]) -> Iterator[Row]:
    for event, arrow in chart.drawn:
        known, guards = arrow_of(arrow), tuple(str(fact).replace("!", "not ") for fact in arrow.cond)
        assert known is not None and arrow.target is not None  # guaranteed by the lint
        yield Row(known.clause, arrow.source.id, event, arrow.target.id, guards, known.phrase)


class Cursor:
    """One instance of a chart: it moves by a row, or not at all."""

    __slots__ = ("_on_move", "state", "table")

    def __init__(
        self, table: Table, on_move: Callable[[Row], None] | None = None, *, state: str | None = None
    ) -> None:
        self.table = table
        self.state = table.initial if state is None else state
        self._on_move = on_move
        if self.state not in table.states:
            raise ValueError(
                f"{_a(table.subject)} is never in {state}, only in {_listed(table.states, 'or')}"
            )

    @property
    def is_final(self) -> bool:
        """Whether it is in a final state."""
        return self.table.is_final(self.state)

    def would(self, event: str, facts: Facts = NO_FACTS) -> Moved | Refused:
        """The result of an event, without moving."""
        return react(self.table, self.state, event, facts)

    def send(self, event: str, facts: Facts = NO_FACTS) -> Row:
        """Take an event's row and call `on_move`, or raise `IllegalTransition` and stay."""
        answer = self.would(event, facts)
        if isinstance(answer, Refused):
            raise IllegalTransition(answer)
        self.state = answer.state
        if self._on_move is not None:
            self._on_move(answer.row)
        return answer.row
