"""A page for each chart: its picture, its table, its clauses, and its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import getdoc

from runlock.conformance.family.family import DEFAULT, families
from runlock.diagrams.charts.drawn import drawn
from runlock.diagrams.charts.formats import FORMS
from runlock.diagrams.charts.picture import Picture, pictures
from runlock.diagrams.lifecycle.regions import DERIVED
from runlock.diagrams.render.svg import NAMESPACE, Drawing
from runlock.machines.catalogue import every_chart
from runlock.spec.model import load_spec

from .markdown import WIDE, chart, clause, fold, folder_of, in_family, picture, played, script_of, table, text

LEADING = {
    "Run": "RunStatus",
    "ToolCall": "ToolCallStatus",
    "ResumeToolCall": "RESUME_TOOL_CALL",
    "ToolCallPhases": "TOOL_CALL",
}
"""The charts to start with, and their names in the sources."""

ORDER = (*LEADING, "DerivedRun", "RunFlow")
"""The charts to start with; the others follow by name."""


def pages() -> Iterator[tuple[str, str]]:
    """For each family the overview, and one page for each chart."""
    for family in families():
        folder = f"{folder_of(family.name)}charts"
        yield f"{folder}/index.md", _overview(family.name)
        for one in ordered(family.name):
            yield f"{folder}/{one.name}.md", _page(one)


def files() -> Iterator[tuple[str, str]]:
    """The files of pictures and texts."""
    for one in (each for family in families() for each in ordered(family.name)):
        folder = f"{folder_of(one.family)}charts"
        for form in FORMS.values():
            if form.is_text:
                yield f"{folder}/{one.name}.{form.ending}", form.make(one).decode()
        drawing = _drawn(one)
        named = f'xmlns="{NAMESPACE}" '
        inner = drawing.text(is_alone=False).replace("<svg ", f"<svg {named}", 1)
        yield f"{folder}/{one.name}.svg", drawing.text()
        name = f"{folder_of(one.family)}{one.name}"
        yield f"assets/pictures/{name}.js", script_of("PICTURES", name, inner)


def ordered(family: str = DEFAULT) -> list[Picture]:
    """Every chart of a family, those of `ORDER` first."""
    first = [name for name in ORDER if name in pictures(family)]
    return [pictures(family)[name] for name in dict.fromkeys((*first, *pictures(family)))]


def _drawn(one: Picture) -> Drawing:
    return drawn(one, f"The chart {one.name}")


def about(one: Picture) -> str:
    """The docstring of the chart."""
    docs = {chart.__name__: getdoc(chart) or "" for chart in every_chart(one.family)}
    return docs.get(one.name, "The status of a run next to those of its calls, from which it follows.")


def _overview(family: str) -> str:
    rows = [
        (chart(one.name, ".."), text(about(one)), str(len(one.leaves)), str(len(one.arrows)))
        for one in ordered(family)
    ]
    root = "../" * (folder_of(family).count("/") + 1)
    named = ("chart", "what it describes", "states", "transitions")
    leading = [name for name in LEADING if name in pictures(family)]
    cards = _cards(family, leading) if leading else ""
    others = table(named, rows[len(leading) :])
    return f"""# {in_family("State charts", family)}

A state chart has states and transitions. Each transition names the clause that allows it, and each state
names the clause that refuses every other event. A guard is the name of a fact. A chart contains no code, so
it can be drawn, exported, executed, and compared with the tables of the sources transition by transition.

{cards}{fold(f"{len(rows) - len(leading)} more charts", others) if leading else others}
`runlock draw` writes each chart as text and as a picture, and this site has those files too.
The [playground]({root}play.md) steps through them.

In a picture, a transition has its **event**, its guard in brackets, its clause as a link, and the condition
in words. A double border marks a final state. A cylinder marks a checkpoint: it is entered when
something has become durable. A good end is green, a bad one red, a wait yellow.

Drag a picture to move it. The buttons above it, or Ctrl and the mouse wheel, change its size.
"""


def _cards(family: str, names: Iterable[str]) -> str:
    """A thumbnail of each of these charts, under its own name and that of the sources."""
    lines = (
        f"- **{chart(name, '..')}**, `{LEADING[name]}` in the sources\n\n"
        f"    [![The chart {name}]({name}.svg){{ .thumbnail }}]({name}.md)\n\n"
        f"    {text(about(pictures(family)[name]))}\n"
        for name in names
    )
    return '<div class="grid cards" markdown>\n\n' + "\n".join(lines) + "\n</div>\n\n"


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
    return f"""{WIDE}# {in_family(one.name, one.family)}

{about(one)} As files: {kept}.{_play(one)}

{picture(_drawn(one), is_graph=True)}
## Transitions

{_arrows(one)}
{_closings(one)}"""


def _play(one: Picture) -> str:
    """The link to the page that plays it; a chart with regions is played as a run with its calls."""
    if one.family != DEFAULT:
        return f" {played(f'family={one.family}&chart={one.name}', '../../..', 'Play&nbsp;it.')}"
    what = "calls=2" if one.name == DERIVED else f"chart={one.name}"
    return f" {played(what, '..', 'Play&nbsp;it.')}"


def _arrows(one: Picture) -> str:
    rows = [
        (
            clause(arrow.clause, family=one.family),
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
        (
            clause(name, family=one.family),
            ", ".join(states),
            text(load_spec(one.family).clauses[name].sentence),
        )
        for name, states in closed.items()
    ]
    if not rows:
        return ""
    return f"## Everything else is refused\n\n{table(('clause', 'in', 'which says'), rows)}"
