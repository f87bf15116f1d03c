"""A chart as DOT: states as boxes, composite states as frames, one line between any two states.

The arrows between the same two states share a line, with a row for each next to it: the event in bold, its
guard in brackets, and its clause in small, as a link to the text of the clause with a tooltip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from textwrap import wrap
from typing import Final

from graphviz import Digraph

from runlock.conformance.family.family import DEFAULT
from runlock.diagrams.charts.picture import (
    Arrow,
    Picture,
    Place,
    sentence,
)
from runlock.diagrams.render.elk_layout import BEGIN, NOWHERE, Placement
from runlock.diagrams.render.palette import FONT, LIGHT, STATUS_LOOKS

WIDE_MAX: Final = 8
"""A chart with more states than this is a flow, and is drawn from top to bottom."""

PHRASE_WIDTH: Final = 20
GUARD_MAX: Final = 30
"""A longer condition is replaced by its phrase."""

Counts = Mapping[str, int]
"""How often each arrow was taken, by its clause."""


@dataclass(frozen=True, slots=True)
class DotOptions:
    """Options of a drawing: the links of its clauses, the coverage if any, and where its parts are."""

    link: Callable[[str], str]
    counts: Counts | None = None
    family: str = DEFAULT
    placement: Placement = NOWHERE


def page_of(clause: str, root: str = "..") -> str:
    """The URL of a clause on the site, from a page one folder below its root."""
    area = clause.rpartition("-")[0].lower()
    return f"{root}/clauses/{area}.html#{clause.lower()}"


PLAIN: Final = DotOptions(page_of)


def dot(picture: Picture, options: DotOptions = PLAIN) -> str:
    """The DOT source of a chart."""
    options = replace(options, family=picture.family)
    attributes = {**_graph(picture), **options.placement.graph()}
    graph = Digraph(picture.name, graph_attr=attributes, node_attr=_NODE, edge_attr=_EDGE)
    for place in picture.places:
        _place(graph, picture.name, place, options)
    for arrows in _lines(picture):
        _line(graph, picture.name, arrows, options)
    return str(graph.source)


def _graph(picture: Picture) -> dict[str, str]:
    is_flow = len(picture.leaves) > WIDE_MAX
    return {
        "rankdir": "TB" if is_flow else "LR",
        "bgcolor": "transparent",
        "compound": "true",
        "fontname": FONT,
        "fontsize": "12",
        "fontcolor": LIGHT["quiet"],
        "nodesep": "0.3" if is_flow else "0.35",
        "ranksep": "0.35" if is_flow else "0.5",
        "pad": "0.15",
        "tooltip": picture.name,
    }


_NODE: Final = {
    "shape": "box",
    "style": "rounded,filled",
    "fontname": FONT,
    "fontsize": "13",
    "fontcolor": LIGHT["ink"],
    "color": LIGHT["edge"],
    "fillcolor": LIGHT["state"],
    "penwidth": "1.3",
    "margin": "0.16,0.08",
}
_EDGE: Final = {
    "fontname": FONT,
    "fontsize": "10",
    "fontcolor": LIGHT["ink"],
    "color": LIGHT["line"],
    "arrowsize": "0.75",
    "penwidth": "1.2",
}


# --- states -------------------------------------------------------------------------------------


def _place(graph: Digraph, name: str, place: Place, options: DotOptions) -> None:
    if place.inside:
        _frame(graph, name, place, options)
        return
    known = {"label": place.name, "id": f"{name}-{place.id}"}
    where = options.placement
    graph.node(place.id, **known, **_looks(place), **_closing(place, options), **where.node(place.id))
    if place.is_initial:
        begin = f"{BEGIN}{place.id}"
        dot_only = {"shape": "point", "width": "0.11", "color": LIGHT["quiet"], "fillcolor": LIGHT["quiet"]}
        tip = {"tooltip": f"it begins in {place.name}"}
        graph.node(begin, label="", **tip, **dot_only, **where.node(begin))
        graph.edge(begin, place.id, weight="10", **tip, **where.line(begin, place.id))


def _looks(place: Place) -> dict[str, str]:
    fill, border = STATUS_LOOKS.get(place.name, ("state", "edge"))
    looks = {"class": "state", "fillcolor": LIGHT[fill], "color": LIGHT[border]}
    if place.is_checkpoint:
        looks |= {"shape": "cylinder", "style": "filled", "class": "state checkpoint"}
    if place.is_final:
        looks |= {"peripheries": "2", "class": f"{looks['class']} final"}
    return looks


def _closing(place: Place, options: DotOptions) -> dict[str, str]:
    what = f"{place.name}, a checkpoint" if place.is_checkpoint else place.name
    if not place.closed:
        return {"tooltip": what}
    return {
        "URL": options.link(place.closed),
        "tooltip": f"{what}. What may leave it: {sentence(options.family, place.closed)}",
    }


def _frame(graph: Digraph, name: str, place: Place, options: DotOptions) -> None:
    with graph.subgraph(name=f"cluster_{place.id}") as frame:
        assert frame is not None  # as the library's context manager does
        looks = {"style": "rounded,filled", "color": LIGHT["rule"], "fillcolor": LIGHT["region"]}
        if place.is_parallel:
            looks["style"] = "rounded,dashed"
        looks |= options.placement.frame(place.id)
        frame.attr(label=place.name, id=f"{name}-{place.id}", labeljust="l", tooltip=place.name, **looks)
        for inner in place.inside:
            _place(frame, name, inner, options)


# --- arrows -------------------------------------------------------------------------------------


def _lines(picture: Picture) -> list[list[Arrow]]:
    """The arrows between any two states, in the order of the page."""
    between: dict[tuple[str, str], list[Arrow]] = {}
    for arrow in picture.arrows:
        between.setdefault((arrow.source, arrow.target), []).append(arrow)
    return list(between.values())


def _line(graph: Digraph, name: str, arrows: Sequence[Arrow], options: DotOptions) -> None:
    source, target = arrows[0].source, arrows[0].target
    taken = sum((options.counts or {}).get(arrow.clause, 0) for arrow in arrows)
    tip = f"{source} to {target}"
    looks: dict[str, str] = {}
    if options.counts is not None:
        looks = {"color": LIGHT["well"] if taken else LIGHT["ill"], "style": "solid" if taken else "dashed"}
    graph.edge(
        source, target, label=_rows(arrows, options), id=f"{name}-{source}-{target}", tooltip=tip, **looks,
        **{"class": "line"}, **options.placement.line(source, target),
    )  # fmt: skip


def _rows(arrows: Sequence[Arrow], options: DotOptions) -> str:
    rows = "".join(_row(arrow, options) for arrow in arrows)
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2">{rows}</TABLE>>'


def _row(arrow: Arrow, options: DotOptions) -> str:
    """The event and its clause, with the guard and the phrase below them."""
    title = escape(sentence(options.family, arrow.clause))
    link = f'HREF="{escape(options.link(arrow.clause))}" TITLE="{title}"'
    clause = f'<FONT POINT-SIZE="8" COLOR="{LIGHT["link"]}">{arrow.clause}</FONT>'
    guard = f'<BR ALIGN="LEFT"/>{_guard(arrow)}' if _guard(arrow) else ""
    first = " ".join(part for part in (_event(arrow), clause, _count(arrow, options)) if part) + guard
    phrase = '<BR ALIGN="LEFT"/>'.join(map(escape, _balanced(arrow.phrase)))
    small = f'<FONT POINT-SIZE="8.5" COLOR="{LIGHT["quiet"]}">{phrase}</FONT>'
    return (
        f'<TR><TD ALIGN="LEFT" BALIGN="LEFT" {link}>{first}<BR ALIGN="LEFT"/>{small}'
        f'<BR ALIGN="LEFT"/></TD></TR>'
    )


def _balanced(phrase: str) -> list[str]:
    """A phrase on as few lines as possible, of similar lengths."""
    fewest = len(_wrapped(phrase, PHRASE_WIDTH))
    return next(lines for width in range(6, 99) if len(lines := _wrapped(phrase, width)) <= fewest)


def _wrapped(phrase: str, width: int) -> list[str]:
    """Lines of about this width, with no word broken inside."""
    return wrap(phrase, width, break_long_words=False, break_on_hyphens=False)


def _event(arrow: Arrow) -> str:
    return f"<B>{escape(arrow.event)}</B>" if arrow.event else ""


def _guard(arrow: Arrow) -> str:
    guard = " and ".join(arrow.guards)
    return f"[{escape(guard)}]" if guard and len(guard) <= GUARD_MAX else ""


def _count(arrow: Arrow, options: DotOptions) -> str:
    if options.counts is None:
        return ""
    taken = options.counts.get(arrow.clause)
    if taken is None:
        return f'<FONT POINT-SIZE="8" COLOR="{LIGHT["quiet"]}">not seen from outside</FONT>'
    colour = LIGHT["well"] if taken else LIGHT["ill"]
    often = {0: "never", 1: "once"}.get(taken, f"{taken} times")
    return f'<FONT POINT-SIZE="9" COLOR="{colour}"><B>{often}</B></FONT>'
