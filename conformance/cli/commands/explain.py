"""`runlock explain`: everything that the spec and the kit say of one thing by its name."""

from __future__ import annotations

import json

from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.report.clause_sheet import sheets_of
from runlock.conformance.report.console import Page
from runlock.conformance.report.sheet import SCHEMA


def explain(name: str, *, as_json: bool = False) -> int:
    """Run the whole command; the exit code."""
    with results() as stdout:
        sheets = sheets_of(name)
        page = Page(stdout)
        if as_json:
            said = {"schema": SCHEMA, "name": name, "found": [sheet.as_json() for sheet in sheets]}
            page.console.out(json.dumps(said, indent=1))
        for number, sheet in enumerate(() if as_json else sheets):
            if number:
                page.line()
            sheet.write(page)
    return 0
