"""`runlock list`: what there is to check, to be, to choose, to play and to know."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from runlock.conformance.cli.commands.families import families_chosen
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import Family, family_names
from runlock.conformance.report.console import Page
from runlock.conformance.report.listing import LISTS, Entry, Listing
from runlock.conformance.report.sheet import SCHEMA, in_columns


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is kept of a list: an entry that has one of the values asked for, or one for each."""

    area: str | None = None
    profile: str | None = None
    level: str | None = None

    @property
    def asked(self) -> dict[str, str]:
        """The filters that were given, by name."""
        named = {"area": self.area, "profile": self.profile, "level": self.level}
        return {name: value for name, value in named.items() if value is not None}


def listing(kind: str | None, wanted: Wanted, *, family: str | None = None, as_json: bool = False) -> int:
    """Run the whole command; the exit code."""
    chosen = families_chosen(family)[0]
    if kind is not None:
        lists = {kind: _list(kind, chosen)}
    else:
        lists = {name: make(chosen) for name, make in LISTS.items()}
    with results() as stdout:
        page = Page(stdout)
        if kind is None:
            _refuse(wanted, "`runlock list` alone")
        kept = {name: one.kept(_fitting(name, one, wanted)) for name, one in lists.items()}
        if as_json:
            facts = {name: [dict(entry) for entry in one.entries] for name, one in kept.items()}
            page.console.out(json.dumps({"schema": SCHEMA, "family": chosen.name, **facts}, indent=1))
        elif kind is None:
            _write_overview(kept, page)
        else:
            _write(kept[kind], page)
        if not as_json:
            _write_others(chosen, page)
    return 0


def _list(kind: str, family: Family) -> Listing:
    if kind in LISTS:
        return LISTS[kind](family)
    near = get_close_matches(kind, LISTS, n=1)
    raise UsageError(
        f"There is no list of {kind}.",
        f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(LISTS)}.",
    )


def _refuse(wanted: Wanted, what: str) -> None:
    for name in wanted.asked:
        raise UsageError(
            f"{what} takes no --{name}.", "Name the list that it is about, as in `list clauses`."
        )


def _fitting(kind: str, found: Listing, wanted: Wanted) -> dict[str, str]:
    """The filters in the words of the list; one that it does not have, or that keeps nothing, is refused."""
    return {name: _value(kind, found, name, value) for name, value in wanted.asked.items()}


def _value(kind: str, found: Listing, name: str, value: str) -> str:
    if name not in found.filters:
        offered = [f"--{one}" for one in found.filters]
        right = f"It takes {' and '.join(offered)}." if offered else "It takes no filter."
        raise UsageError(f"`list {kind}` takes no --{name}.", right)
    known = {one.lower(): one for one in found.values(name)}
    if value.lower() in known:
        return known[value.lower()]
    near = get_close_matches(value.lower(), known, n=1)
    right = f"Did you mean `{known[near[0]]}`?" if near else f"There are {', '.join(known.values())}."
    raise UsageError(f"`--{name} {value}` keeps none of the {kind}.", right)


def _write(found: Listing, page: Page) -> None:
    for line in in_columns([found.columns, *map(found.row, found.entries)], page.width):
        page.line(line)
    if found.summary:
        page.line()
        page.wrapped(found.summary(found.entries))


def _write_others(family: Family, page: Page) -> None:
    """One line on the families that the list says nothing of."""
    others = [name for name in family_names() if name != family.name]
    if others:
        page.line()
        page.wrapped(f"this is the family {family.name}; --family names another: {', '.join(others)}")


def _write_overview(lists: dict[str, Listing], page: Page) -> None:
    rows = [(f"list {kind}", str(len(one.entries)), _some(one.entries)) for kind, one in lists.items()]
    for line in in_columns(rows, page.width):
        page.line(line)


def _some(entries: Sequence[Entry]) -> str:
    names = [str(next(iter(entry.values()))) for entry in entries]
    return f"{', '.join(names[:4])}{', …' if len(names) > 4 else ''}"
