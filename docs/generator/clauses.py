"""A page for each area of clauses: the output of `runlock explain` for each, with its examples drawn."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.family.family import DEFAULT, Family, families
from runlock.conformance.family.timeline import render
from runlock.conformance.report.chart_text import Line, shown, tables_of
from runlock.conformance.report.clause_names import title
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
from runlock.diagrams.of_family import drawing
from runlock.spec.model import Clause, Retired

from . import matrix
from .markdown import (
    anchor,
    chart,
    clause,
    fold,
    folder_of,
    in_family,
    later,
    picture,
    played,
    policy,
    source,
    table,
    text,
)

WIDTH = 100
"""The width of a timeline in letters."""


def pages() -> Iterator[tuple[str, str]]:
    """For each family the overview, and one page for each area."""
    for family in families():
        folder = f"{folder_of(family.name)}clauses"
        yield f"{folder}/index.md", _overview(family)
        for area in family.spec.areas:
            yield f"{folder}/{area.lower()}.md", _page(family, area)


def _about(family: Family, area: str) -> str:
    """What an area is about, as a sentence."""
    about = family.spec.areas[area]
    return f"{about[0].upper()}{about[1:]}."


def _of(family: Family, area: str) -> list[Clause]:
    found = [one for one in family.spec.clauses.values() if one.area == area]
    return sorted(found, key=lambda one: int(one.id.rpartition("-")[2]))


def _overview(family: Family) -> str:
    rows = [
        (f"[{area}]({area.lower()}.md)", _about(family, area), str(len(_of(family, area))))
        for area in family.spec.areas
    ]
    listing = LISTS["clauses"](family)
    assert listing.summary is not None
    option = "" if family.name == DEFAULT else f" --family {family.name}"
    return f"""# {in_family("Clauses", family.name)}

A clause is one sentence that a runtime keeps or breaks, with an id that is never used again. Each clause
has its reason, its source, the policies under which it applies, and what a runtime must offer so that it
can be tested. A source is a section of a document on agent loops, such as `tirea`, `awaken-8` and `awaken-9`,
which are [three designs](../reference/profiles.md) of such a loop. Where these documents say nothing, or
contradict each other, it is `runlock`, mostly with one of the [errata](../reference/errata.md).
{listing.summary(listing.entries)}

{table(("area", "what it is about", "clauses"), rows)}
Each clause has an example that keeps it, run on the reference when this page was written, and the shortest
known example that breaks it, run on a *mutant*: the reference with a deliberate fault. `runlock explain
{next(iter(family.spec.clauses))}{option}` shows the same in a terminal.
"""


def _page(family: Family, area: str) -> str:
    every = _of(family, area)
    on = dict.fromkeys(one.name for each in every for one in tables_of(family, each.id))
    drawn = f"\n\nCharts: {', '.join(map(chart, on))}." if on else ""
    gone = [one for one in family.spec.retired.values() if one.area == area]
    parts = "\n".join([*(_clause(family, one) for one in every), *(_retired(family, one) for one in gone)])
    return f"# {in_family(area, family.name)}\n\n{_about(family, area)}{drawn}\n\n{parts}"


def _clause(family: Family, one: Clause) -> str:
    facts = "".join(f"{label}\n:   {words}\n\n" for label, words in _facts(family, one) if words)
    more = f"{text(one.intent)}\n\n{facts}\n{_charts(family, one)}\n{_examples(family, one)}"
    return f"""## {_headline(family, one)} {{ #{one.id.lower()} .clause data-toc-label="{one.id}" }}

{_words(one)}

{fold("Why, source, checks and examples", more, "clause")}
"""


def _headline(family: Family, one: Clause) -> str:
    """The id, and the title, if that says something else than the sentence below it."""
    said = title(family, one)
    return one.id if said.lower() == one.sentence.rstrip(".").lower() else f"{one.id}: {text(said)}"


def _retired(family: Family, one: Retired) -> str:
    """What was said under an id that is not used any more, and the clauses that say it now."""
    now = " and ".join(clause(each, family=family.name) for each in one.instead)
    return f"""## {one.id}: retired {{ #{one.id.lower()} data-toc-label="{one.id}" }}

