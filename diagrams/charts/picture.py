"""What there is to draw of a chart, whatever it is drawn as: its states, one in another, and its arrows.

A chart that compiles to a table gives flat states.  The derived run alone has regions beside each other,
and states in them; it is drawn for two calls, the fewest that have something to say to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from statemachine import State

from runlock.machines.catalogue import tables
from runlock.machines.chart import arrow_of
from runlock.machines.lifecycle.charts.derived_run import derived_run
from runlock.machines.table import Row, Table
from runlock.spec.model import load_spec

CALLS_DRAWN: Final = 2
DERIVED: Final = "DerivedRun"

CHECKPOINT: Final = "Commit"
"""How the names of the states begin that are entered when something is durable."""


@dataclass(frozen=True, slots=True)
class Place:
    """A state: what its name is, whether a life begins or ends there, and what is inside."""

    id: str
    name: str
    is_initial: bool = False
    is_final: bool = False
    closed: str = ""  # the clause that refuses everything else here
    inside: tuple[Place, ...] = ()
    is_parallel: bool = False

    @property
    def is_checkpoint(self) -> bool:
        """Whether something has become durable when it is entered."""
        return self.name.startswith(CHECKPOINT)

    def every(self) -> Iterator[Place]:
        """It and all that is inside."""
        yield self
        for place in self.inside:
            yield from place.every()


@dataclass(frozen=True, slots=True)
class Arrow:
    """A move: its event (none if it follows others), what must hold, and the clause that allows it."""

    source: str
    target: str
    event: str
    guards: tuple[str, ...]
    clause: str
    phrase: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart as it is drawn."""

    name: str
    subject: str
    places: tuple[Place, ...]
    arrows: tuple[Arrow, ...]

    @property
    def initial(self) -> str:
        """Where it begins."""
        return next(place.id for place in self.places if place.is_initial)

    @property
    def leaves(self) -> list[Place]:
        """The states that hold no others."""
        return [one for place in self.places for one in place.every() if not one.inside]

    @property
    def regions(self) -> list[Place]:
        """The states that hold nothing but states without any inside."""
        every = [one for place in self.places for one in place.every()]
        return [one for one in every if one.inside and not any(inner.inside for inner in one.inside)]

    @property
    def clauses(self) -> list[str]:
        """Every clause that stands on it, once."""
        closing = (place.closed for place in self.leaves if place.closed)
        return list(dict.fromkeys([*(arrow.clause for arrow in self.arrows), *closing]))


@cache
def pictures() -> dict[str, Picture]:
    """A picture of every chart, by its name."""
    found = [*(of_table(table) for table in tables()), _of_derived()]
    return {picture.name: picture for picture in sorted(found, key=lambda one: one.name)}


def of_table(table: Table) -> Picture:
    """A flat chart."""
    places = tuple(
        Place(state, state, state == table.initial, state in table.finals, table.closed.get(state, ""))
        for state in table.states
    )
    return Picture(table.name, table.subject, places, tuple(map(_arrow, table.rows)))


def _arrow(row: Row) -> Arrow:
    return Arrow(row.source, row.target, row.event, row.guards, row.clause, row.phrase)


def _of_derived() -> Picture:
    chart = derived_run(CALLS_DRAWN)
    places = tuple(_place(state) for state in chart.states)
    arrows = tuple(arrow for state in chart.states for arrow in _leaving(state))
    return Picture(DERIVED, "run", places, arrows)


def _place(state: State) -> Place:
    inside = tuple(_place(one) for one in state.states)
    name = state.id if inside else state.id.partition("_")[2]
    return Place(state.id, name, bool(state.initial), bool(state.final), "", inside, state.parallel)


def _leaving(state: Any) -> Iterator[Arrow]:
    for transition in state.transitions:
        known = arrow_of(transition)
        if known is not None:
            conditions = tuple(str(one) for one in transition.cond)
            ends = (transition.source.id, transition.target.id)
            yield Arrow(*ends, transition.event, conditions, known.clause, known.phrase)
    for inner in state.states:
        yield from _leaving(inner)


def sentence(clause: str) -> str:
    """The words of a clause, with its id."""
    return f"{clause}: {load_spec().clauses[clause].sentence}"
