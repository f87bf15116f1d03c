"""`runlock explain`: everything that the spec and the kit say of one thing by its name."""

from __future__ import annotations

import json
from collections.abc import Sequence

from runlock.conformance.cli.commands.families import families_chosen
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.report.clause_sheet import found_in
from runlock.conformance.report.console import Page
from runlock.conformance.report.sheet import SCHEMA


def explain(name: str, *, family: str | None = None, as_json: bool = False) -> int:
    """Run the whole command; the exit code."""
    with results() as stdout:
        found = found_in(name, families_chosen(family))
        own, *others = found
        sheets = [make() for make in found[own]]
        page = Page(stdout)
        if as_json:
            said = {
                "schema": SCHEMA,
                "name": name,
                "family": own,
                "also_in": others,
                "found": [sheet.as_json() for sheet in sheets],
            }
            page.console.out(json.dumps(said, indent=1))
        for number, sheet in enumerate(() if as_json else sheets):
            if number:
                page.line()
            sheet.write(page)
        if others and not as_json:
            page.line()
            page.wrapped(_elsewhere(name, own, others))
    return 0


def _elsewhere(name: str, own: str, others: Sequence[str]) -> str:
    """One line on the other families that have the name."""
    known = " and ".join(others)
    return f"this is {name} of {own}; {known} has one too: runlock explain {name} --family {others[0]}"