{text(one.sentence)} <span class="level">retired</span>
{{ .sentence }}

{text(one.why)}

Now
:   {now}

Retired
:   with revision {one.revision} of the specification
"""


def _words(one: Clause) -> str:
    """The sentence and the level, in this order on every page."""
    level = f'<span class="level {one.level.lower()}">{one.level}</span>'
    return f"{text(one.sentence)} {level}\n{{ .sentence }}"


def _facts(family: Family, one: Clause) -> Iterator[tuple[str, str]]:
    yield "Source", _lines(source(each, family.name) for each in one.sources)
    yield "Severity", f"{one.severity}: the worst that may happen where a runtime breaks it"
    yield "Since", f"revision {one.since} of the specification"
    yield "Applies", _lines(_applies(family, one))
    needs = ", ".join(f"`{need}`" for need in one.needs)
    yield "Needs", needs and f"in the handshake: {needs}"
    yield "Occasion", text(one.occasion or "")
    yield "Official kits", _lines(f"{kit}: {', '.join(ids)}" for kit, ids in one.official.items())
    yield "Checked by", _lines(map(text, checks_of(family, one)))
    root = "../" + "../" * folder_of(family.name).count("/")
    yield "Real runtimes", _lines(matrix.verdicts_in_words(family.name, one.id, root.rstrip("/")))
    yield "Look at", _lines(map(text, one.look_at))
    yield "Mutants", _lines(f"`{each.name}`: {text(each.fault)}" for each in mutants_of(family, one.id))


def _lines(words: Iterator[str]) -> str:
    return " <br>".join(words)


def _applies(family: Family, one: Clause) -> Iterator[str]:
    if one.core:
        yield "to every runtime: it is part of the universal core"
    for key, values in one.applies.items():
        yield f"where {policy(key)} is {' or '.join(f'`{value}`' for value in values)}"
    under = profiles_of(family, one)
    named = [f"[{name}](../reference/profiles.md#{anchor(name)})" for name in under]
    yield f"under {', '.join(named)}" if named else "under no profile as it stands"


def _charts(family: Family, one: Clause) -> str:
    parts = []
    for drawn in tables_of(family, one.id):
        rows = [_line(family, line) for line in shown(drawn, one.id)]
        lines = table(("this", "from", "on", "to", "clause", "when"), rows)
        parts.append(fold(f"In the chart {drawn.name}", f"{chart(drawn.name)}\n\n{lines}", "abstract"))
    return "\n".join(parts)


def _line(family: Family, line: Line) -> tuple[str, ...]:
    cells = (text(line.source), f"**{text(line.event)}**", text(line.target or "refused"))
    mark = "▶" if line.marked else ""
    link = clause(line.clause, family=family.name)
    return (mark, *cells, link, text(line.phrase if line.target else ""))


def _examples(family: Family, one: Clause) -> str:
    right, wrong = legal(family, one), illegal(family, one)
    parts = []
    if right is not None:
        parts.append(_example(f"Kept: {right.source}, on {right.target}", right, one, "success"))
    if wrong is not None:
        parts.append(_example(f"Broken by {wrong.source}: {wrong.because}", wrong, one, "failure"))
    return "\n".join(parts)


def _example(headline: str, example: Example, one: Clause, kind: str) -> str:
    seen = example.seen(one)
    below = f"\nAt the last step: {text(', '.join(seen))}\n" if seen else ""
    shown = timeline(example, one)
    if example.because and example.family.name == DEFAULT:
        what = fragment(example.trace, f"{one.id}: {example.because}")
        shown += f"<p>{played(what, '..', 'Play it step by step')}</p>"
    return fold(text(headline), f"{later(shown) if shown.startswith('<') else shown}{below}", kind)


def timeline(example: Example, one: Clause) -> str:
    """The timeline as a picture if the family has one, else as text."""
    drawn = drawing(example.family.name, "timeline_svg")
    if drawn is None:
        lines = "\n".join(render(example.family, example.trace, WIDTH))
        return f"```text {{ data-search-exclude }}\n{lines}\n```\n"
    label = f"A timeline in which {one.id} is {'broken' if example.because else 'kept'}"
    return picture(drawn.drawn(example.trace, label))
