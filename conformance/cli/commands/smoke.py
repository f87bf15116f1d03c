"""`runlock smoke`: tests an adapter verb by verb, and shows what each gap in its handshake costs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any, Final

from runlock.conformance.campaign.adapter_check import (
    FAILS,
    NOT_REACHED,
    WORKS,
    Smoke,
    Tried,
)
from runlock.conformance.campaign.adapter_check import smoke as driven
from runlock.conformance.campaign.served import Reached
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.report.clause_names import grouped
from runlock.conformance.report.console import Page
from runlock.conformance.report.text import incidents
from runlock.conformance.text import plain
from runlock.conformance.wires.settings import address_named

SCHEMA: Final = 1
STYLES: Final = {WORKS: "green", FAILS: "red", NOT_REACHED: "yellow"}
BLAMED: Final = {"adapter": "the adapter", "SUT": "the runtime", "kit": "the kit", "you": "the command"}


def smoke(reached: Reached, *, as_json: bool) -> int:
    """Run the whole command; the exit code."""
    target = reached.target
    opened = reached.factory()
    with results() as stdout:
        found = driven(opened)
        page = Page(stdout)
        if as_json:
            page.console.out(json.dumps(_as_json(target, found), indent=1))
        else:
            _write(target, found, page)
    return found.exit_code


def _as_json(target: str, found: Smoke) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "target": target,
        "implementation": found.implementation,
        "profile": found.profile,
        "flaky": found.ledger.headline,
        "incidents": [asdict(replace(one, trace=None)) for one in found.ledger.all],
        "exit_code": found.exit_code,
        "verbs": [asdict(one) for one in found.verbs.values()],
        "gates": [asdict(one) for one in found.gates],
        "observes": [asdict(one) for one in found.observes],
        "warnings": found.warnings,
        "notes": found.notes,
        "exceptions": [{"error": one.error, "verb": one.verb, "times": one.times} for one in found.raised],
        "broken": [{"clause": clause, "because": why} for clause, why in found.broken.items()],
        "untested": [
            {"why": why, "count": len(clauses), "clauses": clauses} for why, clauses in found.untested.items()
        ],
    }


def _write(target: str, found: Smoke, page: Page) -> None:
    fault = found.verbs["initialize"]
    if fault.state == FAILS and address_named(target) is not None:  # there is no adapter to mend
        page.headline("does not work", plain(f": {fault.why}"), "red")
        return
    for line in _first(found):
        page.wrapped(line, "red")
    _write_headline(target, found, page)
    for warning in found.warnings:
        page.wrapped(f"warning: {plain(warning)}", "yellow", "  ")
    for note in found.notes:
        page.wrapped(plain(note), indent="  ")
    _write_part("verb", found.verbs.values(), page)
    _write_part("gate", found.gates, page)
    _write_part("shows", found.observes, page)
    for clause, because in found.broken.items():
        page.line()
        page.headline(f"{clause} broken", f": {plain(because)}", "red")
    if found.untested:
        _write_costs(found, page)
    page.line()
    page.line(_next(target, found))


def _first(found: Smoke) -> Iterator[str]:
    """The incidents, the exceptions, or else the first thing that does not work."""
    yield from incidents(found.ledger)
    if found.raised:
        yield from (f"exception: {plain(one.what)}" for one in found.raised)
    elif found.faults:
        yield f"{found.faults[0].what} does not work: {plain(found.faults[0].why)}"


def _write_headline(target: str, found: Smoke, page: Page) -> None:
    party = found.implementation
    who = f" is {party['name']} {party['version']}, profile {found.profile}" if party else ""
    code = found.exit_code
    is_flaky = not (found.faults or found.raised)
    undecided = ("undecided", "yellow") if is_flaky else ("does not work", "red")
    news, style = {0: ("works", "green"), 1: ("broken", "red"), 3: undecided}[code]
    page.headline(news, plain(f": {target}{who}"), style)


def _write_part(title: str, rows: Iterable[Tried], page: Page) -> None:
    width = 16
    for number, row in enumerate(rows):
        if not number:
            page.line()
            page.line(title, "dim")
        blamed = f" (blame {BLAMED.get(row.blame, row.blame)})" if row.blame else ""
        text = f"{row.state}{': ' if row.why else ''}{row.why}{blamed}"
        page.columns(f"  {plain(row.what):<{width}}", plain(text), STYLES.get(row.state, ""))


def _write_costs(found: Smoke, page: Page) -> None:
    page.line()
    page.line("untested, whatever is played", "dim")
    for why, clauses in found.untested.items():
        page.columns(f"  {len(clauses):>3}  ", f"{why}: {grouped(clauses)}")


def _next(target: str, found: Smoke) -> str:
    if found.faults:
        return f"Mend {found.faults[0].what} first, and run this again."
    return f"Next: runlock check {target if ' ' not in target else repr(target)}"
