"""The kill matrix as a picture: a row for each mutant, a column for each area of clauses.

A cell gives the schedule at which a clause of that area was blamed: strong for the clause that the mutant is
made to break, pale for others.  If clauses have URLs, a cell links to the one that was blamed.  The input is
the object that `runlock selftest --json` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from xml.etree.ElementTree import Element

from runlock.conformance.errors import UsageError
from runlock.diagrams.render.palette import LIGHT
from runlock.diagrams.render.svg import Drawing, element, width_of

Kill = Mapping[str, Any]
Link = Callable[[str], str]
"""The URL of a clause."""

ROW: Final = 17.0
CELL: Final = 52.0
SIZE: Final = 11.0
TOP: Final = 66.0


def drawn(matrix: Mapping[str, Any], label: str = "the kill matrix", link: Link | None = None) -> Drawing:
    """The matrix of all mutants, those of an area together."""
    kills = _kills(matrix)
    areas = sorted({area_of(clause) for kill in kills for clause in (kill["clause"], *kill["blamed"])})
    left = max(width_of(kill["mutant"], SIZE) for kill in kills) + 86
    picture = Drawing(left + len(areas) * CELL + 10, TOP + len(kills) * ROW + 10, label)
    grid = _Grid(picture, areas, left, link)
    picture.write(8, 20, _headline(matrix), 13, font_weight="bold")
    _head(grid)
    for number, kill in enumerate(kills):
        _row(grid, kill, TOP + number * ROW)
    return picture


@dataclass(frozen=True, slots=True)
class _Grid:
    """The drawing, the area of each column, and the position of the first column."""

    picture: Drawing
    areas: Sequence[str]
    left: float
    link: Link | None

    def lead(self, parts: Sequence[Element], clause: str, told: str) -> None:
        """Give these parts a tooltip, and a link to the clause if it has a URL."""
        group = self.picture.group(parts, class_="cell")
        group.insert(0, element("title", told))
        if self.link is not None:
            group.tag = "a"
            group.set("href", self.link(clause))


def _kills(matrix: Mapping[str, Any]) -> list[Kill]:
    kills = matrix.get("kills")
    if not isinstance(kills, list) or not kills:
        raise UsageError("There are no kills in it.", "`runlock selftest --json` writes an object that has.")
    return sorted(kills, key=lambda kill: (area_of(kill["clause"]), _number(kill["clause"]), kill["mutant"]))


def area_of(clause: str) -> str:
    """The area of a clause, as RUN of RUN-3."""
    return clause.rpartition("-")[0]


def _number(clause: str) -> int:
    return int(clause.rpartition("-")[2])


def _headline(matrix: Mapping[str, Any]) -> str:
    mutants = f"{matrix.get('killed', 0)} of {matrix.get('mutants', 0)} mutants killed"
    if "variants" not in matrix:
        return mutants
    return f"{mutants}, {matrix.get('passed', 0)} of {matrix['variants']} variants passed"


def _head(grid: _Grid) -> None:
    picture = grid.picture
    picture.write(8, TOP - 10, "mutant", SIZE, font_weight="bold")
    picture.write(grid.left - 76, TOP - 10, "clause", SIZE, font_weight="bold")
    for number, area in enumerate(grid.areas):
        x = grid.left + number * CELL + CELL / 2
        picture.write(x, TOP - 10, area, 8.5, text_anchor="middle", font_weight="bold")
        picture.line(x, TOP - 4, x, picture.height - 8, stroke=LIGHT["rule"])


def _row(grid: _Grid, kill: Kill, top: float) -> None:
    mutant, clause = kill["mutant"], kill["clause"]
    grid.picture.write(8, top + 12, mutant, SIZE, fill=LIGHT["ill" if kill.get("why") else "ink"])
    words = grid.picture.write(grid.left - 76, top + 12, clause, SIZE, fill=LIGHT["link"])
    grid.lead([words], clause, f"{mutant} is made to break {clause}")
    for number, area in enumerate(grid.areas):
        at = {blamed: schedule for blamed, schedule in kill["blamed"].items() if area_of(blamed) == area}
        if at:
            _cell(grid, kill, at, grid.left + number * CELL, top)


def _cell(grid: _Grid, kill: Kill, at: Mapping[str, int], x: float, top: float) -> None:
    is_own = kill["clause"] in at
    fill, rim = ("good", "well") if is_own else ("idle", "line")
    box = grid.picture.box(x + 3, top + 1, CELL - 6, ROW - 3, fill=LIGHT[fill], stroke=LIGHT[rim])
    first = kill["clause"] if is_own else min(at, key=lambda clause: at[clause])
    words = grid.picture.write(x + CELL / 2, top + 12, str(at[first]), 10, text_anchor="middle")
    told = ", ".join(f"{clause} at schedule {schedule}" for clause, schedule in at.items())
    grid.lead([box, words], first, f"{kill['mutant']} was blamed on {told}")
