"""The overview of real runtimes: made from `docs/matrix.json`, which `runlock matrix -o docs` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.runtime import FOLDER
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.family.family import DEFAULT, Family, family_named
from runlock.conformance.report import versions
from runlock.conformance.report.clause_names import title
from runlock.conformance.report.matrix import overview, rows, witness_files
from runlock.spec.model import Clause

from . import first_edition
from .markdown import WIDE, folder_of, text

KEPT = Path(__file__).parent.parent / "matrix.json"
MARKS: Final = {
    "held": ("held", "✓"),
    "held, thinly": ("thin", "(✓)"),
    "broken": ("broken", "✗"),
    "error": ("error", "!"),
    "": ("untested", "·"),
}
"""The look and the sign of each verdict; the sign alone tells them apart."""

LEGEND: Final = " ".join(
    f'<span class="cell {look}">{sign}</span> {verdict or "untested"}'
    for verdict, (look, sign) in MARKS.items()
)


def pages() -> Iterator[tuple[str, str]]:
    """All runtimes at a glance."""
    families = sorted({one.get("family", DEFAULT) for one in report()["runtimes"]})
    page = WIDE + "\n".join(overview(report(), _heat_map, "runtimes/{}.md"))
    tables = ", ".join(f"[{name}](#{name})" for name in families)
    page = page.replace("| runtime |", f"Tables of clauses: {tables}.\n\n| runtime |", 1)
    yield "matrix.md", f"{page}\n\n{first_edition.section(report())}"


def files() -> Iterator[tuple[str, str]]:
    """The witness of each violation and the adapters, which the pages link to."""
    for path, content in witness_files(report()):
        yield path.as_posix(), content
    for name in sorted({one.adapter_file.removeprefix(f"{FOLDER}/") for one in runtimes()}):
        yield f"adapters/{name}.txt", (KEPT.parent.parent / FOLDER / name).read_text("utf-8")


@cache
def report() -> Any:
    """The matrix."""
    return json.loads(KEPT.read_text("utf-8"))


@cache
def history() -> Any:
    """The releases in which the violations were seen."""
    return versions.known(KEPT.with_name(versions.FILE))


@cache
def _judged(family: str) -> tuple[Mapping[str, Any], ...]:
    """The runtimes of a family that were judged."""
    every = report()["runtimes"]
    return tuple(one for one in every if one["verdict"] and one.get("family", DEFAULT) == family)


@cache
def _verdicts(family: str) -> Mapping[str, Sequence[str]]:
    """The verdicts on each clause that was tested, in the order of the runtimes."""
    return {clause.id: verdicts for clause, verdicts in rows(family, _judged(family))}


LOOKS: Final = {"broken by": "broken", "held by": "held", "not tested on": ""}
"""How a verdict is said, and how it begins."""


def verdicts_in_words(family: str, clause: str, root: str) -> Iterator[str]:
    """Which runtimes break a clause, which hold it, and on which it was not tested, with links to them."""
    found = [*zip(_judged(family), _verdicts(family).get(clause, ()), strict=False)]
    for words, look in LOOKS.items():
        named = [
            _named(one, clause, verdict, root)
            for one, verdict in found
            if verdict.startswith(look) and bool(verdict) == bool(look)
        ]
        if named:
            yield f"{words} {' · '.join(named)}"
    if not found:
        yield "it was tested on none"


def _named(runtime: Mapping[str, Any], clause: str, verdict: str, root: str) -> str:
    place = clause.lower() if verdict else "not-tested"
    return f"[{text(runtime['title'])}]({root}/runtimes/{runtime['name']}.md#{place})"


def _heat_map(name: str, judged: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A table whose head and first column stay in view, with a switch that hides what nothing breaks."""
    family = family_named(name)
    head = "".join(
        f'<th scope="col"><a href="runtimes/{one["name"]}.html"><span>{escape(one["title"])}</span></a></th>'
        for one in judged
    )
    body = "".join(_row(family, clause, verdicts, judged) for clause, verdicts in rows(name, judged))
    switch = '<label><input type="checkbox" class="only-broken"> only clauses that a runtime breaks</label>'
    top = f'<thead><tr><th scope="col">clause</th>{head}</tr></thead>'
    table = f'<table class="map">{top}<tbody>{body}</tbody></table>'
    frame = f'class="frame" tabindex="0" role="region" aria-label="Clauses of {name} by runtimes"'
    about = f'<p>{switch}</p><p class="legend">{LEGEND}</p>'
    yield f"## {name}\n"
    yield f'<div class="heat" data-search-exclude>{about}<div {frame}>{table}</div></div>\n'


def _row(family: Family, clause: Clause, verdicts: Sequence[str], judged: Sequence[Mapping[str, Any]]) -> str:
    page = f"{folder_of(family.name)}clauses/{clause.area.lower()}.html#{clause.id.lower()}"
    words = escape(title(family, clause))
    name = f'<th scope="row"><a href="{page}">{clause.id}</a> <span>{words}</span></th>'
    cells = "".join(_cell(clause, one, verdict) for one, verdict in zip(judged, verdicts, strict=True))
    return f"<tr{' class=hit' if 'broken' in verdicts else ''}>{name}{cells}</tr>"


def _cell(clause: Clause, runtime: Mapping[str, Any], verdict: str) -> str:
    look, sign = MARKS[verdict]
    if look == "untested":  # most are; the head and the first column stay in view
        return f"<td>{sign}</td>"
    named = escape(runtime["title"])
    if verdict == "broken":
        place = f"runtimes/{runtime['name']}.html#{clause.id.lower()}"
        leads = f'<a href="{place}" aria-label="{named} breaks {clause.id}">{sign}</a>'
        return f'<td class="{look}">{leads}</td>'
    return f'<td class="{look}" title="{named}">{sign}</td>'
