"""`interlock explain`: everything that the spec and the kit say of one clause."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from interlock.conformance.commands.streams import results
from interlock.conformance.exceptions import UsageError
from interlock.conformance.report.clauses import arrows, checks, closes, file_of
from interlock.conformance.report.page import Page
from interlock.spec.model import Clause, load_spec


def explain(clause_id: str) -> int:
    """Run the whole command; the exit code."""
    clause = clause_of(clause_id)
    with results() as stdout:
        page = Page(stdout)
        page.headline(clause.id, f" {clause.level}: {clause.sentence}", "cyan")
        for label, text in _said(clause):
            page.labelled(label, text)
    return 0


def clause_of(name: str) -> Clause:
    """The clause of that id, in whatever case it is written."""
    known = load_spec().clauses
    if name.upper() in known:
        return known[name.upper()]
    near = get_close_matches(name.upper(), known, n=3)
    right = f"Did you mean {' or '.join(near)}?" if near else "`interlock list clauses` shows them all."
    raise UsageError(f"There is no clause {name}.", right)


def _said(clause: Clause) -> Iterator[tuple[str, str]]:
    yield "intent", clause.intent
    yield "words", file_of(clause)
    yield from _many("sources", clause.sources)
    if clause.core:
        yield "core", "part of the universal core: it binds every runtime, whatever its policies"
    yield from _many("applies", [f"{key} is {' or '.join(values)}" for key, values in clause.applies.items()])
    yield from _many("needs", clause.needs)
    yield from _many("arrow", list(_arrows(clause.id)))
    yield from _many("checks", checks(clause.id))
    if clause.untestable is not None:
        yield "untested", f"it cannot be tested from outside: {clause.untestable}"
    yield from _many("look at", clause.look_at)


def _many(label: str, texts: list[str]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(texts):
        yield (label if number == 0 else "", text)


def _arrows(clause_id: str) -> Iterator[str]:
    for table, row in arrows(clause_id):
        guards = f", if {' and '.join(row.guards)}" if row.guards else ""
        yield f"{table.name}: {row.source} to {row.target} on {row.event}{guards}: {row.phrase}"
    for table, state in closes(clause_id):
        ways = ", ".join(one for one in table.states if one in table.targets(state))
        yield f"{table.name}: {state} leads to {ways or 'nothing'}, and nowhere else"
