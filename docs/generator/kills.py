"""The page of the kill matrix: for each mutant, the clause that it was blamed on and the schedule."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from runlock.conformance.family.family import DEFAULT, family_named

from .markdown import WIDE, clause, clauses, table

KEPT = Path(__file__).parent.parent / "kills.json"
"""The parts of `runlock selftest --json` that are the same on every machine."""


def pages() -> Iterator[tuple[str, str]]:
    """The one page."""
    yield "kills.md", _page(json.loads(KEPT.read_text("utf-8")))


def _page(found: Mapping[str, Any]) -> str:
    dead = [kill for kill in found["kills"] if not kill["why"]]
    soon = f"half of them within {median(kill['blamed'][kill['clause']] for kill in dead):g}"
    head = ("clause", "killed at schedule", "mutant", "its fault", "also broken")
    return f"""{WIDE}# Mutation testing

A check that has never failed proves nothing. So there are *mutants*: copies of the reference, each with one
deliberate fault that breaks one clause. A mutant is killed when a schedule is found on which that clause is
reported as broken, for the expected reason, and no clause is reported that the mutant keeps. *Variants*
behave differently and legally; nothing may be reported for them.

**{found["killed"]} of {found["mutants"]} mutants are killed, {soon} schedules; {found["passed"]} of
{found["variants"]} variants pass.** `runlock selftest` runs all of it again, and `runlock draw` draws
what `runlock selftest --json` writes. [kills.json](kills.json) holds the numbers.

A row is a mutant of the family `{DEFAULT}`, after the clause that it is made to break; `runlock check
mutant:NAME` shows it broken. The schedules are counted from the first one of a campaign. The last column
has the other clauses that the mutant breaks, each with the schedule on which that was seen. The head of a
column sorts the table.

<div class="sorts" data-search-exclude markdown>

{table(head, map(_row, sorted(found["kills"], key=_place)))}
</div>
"""


def _place(kill: Mapping[str, Any]) -> tuple[str, int]:
    """The area and the number of its clause."""
    area, _, number = kill["clause"].rpartition("-")
    return area, int(number)


def _row(kill: Mapping[str, Any]) -> tuple[str, ...]:
    blamed = dict(kill["blamed"])
    at = blamed.pop(kill["clause"], "not killed")
    also = ", ".join(f"{clause(one, '.')} {schedule}" for one, schedule in blamed.items())
    fault = family_named(DEFAULT).made.mutants()[kill["mutant"]].fault
    return clause(kill["clause"], "."), str(at), f"`{kill['mutant']}`", clauses(fault, "."), also
