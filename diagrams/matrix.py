"""The kill matrix as a picture: a row for each mutant, a column for each area of clauses.

A cell says at which schedule a clause of that area was blamed: strong for the clause that the mutant is
there to break, pale for what it breaks as well.  It reads the object that `interlock selftest --json` writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from interlock.conformance.exceptions import UsageError
from interlock.diagrams.palette import LIGHT
from interlock.diagrams.svg import Drawing, element, width_of

Kill = Mapping[str, Any]

ROW: Final = 17.0
CELL: Final = 52.0
SIZE: Final = 11.0
TOP: Final = 66.0


def drawn(matrix: Mapping[str, Any], label: str = "the kill matrix") -> Drawing:
    """The matrix of all mutants, those of an area together."""
    kills = _kills(matrix)
    areas = list(dict.fromkeys(_area(kill["clause"]) for kill in kills))
    kills.sort(key=lambda kill: areas.index(_area(kill["clause"])))
    left = max(width_of(kill["mutant"], SIZE) for kill in kills) + 86
    picture = Drawing(left + len(areas) * CELL + 10, TOP + len(kills) * ROW + 10, label)
    picture.write(8, 20, _headline(matrix), 13, font_weight="bold")
    _head(picture, areas, left)
    for number, kill in enumerate(kills):
        _row(picture, kill, areas, left, TOP + number * ROW)
    return picture


def _kills(matrix: Mapping[str, Any]) -> list[Kill]:
    kills = matrix.get("kills")
    if not isinstance(kills, list) or not kills:
        raise UsageError(
            "There are no kills in it.", "`interlock selftest --json` writes an object that has."
        )
    return sorted(kills, key=lambda kill: (_area(kill["clause"]), _number(kill["clause"]), kill["mutant"]))


def _area(clause: str) -> str:
    return clause.rpartition("-")[0]


def _number(clause: str) -> int:
    return int(clause.rpartition("-")[2])


def _headline(matrix: Mapping[str, Any]) -> str:
    variants = f"{matrix.get('passed', 0)} of {matrix.get('variants', 0)} variants passed"
    return f"{matrix.get('killed', 0)} of {matrix.get('mutants', 0)} mutants killed, {variants}"


def _head(picture: Drawing, areas: Sequence[str], left: float) -> None:
    picture.write(8, TOP - 10, "mutant", SIZE, font_weight="bold")
    picture.write(left - 76, TOP - 10, "clause", SIZE, font_weight="bold")
    for number, area in enumerate(areas):
        x = left + number * CELL + CELL / 2
        picture.write(x, TOP - 10, area, 8.5, text_anchor="middle", font_weight="bold")
        picture.line(x, TOP - 4, x, picture.height - 8, stroke=LIGHT["rule"])


def _row(picture: Drawing, kill: Kill, areas: Sequence[str], left: float, top: float) -> None:
    is_dead = not kill.get("why")
    ink = LIGHT["ink"] if is_dead else LIGHT["ill"]
    picture.write(8, top + 12, kill["mutant"], SIZE, fill=ink)
    picture.write(left - 76, top + 12, kill["clause"], SIZE, fill=LIGHT["link"])
    blamed: Mapping[str, int] = kill.get("blamed", {})
    for number, area in enumerate(areas):
        at = {clause: schedule for clause, schedule in blamed.items() if _area(clause) == area}
        if at:
            _cell(picture, kill, at, left + number * CELL, top)


def _cell(picture: Drawing, kill: Kill, at: Mapping[str, int], x: float, top: float) -> None:
    is_own = kill["clause"] in at
    fill, rim = ("good", "well") if is_own else ("idle", "line")
    box = picture.box(x + 3, top + 1, CELL - 6, ROW - 3, fill=LIGHT[fill], stroke=LIGHT[rim])
    first = at[kill["clause"]] if is_own else min(at.values())
    words = picture.write(x + CELL / 2, top + 12, str(first), 10, text_anchor="middle")
    told = ", ".join(f"{clause} at schedule {schedule}" for clause, schedule in at.items())
    group = picture.group([box, words], class_="cell")
    group.insert(0, element("title", f"{kill['mutant']} was blamed on {told}"))
