"""What there is to draw of a chart, whatever it is drawn as: its states, one in another, and its arrows.

A chart that compiles to a table gives flat states.  A family may draw other charts, whose states have
regions, in the module `regions` of its own folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from runlock.conformance.family.family import DEFAULT, family_named
from runlock.diagrams.of_family import drawing
from runlock.machines.table import Row, Table

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
    family: str = DEFAULT

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
def pictures(family: str = DEFAULT) -> dict[str, Picture]:
    """A picture of every chart of a family, by its name."""
    own = drawing(family, "regions")
    tables = family_named(family).tables
    found = [*(of_table(one, family) for one in tables), *(own.pictures() if own is not None else ())]
    return {picture.name: picture for picture in sorted(found, key=lambda one: one.name)}


def of_table(table: Table, family: str = DEFAULT) -> Picture:
    """A flat chart."""
    places = tuple(
        Place(state, state, state == table.initial, state in table.finals, table.closed.get(state, ""))
        for state in table.states
    )
    return Picture(table.name, table.subject, places, tuple(map(_arrow, table.rows)), family)


def _arrow(row: Row) -> Arrow:
    return Arrow(row.source, row.target, row.event, row.guards, row.clause, row.phrase)


def sentence(family: str, clause: str) -> str:
    """The words of a clause, with its id."""
    return f"{clause}: {family_named(family).spec.clauses[clause].sentence}"
