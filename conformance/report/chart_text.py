"""A chart as a small text table: its arrows and what its states refuse, with those of one clause marked."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.family.family import Family
from runlock.machines.table import Table

ROWS_MAX: Final = 12
"""A chart with more arrows than this is reduced to the states that a clause is about."""

PHRASE_MIN: Final = 18
"""The minimum width of the column of phrases; in less space, they get their own line."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: an arrow, or, without a target, that nothing else leaves a state."""

    source: str
    event: str
    target: str
    phrase: str
    clause: str
    marked: bool = False

    def as_json(self) -> dict[str, Any]:
        """The line for JSON."""
        return {
            "from": self.source,
            "on": self.event,
            "to": self.target or None,
            "when": self.phrase,
            "clause": self.clause,
            "marked": self.marked,
        }


def tables_of(family: Family, clause: str) -> list[Table]:
    """The charts that a clause is on."""
    return [table for table in family.tables if any(line.clause == clause for line in lines(table))]


def lines(table: Table, clause: str = "") -> list[Line]:
    """The arrows of a chart and what its states refuse, with those of a clause marked."""
    return [*_arrows(table, clause), *_closings(table, clause)]


def _arrows(table: Table, clause: str) -> Iterator[Line]:
    for row in table.rows:
        guards = f"if {' and '.join(row.guards)}: " if row.guards else ""
        yield Line(row.source, row.event, row.target, guards + row.phrase, row.clause, row.clause == clause)


def _closings(table: Table, clause: str) -> Iterator[Line]:
    closing = dict.fromkeys(table.closed.values())
    for one in closing:
        states = [state for state in table.states if table.closed.get(state) == one]
        for state in ["any state"] if len(states) == len(table.states) else states:
            rest = "anything" if state in table.states and table.is_final(state) else "anything else"
            yield Line(state, rest, "", "refused", one, one == clause)


def shown(table: Table, clause: str) -> list[Line]:
    """The lines to show with a clause: all of a small chart, the states concerned of a large one."""
    every = lines(table, clause)
    if len(table.rows) <= ROWS_MAX:
        return every
    states = {line.source for line in every if line.marked}
    return [line for line in every if line.marked or line.source in states]


def left_out(table: Table, clause: str) -> str:
    """What the table with a clause leaves out, in words; empty if nothing."""
    missing = len(table.rows) - sum(1 for line in shown(table, clause) if line.target)
    return f"and {missing} transitions more: runlock explain {table.name}" if missing else ""


# --- as text ------------------------------------------------------------------------------------


def render(some: Sequence[Line], width: int) -> list[str]:
    """The table as lines of text; only the phrase is wrapped."""
    cells = [
        ["", "from", "on", "to", "clause"],
        *([">" if one.marked else "", one.source, one.event, one.target or "-", one.clause] for one in some),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = sum(widths) + 2 * len(widths)
    phrases = ["when", *(one.phrase for one in some)]
    return [
        line
        for row, phrase in zip(cells, phrases, strict=True)
        for line in _line("  ".join(map(str.ljust, row, widths)), phrase, left, width)
    ]


def _line(start: str, phrase: str, left: int, width: int) -> Iterator[str]:
    if width - left < PHRASE_MIN:
        yield start.rstrip()
        if phrase != "when":
            yield from textwrap.wrap(phrase, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
        return
    first, *more = textwrap.wrap(phrase, width - left) or [""]
    yield f"{start}  {first}"
    yield from (f"{' ' * left}{line}" for line in more)
