"""Lays DOT out as SVG or PNG, with graphviz-pure, which pip installs and which is deterministic, or with dot.

The output of Graphviz is adjusted for a page: tooltips that every browser shows, text above the lines that
cross it, and the class that a style sheet uses for dark mode.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any, Final, Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import graphviz
from graphviz.backend import dot_command

from runlock.conformance.errors import UsageError
from runlock.diagrams.render.palette import LIGHT
from runlock.diagrams.render.svg import Drawing, element

Form = Literal["svg", "png", "json"]

PURE: Final = "graphviz-pure"
SVG: Final = "{http://www.w3.org/2000/svg}"
XLINK: Final = "{http://www.w3.org/1999/xlink}"
PIXELS_PER_POINT: Final = 4 / 3
HALO: Final = {
    "stroke": LIGHT["paper"],
    "stroke-width": "2",
    "stroke-linejoin": "round",
    "paint-order": "stroke",
}


def program() -> Path:
    """The layout program: preferably the one in this Python environment."""
    companions = str(Path(sys.executable).parent)
    found = shutil.which(PURE, path=companions) or shutil.which(PURE) or shutil.which("dot")
    if found is None:
        raise UsageError(
            "There is nothing here that lays pictures out, neither graphviz-pure nor dot.",
            "`pip install -e '.[diagrams]'` in the folder of the kit's source brings the first; dot, "
            "mermaid, scxml and json need none.",
        )
    return Path(found)


def _laid_out(source: str, form: Form, *, is_placed: bool = False) -> bytes:
    """What Graphviz writes; it places the parts itself, or only paints what `pos` attributes have placed."""
    known = dot_command.DOT_BINARY
    dot_command.DOT_BINARY = program()
    how: dict[str, Any] = {"engine": "neato", "neato_no_op": 2} if is_placed else {}
    try:
        return bytes(graphviz.Source(source).pipe(format=form, **how))
    finally:
        dot_command.DOT_BINARY = known


def measured(source: str) -> dict[str, Any]:
    """The parts of a picture with their sizes, as Graphviz writes them in JSON."""
    return dict(json.loads(_laid_out(source, "json")))


def png(source: str, *, is_placed: bool = False) -> bytes:
    """A picture in light colours, with doubled resolution."""
    on_paper = source.replace("bgcolor=transparent", "bgcolor=white dpi=144", 1)
    return _laid_out(on_paper, "png", is_placed=is_placed)


def svg(source: str, label: str, *, is_placed: bool = False) -> Drawing:
    """A picture as SVG; with `is_placed`, its source says where everything is."""
    root = ElementTree.fromstring(_laid_out(source, "svg", is_placed=is_placed))
    graph = root.find(f"{SVG}g")
    assert graph is not None  # the raw output of Graphviz
    for part in root.iter():
        part.tag = part.tag.removeprefix(SVG)
    del graph.attrib["id"]
    _tidy(graph)
    _raise_words(graph)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (left, top) == (0, 0)
    return Drawing(width, height, label, [graph], PIXELS_PER_POINT)


def _tidy(graph: Element) -> None:
    """Remove the tooltips of lines and states; keep those of links and frames."""
    for part in list(graph.iter()):
        if part.tag == "g":
            for title in part.findall("title"):
                part.remove(title)
            if part.attrib.get("id", "").startswith("a_"):
                del part.attrib["id"]
        if part.tag == "a":
            _link(part)


def _link(part: Element) -> None:
    tip, where = part.attrib.get(f"{XLINK}title", ""), part.attrib.get(f"{XLINK}href")
    part.attrib.clear()
    part.tag = "a" if where else "g"
    if where:
        part.set("href", where)
    part.insert(0, element("title", tip))


def _raise_words(graph: Element) -> None:
    """Draw the text next to lines above all lines, with an outline that separates them; it names its line."""
    words = element("g", **{"class": "words"})
    for line in (part for part in graph if "line" in part.attrib.get("class", "").split()):
        for found in [part for part in line if _has_words(part)]:
            line.remove(found)
            found.set("data-line", line.attrib["id"])
            words.append(found)
    for text in words.iter("text"):
        text.attrib.update(HALO)
    graph.append(words)


def _has_words(part: Element) -> bool:
    return next(part.iter("text"), None) is not None
