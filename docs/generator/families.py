"""One page for each family without a section of its own: charts, clauses, policies, profiles, errata."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from runlock.conformance.family.family import DEFAULT, Family, families
from runlock.conformance.report.chart_text import tables_of
from runlock.conformance.selftest.witnesses import mutants_of
from runlock.diagrams.charts.dot import DotOptions, dot
from runlock.diagrams.charts.picture import Picture, pictures
from runlock.diagrams.render import graphviz_layout as layout
from runlock.machines.catalogue import every_chart
from runlock.spec.model import Clause, Erratum, Policy, Profile

from .markdown import CODE, ID, WIDE, anchor, fold, picture, table, text


def others() -> list[Family]:
    """The families without a section of their own."""
    return [one for one in families() if one.name != DEFAULT]


def pages() -> Iterator[tuple[str, str]]:
    """One page each."""
    for family in others():
        yield file_of(family), _page(family)


def file_of(family: Family) -> str:
    """The file of the page of a family."""
    return f"families/{family.name}.md"


def _page(family: Family) -> str:
    spec = family.spec
    parts = (
        ("Charts", [_chart(family, one) for one in pictures(family.name).values()]),
        ("Clauses", [_area(family, area) for area in sorted({one.area for one in spec.clauses.values()})]),
        ("Policies", [_policy(one) for one in spec.policies.values()]),
        ("Profiles", [_profile(one) for one in spec.profiles.values()]),
        ("Errata", [_erratum(family, one) for one in spec.errata.values()]),
    )
    counts = ", ".join(f"{len(section)} {title.lower()}" for title, section in parts if title != "Clauses")
    sections = "\n".join(f"## {title}\n\n{''.join(section)}" for title, section in parts)
    return f"""{WIDE}# The family {family.name}

{len(spec.clauses)} clauses, {counts}. `runlock explain CLAUSE --family {family.name}` says more
about a clause, with examples, and `runlock check reference:{family.name}` checks the reference.

{sections}"""


# --- charts -------------------------------------------------------------------------------------


def _chart(family: Family, one: Picture) -> str:
    docs = {chart.__name__: (chart.__doc__ or "").partition("\n\n")[0] for chart in every_chart(family.name)}
    drawing = layout.svg(dot(one, DotOptions(lambda clause: f"#{clause.lower()}")), f"The chart {one.name}")
    rows = [
        (
            _link(family, arrow.clause),
            text(arrow.source),
            f"**{text(arrow.event)}**" if arrow.event else "",
            text(arrow.target),
            text(arrow.phrase),
        )
        for arrow in one.arrows
    ]
    arrows = fold("Its transitions", table(("clause", "from", "on", "to", "when"), rows))
    about = text(" ".join(docs.get(one.name, "").split()))
    return f"### {one.name}\n\n{about}\n\n{picture(drawing)}\n{arrows}\n"


def _link(family: Family, clause: str) -> str:
    """A link to a clause on the same page."""
    return f"[{clause}](#{clause.lower()})" if clause in family.spec.clauses else clause


def _linked(family: Family, words: str) -> str:
    parts = CODE.split(words)
    return "".join(
        part if CODE.fullmatch(part) else ID.sub(lambda found: _link(family, found[1]), text(part))
        for part in parts
    )


# --- clauses ------------------------------------------------------------------------------------


def _area(family: Family, area: str) -> str:
    every = [one for one in family.spec.clauses.values() if one.area == area]
    rows = [_clause(family, one) for one in sorted(every, key=_number)]
    return f"### {area}\n\n{table(('clause', 'level', 'sentence', 'why', 'applies', 'mutants'), rows)}\n"


def _number(one: Clause) -> int:
    return int(one.id.rpartition("-")[2])


def _clause(family: Family, one: Clause) -> tuple[str, ...]:
    name = f'<span id="{one.id.lower()}">{one.id}</span>'
    charts = "".join(f" See the chart [{t.name}](#{t.name.lower()})." for t in tables_of(family, one.id))
    applies = "; ".join(f"`{key}` is {' or '.join(values)}" for key, values in one.applies.items())
    mutants = ", ".join(
        f'<span title="{escape(each.fault)}">{each.name}</span>' for each in mutants_of(family, one.id)
    )
    why = _linked(family, f"{one.intent} ({'; '.join(one.sources)})")
    return name, one.level, f"{_linked(family, one.sentence)}{charts}", why, applies or "always", mutants


# --- policies, profiles, errata -----------------------------------------------------------------


def _policy(one: Policy) -> str:
    how = "Any of" if one.kind == "set of" else "One of"
    values = ", ".join(f"`{value}`" for value in one.values)
    return f"- **`{one.key}`**: {text(one.sentence)} {how} {values}.\n"


def _profile(one: Profile) -> str:
    rows = [(f"`{key}`", _value(value)) for key, value in one.policies.items()]
    said = f"{text(one.sentence)} Source: {text(one.source)}."
    policies = fold("Its policies", table(("policy", "value"), rows))
    return f"### {one.name} {{ #{anchor(one.name)} }}\n\n{said}\n\n{policies}\n"


def _value(value: str | list[str]) -> str:
    return f"`{value}`" if isinstance(value, str) else ", ".join(f"`{one}`" for one in value) or "none"


def _erratum(family: Family, one: Erratum) -> str:
    title = f"{one.id}: {re.sub('`', '', one.title)}"
    places = "; ".join(f"{text(p.document)}, *{text(p.section)}*, line {p.line}" for p in one.places)
    words = (
        f"{_linked(family, one.found)} **Decided:** {_linked(family, one.decided)} {_linked(family, one.why)}"
    )
    return f"**{text(title)}.** {words} ({places})\n\n"
