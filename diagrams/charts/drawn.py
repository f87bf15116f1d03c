"""The picture of a chart: placed by ELK, as it is stored or as ELK places it now, else by Graphviz."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from runlock.diagrams.charts.dot import PLAIN, DotOptions, dot
from runlock.diagrams.charts.picture import Picture, pictures
from runlock.diagrams.charts.placed import placed
from runlock.diagrams.render import elk_layout, graphviz_layout
from runlock.diagrams.render.elk_layout import NOWHERE, Placement
from runlock.diagrams.render.svg import Drawing


def drawn(picture: Picture, label: str, options: DotOptions = PLAIN) -> Drawing:
    """A chart as SVG; links do not change its size."""
    placement = _placement(picture)
    source = dot(picture, replace(options, placement=placement))
    return graphviz_layout.svg(source, label, is_placed=placement is not NOWHERE)


def png(picture: Picture) -> bytes:
    """A chart as PNG."""
    placement = _placement(picture)
    source = dot(picture, replace(PLAIN, placement=placement))
    return graphviz_layout.png(source, is_placed=placement is not NOWHERE)


def _placement(picture: Picture) -> Placement:
    return placed(picture) or _placements(picture.family).get(picture.name, NOWHERE)


@cache
def _placements(family: str) -> Mapping[str, Placement]:
    """Where ELK puts the parts of each chart of a family; empty without ELK."""
    if not elk_layout.is_available():
        return {}
    found = pictures(family)
    measured = [graphviz_layout.measured(dot(one)) for one in found.values()]
    return dict(zip(found, elk_layout.placements(measured), strict=True))
