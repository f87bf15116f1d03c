"""`runlock smoke`: tests an adapter verb by verb, and shows what each gap in its handshake costs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any, Final

from runlock.conformance.campaign.adapter_check import (
    FAILS,
    NOT_REACHED,
    WORKS,
    Smoke,
    Tried,
)
from runlock.conformance.campaign.adapter_check import smoke as driven
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.report.clause_names import grouped
from runlock.conformance.report.console import Page
from runlock.conformance.safe_path import SAFE
from runlock.conformance.text import plain
from runlock.conformance.transport.stdio import Pipe
from runlock.conformance.transport.sut import Sut

SCHEMA: Final = 1
STYLES: Final = {WORKS: "green", FAILS: "red", NOT_REACHED: "yellow"}
BLAMED: Final = {"adapter": "the adapter", "SUT": "the runtime", "kit": "the kit", "you": "the command"}


def smoke(target: str, *, as_json: bool, timeout_scale: float) -> int:
    """Run the whole command; the exit code."""
    resolved = resolve(target, timeout_scale=timeout_scale)
    if resolved.path is not None:
        raise UsageError(f"`{target}` is a recorded trace, and not a runtime.", "Name a runtime.")
    with results() as stdout:
        found = driven(_apart(target, timeout_scale) if resolved.kind == "py" else resolved.open)
        page = Page(stdout)
        if as_json:
            page.console.out(json.dumps(_as_json(target, found), indent=1))
        else:
            _write(target, found, page)
    return found.exit_code


def _apart(target: str, timeout_scale: float) -> Callable[[], Sut]:
    """A Python runtime in a separate process, which it may end or block without harm."""
    words = [sys.executable, SAFE, "-m", "runlock.conformance.cli", "serve", target]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return lambda: Pipe(words, timeout_scale=timeout_scale, env=environment)


def _as_json(target: str, found: Smoke) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "target": target,
        "implementation": found.implementation,
        "profile": found.profile,
        "exit_code": found.exit_code,
        "verbs": [asdict(one) for one in found.verbs.values()],
        "gates": [asdict(one) for one in found.gates],
        "observes": [asdict(one) for one in found.observes],
        "warnings": found.warnings,
        "exceptions": [{"error": one.error, "verb": one.verb, "times": one.times} for one in found.raised],
        "broken": [{"clause": clause, "because": why} for clause, why in found.broken.items()],
        "untested": [
            {"why": why, "count": len(clauses), "clauses": clauses} for why, clauses in found.untested.items()
        ],
    }


def _write(target: str, found: Smoke, page: Page) -> None:
    for line in _first(found):
        page.wrapped(line, "red")
    _write_headline(target, found, page)
    for warning in found.warnings:
        page.wrapped(f"warning: {plain(warning)}", "yellow", "  ")
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
    """The exceptions, or else the first thing that does not work."""
    if found.raised:
        yield from (f"exception: {plain(one.what)}" for one in found.raised)
    elif found.faults:
        yield f"{found.faults[0].what} does not work: {plain(found.faults[0].why)}"


def _write_headline(target: str, found: Smoke, page: Page) -> None:
    party = found.implementation
    who = f" is {party['name']} {party['version']}, profile {found.profile}" if party else ""
    code = found.exit_code
    news, style = {0: ("works", "green"), 1: ("broken", "red"), 3: ("does not work", "red")}[code]
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
