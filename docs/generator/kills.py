"""The page of the kill matrix: for each mutant, the clause that it was blamed on and the schedule."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from runlock.diagrams import matrix
from runlock.diagrams.charts.dot import page_of

from .markdown import WIDE, picture

KEPT = Path(__file__).parent.parent / "kills.json"
"""The parts of `runlock selftest --json` that are the same on every machine."""


def pages() -> Iterator[tuple[str, str]]:
    """The one page."""
    yield "kills.md", _page(json.loads(KEPT.read_text("utf-8")))


def _page(found: Mapping[str, Any]) -> str:
    by_area: dict[str, list[Mapping[str, Any]]] = {}
    for kill in found["kills"]:
        by_area.setdefault(matrix.area_of(kill["clause"]), []).append(kill)
    parts = "\n".join(_area(area, by_area[area]) for area in sorted(by_area))
    dead = [kill for kill in found["kills"] if not kill["why"]]
    soon = f"half of them within {median(kill['blamed'][kill['clause']] for kill in dead):g}"
    return f"""{WIDE}# Mutation testing

A check that has never failed proves nothing. So there are *mutants*: copies of the reference, each with one
deliberate fault that breaks one clause. A mutant is killed when a schedule is found on which that clause is
reported as broken, for the expected reason, and no clause that the mutant keeps. *Variants* behave
differently and legally; nothing may be reported for them.

**{found["killed"]} of {found["mutants"]} mutants are killed, {soon} schedules; {found["passed"]} of
{found["variants"]} variants pass.** `runlock selftest` runs all of it again, and `runlock draw` draws
what `runlock selftest --json` writes, as here. [kills.json](kills.json) holds the numbers.

A row is a mutant, with the clause that it is made to break; `runlock check mutant:NAME` shows it broken. A
column is an area of clauses. A green cell says at which schedule the clause was blamed, counted from the
first of a campaign, and a grey one at which schedule something else was that the mutant breaks as well. A
cell leads to its clause.

{parts}"""


def _area(area: str, kills: list[Mapping[str, Any]]) -> str:
    killed = sum(not kill["why"] for kill in kills)
    found = {"kills": kills, "mutants": len(kills), "killed": killed}
    drawing = matrix.drawn(found, f"The kill matrix of {area}", lambda clause: page_of(clause, "."))
    return f"## {area}\n\n{picture(drawing)}"
