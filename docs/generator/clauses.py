"""A page for each area of clauses: the output of `runlock explain` for each, with its examples drawn."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.family.family import DEFAULT, family_named
from runlock.conformance.report.chart_text import Line, shown, tables_of
from runlock.conformance.report.clause_sheet import checks_of
from runlock.conformance.report.examples import (
    Example,
    illegal,
    legal,
    profiles_of,
)
from runlock.conformance.report.listing import LISTS
from runlock.conformance.selftest.witnesses import mutants_of
from runlock.diagrams.charts.playable import fragment
from runlock.diagrams.lifecycle import timeline_svg as drawn_timeline
from runlock.spec.model import Clause

from .markdown import anchor, chart, clause, fold, picture, played, policy, table, text

FAMILY = family_named(DEFAULT)
"""The family whose clauses have pages."""


def pages() -> Iterator[tuple[str, str]]:
    """The overview, and one page for each area."""
    yield "clauses/index.md", _overview()
    for area in areas():
        yield f"clauses/{area.lower()}.md", _page(area)


def areas() -> list[str]:
    """The areas, in alphabetical order."""
    return list(FAMILY.spec.areas)


def _about(area: str) -> str:
    """What an area is about, as a sentence."""
    about = FAMILY.spec.areas[area]
    return f"{about[0].upper()}{about[1:]}."


def _of(area: str) -> list[Clause]:
    found = [one for one in FAMILY.spec.clauses.values() if one.area == area]
    return sorted(found, key=lambda one: int(one.id.rpartition("-")[2]))


def _overview() -> str:
    rows = [(f"[{area}]({area.lower()}.md)", _about(area), str(len(_of(area)))) for area in areas()]
    listing = LISTS["clauses"](FAMILY)
    assert listing.summary is not None
    return f"""# The clauses

A clause is one sentence that a runtime keeps or breaks, with an id that is never used again. Each says why
it stands, where it comes from, under which policies it applies and what it takes to see it.
{listing.summary(listing.entries)}

{table(("area", "what it is about", "clauses"), rows)}
Beside each clause stands an example that keeps it, played on the reference when this page was written, and
the shortest known one that breaks it, played on a *mutant*: the reference, made wrong on purpose.
`runlock explain CALL-4` says the same in a terminal.
"""


def _page(area: str) -> str:
    every = _of(area)
    on = dict.fromkeys(one.name for each in every for one in tables_of(FAMILY, each.id))
    drawn = f"\n\nIts charts: {', '.join(map(chart, on))}." if on else ""
    rows = [(clause(one.id), one.level, text(one.sentence)) for one in every]
    parts = "\n".join(map(_clause, every))
    glance = fold("All at a glance", table(("clause", "level", "sentence"), rows))
    return f"# {area}\n\n{_about(area)}{drawn}\n\n{glance}\n{parts}"


def _clause(one: Clause) -> str:
    facts = "".join(f"{label}\n:   {words}\n\n" for label, words in _facts(one) if words)
    level = f'<span class="level {one.level.lower()}">{one.level}</span>'
    return f"""## {one.id} {{ #{one.id.lower()} }}

{level} {text(one.sentence)}
{{ .sentence }}

{text(one.intent)}

{facts}
{_charts(one)}
{_examples(one)}
"""


def _facts(one: Clause) -> Iterator[tuple[str, str]]:
    yield "Source", _lines(map(text, one.sources))
    yield "Applies", _lines(_applies(one))
    yield "Needs", ", ".join(f"`{need}`" for need in one.needs)
    yield "Checked by", _lines(map(text, checks_of(FAMILY, one)))
    yield "Look at", _lines(map(text, one.look_at))
    yield "Mutants", _lines(f"`{each.name}`: {text(each.fault)}" for each in mutants_of(FAMILY, one.id))


def _lines(words: Iterator[str] | map[str]) -> str:
    return "<br>".join(words)


def _applies(one: Clause) -> Iterator[str]:
    if one.core:
        yield "to every runtime: it is part of the universal core"
    for key, values in one.applies.items():
        yield f"where {policy(key)} is {' or '.join(f'`{value}`' for value in values)}"
    under = profiles_of(FAMILY, one)
    named = [f"[{name}](../reference/profiles.md#{anchor(name)})" for name in under]
    yield f"under {', '.join(named)}" if named else "under no profile as it stands"


def _charts(one: Clause) -> str:
    parts = []
    for drawn in tables_of(FAMILY, one.id):
        lines = table(("this", "from", "on", "to", "clause", "when"), map(_line, shown(drawn, one.id)))
        parts.append(fold(f"In the chart {drawn.name}", f"{chart(drawn.name)}\n\n{lines}", "abstract"))
    return "\n".join(parts)


def _line(line: Line) -> tuple[str, ...]:
    cells = (text(line.source), f"**{text(line.event)}**", text(line.target or "refused"))
    mark = "▶" if line.marked else ""
    return (mark, *cells, clause(line.clause), text(line.phrase if line.target else ""))


def _examples(one: Clause) -> str:
    right, wrong = legal(FAMILY, one), illegal(FAMILY, one)
    parts = []
    if right is not None:
        parts.append(_example(f"Kept: {right.source}, on {right.target}", right, one, "success"))
    if wrong is not None:
        parts.append(_example(f"Broken by {wrong.source}: {wrong.reason}", wrong, one, "failure"))
    return "\n".join(parts)


def _example(title: str, example: Example, one: Clause, kind: str) -> str:
    label = f"A timeline in which {one.id} is {'broken' if example.reason else 'kept'}"
    seen = example.seen(one)
    below = f"\nAt the last step: {text(', '.join(seen))}\n" if seen else ""
    if example.reason:
        what = fragment(example.trace, f"{one.id}: {example.reason}")
        below += f"\n{played(what, '..', 'Play it step by step')}\n"
    return fold(title, f"{picture(drawn_timeline.drawn(example.trace, label))}{below}", kind)
