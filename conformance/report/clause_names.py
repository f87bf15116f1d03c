"""Short facts about a clause: its title, its file, and its checks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePath

from runlock.conformance.family.family import Family
from runlock.spec.model import Clause


def file_of(family: Family, clause: Clause) -> str:
    """The file of its text."""
    folder = "/".join(PurePath(str(family.spec.folder)).parts[-2:])
    return f"{folder}/clauses/{clause.area.lower()}.toml"


def checks(family: Family, clause_id: str) -> list[str]:
    """The titles of its checks."""
    return [_spelled(family, check.title) for check in family.invariants if check.clause == clause_id]


def _spelled(family: Family, words: str) -> str:
    for plain, name in family.wording.spelled.items():
        words = words.replace(plain, name)
    return words


def seen_by(family: Family, clause_id: str) -> set[str]:
    """The kinds of observation at which it is checked."""
    return {
        str(check.seeing.model_fields["kind"].default)
        for check in family.invariants
        if check.clause == clause_id and check.seeing is not None
    }


def title(family: Family, clause: Clause) -> str:
    """The clause in few words: its title, that of its only check, or its sentence without the full stop."""
    if clause.title:
        return clause.title
    titles = checks(family, clause.id)
    if len(titles) == 1 and titles[0]:
        return titles[0]
    first = clause.sentence[0] if clause.sentence[1].isupper() else clause.sentence[0].lower()
    return f"{first}{clause.sentence[1:].rstrip('.')}"


def ranges(ids: Sequence[str]) -> str:
    """The numbers of clauses of one area, as in `1-4, 7`."""
    numbers = sorted(int(clause_id.rpartition("-")[2]) for clause_id in ids)
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    ]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def grouped(ids: Sequence[str]) -> str:
    """Clause ids, the numbers of an area together, as in `CALL 1-4, 7; RUN 2`."""
    areas: dict[str, list[str]] = {}
    for one in ids:
        areas.setdefault(one.rpartition("-")[0], []).append(one)
    return "; ".join(f"{area} {ranges(members)}" for area, members in areas.items()) or "no clause"
