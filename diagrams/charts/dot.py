"""A chart as DOT: states as boxes, what holds states as a frame, one line between any two states.

The arrows between the same two states share a line, and each has a row beside it: the event in bold, its
guard in brackets, its clause in small, which leads to the words of the clause and shows them.
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
from runlock.diagrams.render.palette import FONT, LIGHT

WIDE_MAX: Final = 8
"""A chart of more states than this is a flow, and is drawn from top to bottom."""

PHRASE_WIDTH: Final = 26
GUARD_MAX: Final = 30
"""A longer condition is left to its phrase."""

Counts = Mapping[str, int]
"""How often each arrow was taken, by its clause."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How a chart is drawn: where its clauses stand, and what of it was taken, if that is to be seen."""

    link: Callable[[str], str]
    counts: Counts | None = None
    family: str = DEFAULT


def page_of(clause: str, root: str = "..") -> str:
    """Where a clause stands on the site, from a page one folder below its root."""
    area = clause.rpartition("-")[0].lower()
    return f"{root}/clauses/{area}.html#{clause.lower()}"


PLAIN: Final = Wish(page_of)


def dot(picture: Picture, wish: Wish = PLAIN) -> str:
    """The DOT source of a chart."""
    wish = replace(wish, family=picture.family)
    graph = Digraph(picture.name, graph_attr=_graph(picture), node_attr=_NODE, edge_attr=_EDGE)
    for place in picture.places:
        _place(graph, picture.name, place, wish)
    for arrows in _lines(picture):
        _line(graph, picture.name, arrows, wish)
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


def _place(graph: Digraph, name: str, place: Place, wish: Wish) -> None:
    if place.inside:
        _frame(graph, name, place, wish)
        return
    known = {"label": place.name, "id": f"{name}-{place.id}"}
    graph.node(place.id, **known, **_looks(place), **_closing(place, wish))
    if place.is_initial:
        begin = f"begin {place.id}"
        dot_only = {"shape": "point", "width": "0.11", "color": LIGHT["quiet"], "fillcolor": LIGHT["quiet"]}
        graph.node(begin, label="", tooltip=f"it begins in {place.name}", **dot_only)
        graph.edge(begin, place.id, tooltip=f"it begins in {place.name}", weight="10")


def _looks(place: Place) -> dict[str, str]:
    looks = {"class": "state"}
    if place.is_final:
        looks |= {"peripheries": "2", "class": "state final"}
    if place.is_checkpoint:
        looks |= {"fillcolor": LIGHT["mark"], "color": LIGHT["marked"], "class": "state checkpoint"}
        looks |= {} if place.is_final else {"shape": "cylinder", "style": "filled"}
    return looks


def _closing(place: Place, wish: Wish) -> dict[str, str]:
    what = f"{place.name}, a checkpoint" if place.is_checkpoint else place.name
    if not place.closed:
        return {"tooltip": what}
    return {
        "URL": wish.link(place.closed),
        "tooltip": f"{what}. What may leave it: {sentence(wish.family, place.closed)}",
    }


def _frame(graph: Digraph, name: str, place: Place, wish: Wish) -> None:
    with graph.subgraph(name=f"cluster_{place.id}") as frame:
        assert frame is not None  # as the library's context manager has it
        looks = {"style": "rounded,filled", "color": LIGHT["rule"], "fillcolor": LIGHT["region"]}
        if place.is_parallel:
            looks["style"] = "rounded,dashed"
        frame.attr(label=place.name, id=f"{name}-{place.id}", labeljust="l", tooltip=place.name, **looks)
        for inner in place.inside:
            _place(frame, name, inner, wish)


# --- arrows -------------------------------------------------------------------------------------


def _lines(picture: Picture) -> list[list[Arrow]]:
    """The arrows between any two states, in the order of the page."""
    between: dict[tuple[str, str], list[Arrow]] = {}
    for arrow in picture.arrows:
        between.setdefault((arrow.source, arrow.target), []).append(arrow)
    return list(between.values())


def _line(graph: Digraph, name: str, arrows: Sequence[Arrow], wish: Wish) -> None:
    source, target = arrows[0].source, arrows[0].target
    taken = sum((wish.counts or {}).get(arrow.clause, 0) for arrow in arrows)
    tip = f"{source} to {target}"
    looks: dict[str, str] = {}
    if wish.counts is not None:
        looks = {"color": LIGHT["well"] if taken else LIGHT["ill"], "style": "solid" if taken else "dashed"}
    graph.edge(
        source, target, label=_rows(arrows, wish), id=f"{name}-{source}-{target}", tooltip=tip, **looks,
        **{"class": "line"},
    )  # fmt: skip


def _rows(arrows: Sequence[Arrow], wish: Wish) -> str:
    rows = "".join(_row(arrow, wish) for arrow in arrows)
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3">{rows}</TABLE>>'


def _row(arrow: Arrow, wish: Wish) -> str:
    """The event and its guard, then the clause; the phrase below them."""
    link = f'HREF="{escape(wish.link(arrow.clause))}" TITLE="{escape(sentence(wish.family, arrow.clause))}"'
    clause = f'<FONT POINT-SIZE="8" COLOR="{LIGHT["link"]}">{arrow.clause}</FONT>'
    first = " ".join(part for part in (_event(arrow), _guard(arrow), clause, _count(arrow, wish)) if part)
    phrase = '<BR ALIGN="LEFT"/>'.join(map(escape, _balanced(arrow.phrase)))
    small = f'<FONT POINT-SIZE="8.5" COLOR="{LIGHT["quiet"]}">{phrase}</FONT>'
    return (
        f'<TR><TD ALIGN="LEFT" BALIGN="LEFT" {link}>{first}<BR ALIGN="LEFT"/>{small}'
        f'<BR ALIGN="LEFT"/></TD></TR>'
    )


def _balanced(phrase: str) -> list[str]:
    """A phrase on as few lines as it takes, about as long as each other."""
    fewest = len(wrap(phrase, PHRASE_WIDTH))
    return next(lines for width in range(6, 99) if len(lines := wrap(phrase, width)) <= fewest)


def _event(arrow: Arrow) -> str:
    return f"<B>{escape(arrow.event)}</B>" if arrow.event else ""


def _guard(arrow: Arrow) -> str:
    guard = " and ".join(arrow.guards)
    return f"[{escape(guard)}]" if guard and len(guard) <= GUARD_MAX else ""


def _count(arrow: Arrow, wish: Wish) -> str:
    if wish.counts is None:
        return ""
    taken = wish.counts.get(arrow.clause)
    if taken is None:
        return f'<FONT POINT-SIZE="8" COLOR="{LIGHT["quiet"]}">not seen from outside</FONT>'
    colour = LIGHT["well"] if taken else LIGHT["ill"]
    often = {0: "never", 1: "once"}.get(taken, f"{taken} times")
    return f'<FONT POINT-SIZE="9" COLOR="{colour}"><B>{often}</B></FONT>'
