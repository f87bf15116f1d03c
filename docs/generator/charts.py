"""A page for each chart: its picture, its table, its clauses, and its files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import getdoc

from runlock.conformance.family.family import DEFAULT
from runlock.diagrams.charts.dot import dot
from runlock.diagrams.charts.formats import FORMS
from runlock.diagrams.charts.picture import Picture, pictures
from runlock.diagrams.lifecycle.regions import DERIVED
from runlock.diagrams.render import graphviz_layout as layout
from runlock.diagrams.render.svg import NAMESPACE, Drawing
from runlock.machines.catalogue import every_chart
from runlock.spec.model import load_spec

from .markdown import WIDE, chart, clause, picture, played, table, text

ORDER = ("Run", "RunWithCreated", "ToolCall", "DerivedRun", "ResumeToolCall", "RunFlow")
"""The charts to start with; the others follow by name."""


def pages() -> Iterator[tuple[str, str]]:
    """The overview, and one page each."""
    yield "charts/index.md", _overview()
    for one in ordered():
        yield f"charts/{one.name}.md", _page(one)


def files() -> Iterator[tuple[str, str]]:
    """The files of pictures and texts."""
    for one in ordered():
        for form in FORMS.values():
            if form.is_text:
                yield f"charts/{one.name}.{form.ending}", form.make(one).decode()
        drawing = _drawn(one)
        named = f'xmlns="{NAMESPACE}" '
        inner = drawing.text(is_alone=False).replace("<svg ", f"<svg {named}", 1)
        yield f"charts/{one.name}.svg", drawing.text()
        yield f"assets/pictures/{one.name}.js", _script(one.name, inner)


def _script(name: str, text: str) -> str:
    """The data for the page that plays charts, as a script that needs no server."""
    return f"(globalThis.PICTURES ??= {{}})[{json.dumps(name)}] = {json.dumps(text)};\n"


def ordered() -> list[Picture]:
    """Every chart, the simple ones first."""
    rest = [name for name in pictures() if name not in ORDER]
    return [pictures()[name] for name in (*ORDER, *rest)]


def _drawn(one: Picture) -> Drawing:
    return layout.svg(dot(one), f"The chart {one.name}")


def about(one: Picture) -> str:
    """The docstring of the chart."""
    docs = {chart.__name__: getdoc(chart) or "" for chart in every_chart(DEFAULT)}
    return docs.get(one.name, "One region for each call, and one for the run that follows them all.")


def _overview() -> str:
    rows = [
        (chart(one.name, ".."), text(about(one)), str(len(one.leaves)), str(len(one.arrows)))
        for one in ordered()
    ]
    return f"""# The charts

A chart is a page of states and arrows. Every arrow stands under a clause, which is the sentence that allows
it; every state names the clause that refuses all else. Guards are names of facts. There is no code in a
chart, which is why it can be drawn, compiled, exported, played and checked against the tables of the
sources arrow by arrow.

{table(("chart", "what it is the life of", "states", "arrows"), rows)}
`runlock draw` writes each as text, and this site has those files too. They can be [played](../play.md).

In a picture, an arrow bears its **event**, a guard in brackets, the clause, which is a link, and the phrase
that says when it is taken. A double rim is an end; a yellow cylinder is a checkpoint: it is entered when
something has become durable.
"""


def _page(one: Picture) -> str:
    kept = " · ".join(
        f"[{name}]({one.name}.{ending})"
        for name, ending in (
            ("SVG", "svg"),
            ("DOT", "dot"),
            ("Mermaid", "mmd"),
            ("SCXML", "scxml"),
            ("JSON", "json"),
        )
    )
    return f"""{WIDE}# {one.name}

{about(one)} As files: {kept}.{_play(one)}

{picture(_drawn(one))}
## Arrows

{_arrows(one)}
{_closings(one)}"""


def _play(one: Picture) -> str:
    """The link to the page that plays it; a chart with regions is played as a run with its calls."""
    what = "calls=2" if one.name == DERIVED else f"chart={one.name}"
    return f" {played(what, '..', 'Play it.')}"


def _arrows(one: Picture) -> str:
    rows = [
        (
            clause(arrow.clause),
            text(arrow.source),
            f"**{text(arrow.event)}**" if arrow.event else "",
            text(arrow.target),
            text(_when(arrow.guards, arrow.phrase)),
        )
        for arrow in one.arrows
    ]
    return table(("clause", "from", "on", "to", "when"), rows)


def _when(guards: tuple[str, ...], phrase: str) -> str:
    short = " and ".join(guards)
    return f"if {short}: {phrase}" if short and len(short) < 40 else phrase


def _closings(one: Picture) -> str:
    closed: dict[str, list[str]] = {}
    for place in one.leaves:
        if place.closed:
            closed.setdefault(place.closed, []).append(place.name)
    rows = [
        (clause(name), ", ".join(states), text(load_spec(DEFAULT).clauses[name].sentence))
        for name, states in closed.items()
    ]
    if not rows:
        return ""
    return f"## Everything else is refused\n\n{table(('clause', 'in', 'which says'), rows)}"
