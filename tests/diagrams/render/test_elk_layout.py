"""Positions that ELK gives become attributes that Graphviz paints, from below, with room for arrowheads."""

import json
import re

import pytest

from runlock.diagrams.charts import drawn as drawing
from runlock.diagrams.charts.dot import dot
from runlock.diagrams.charts.picture import pictures
from runlock.diagrams.render import elk_layout, graphviz_layout

MEASURED = {
    "rankdir": "LR",
    "objects": [
        {"_gvid": 0, "name": "cluster_lamp", "nodes": [1, 2]},
        {"_gvid": 1, "name": "Dark", "width": "1", "height": "0.5"},
        {"_gvid": 2, "name": "Lit", "width": "1", "height": "0.5", "peripheries": "2"},
    ],
    "edges": [
        {
            "_gvid": 0, "tail": 1, "head": 2, "lp": "50,50",
            "_ldraw_": [
                {"op": "F", "size": 10},
                {"op": "T", "pt": [40, 50], "align": "l", "width": 20, "text": "match"},
            ],
        }
    ],
}  # fmt: skip
"""Two states in a frame and the line between them, as Graphviz measures them."""

PLACED = {
    "id": "root", "width": 300, "height": 100,
    "children": [
        {
            "id": "0", "x": 10, "y": 20, "width": 280, "height": 70,
            "children": [
                {"id": "1", "x": 10, "y": 30, "width": 72, "height": 36},
                {"id": "2", "x": 190, "y": 30, "width": 80, "height": 44},
            ],
        }
    ],
    "edges": [
        {
            "id": "0", "sources": ["1"], "targets": ["2"], "container": "0",
            "sections": [{"startPoint": {"x": 82, "y": 48}, "endPoint": {"x": 190, "y": 48}}],
            "labels": [{"x": 100, "y": 50, "width": 26, "height": 20}],
        }
    ],
}  # fmt: skip
"""Where ELK puts them, from above, each within what is around it."""


@pytest.fixture
def asked(monkeypatch):
    """The graphs that ELK was asked to place; it answers with `PLACED`."""
    graphs = []

    def node(words, *, input, **_):
        graphs.extend(json.loads(input))
        return type("Answer", (), {"stdout": json.dumps([PLACED for _ in graphs])})

    monkeypatch.setattr(elk_layout.subprocess, "run", node)
    return graphs


def test_elk_is_asked_with_the_sizes_that_graphviz_measured(asked):
    """Inches become points, a second border adds to a state, and a label has the size of its text."""
    elk_layout.placements([MEASURED])
    graph, turned = asked
    [frame] = graph["children"]

    assert [one["layoutOptions"]["elk.direction"] for one in (graph, turned)] == ["RIGHT", "DOWN"]
    assert [(one["width"], one["height"]) for one in frame["children"]] == [(72, 36), (80, 44)]
    [label] = graph["edges"][0]["labels"]
    assert (label["width"], label["height"]) == (26, 24)


def test_positions_are_counted_from_below(asked):
    """Graphviz counts from the lower left corner of the whole; ELK from the upper left of what is around."""
    [placement] = elk_layout.placements([MEASURED])

    assert placement.graph() == {"bb": "0,0,300.0,100.0"}
    assert placement.node("Dark") == {"pos": "56.0,32.0"}
    assert placement.node("Lamp") == {}
    assert placement.frame("lamp")["bb"] == "10.0,10.0,290.0,80.0"


@pytest.mark.parametrize(
    ("widths", "taken"), [((600, 300), 600), ((900, 500), 500), ((900, 850, 800, 820), 800)]
)  # fmt: skip
def test_the_first_that_fits_a_page_is_taken(widths, taken):
    """One that fits the page keeps its direction; of those that are all too wide the narrowest is taken."""
    assert elk_layout._best([{"width": width} for width in widths])["width"] == taken


def test_a_chart_that_stays_too_wide_is_laid_out_in_more_ways(asked, monkeypatch):
    """Neither direction is as narrow as a page, so all other ways are tried."""
    monkeypatch.setattr(elk_layout, "PAGE", 100)
    elk_layout.placements([MEASURED])

    assert len(asked) == 2 + len(elk_layout.FURTHER)


def test_what_elk_cannot_lay_out_is_left_out(monkeypatch):
    """One way that fails leaves the others."""
    answer = type("Answer", (), {"stdout": json.dumps([None, PLACED])})
    monkeypatch.setattr(elk_layout.subprocess, "run", lambda *_, **__: answer)

    assert elk_layout.placements([MEASURED])[0].width == 300


def test_a_chart_begins_at_its_edge(asked):
    """The point at which it begins is in the first layer, next to the initial state."""
    begin = {"_gvid": 3, "name": "begin Dark", "width": "0.1", "height": "0.1"}
    elk_layout.placements([{**MEASURED, "objects": [*MEASURED["objects"], begin]}])
    *_, point = asked[0]["children"]

    assert point["layoutOptions"] == {"elk.layered.layering.layerConstraint": "FIRST"}


def test_a_line_ends_where_its_arrowhead_begins(asked):
    """The point of the arrow is the end that ELK gave; the line stops before it."""
    [placement] = elk_layout.placements([MEASURED])

    assert placement.line("Dark", "Lit") == {
        "pos": "e,200.0,32.0 92.0,32.0 125.5,32.0 159.0,32.0 192.5,32.0",
        "lp": "123.0,20.0",
    }
    assert placement.line("Lit", "Dark") == {}


def test_a_placed_chart_is_painted_as_it_was_placed():
    """Graphviz keeps the distances of a chart that has positions."""
    source = 'digraph { pad=0 bb="0,0,300,100" Dark [pos="56,32"] Lit [pos="240,32"] }'
    picture = graphviz_layout.svg(source, "Lamp", is_placed=True).text()

    dark, lit = map(float, re.findall(r'cx="([\d.]+)"', picture))

    assert lit - dark == 240 - 56


def test_without_elk_graphviz_places_the_chart(monkeypatch):
    """A machine without Node.js draws a chart that has changed, placed otherwise."""
    monkeypatch.setattr(elk_layout, "is_available", lambda: False)
    monkeypatch.setattr(drawing, "placed", lambda picture: None)
    drawing._placements.cache_clear()
    chart = pictures()["Barrier"]

    try:
        assert drawing.drawn(chart, "Barrier").text() == graphviz_layout.svg(dot(chart), "Barrier").text()
    finally:
        drawing._placements.cache_clear()


@pytest.mark.long
@pytest.mark.skipif(not elk_layout.is_available(), reason="elkjs is not installed")
def test_elk_places_every_part_of_every_chart():
    """No state, line or frame of a chart is left to Graphviz."""
    charts = {name: graphviz_layout.measured(dot(chart)) for name, chart in pictures().items()}
    placements = elk_layout.placements([*charts.values()])
    for (name, measured), placement in zip(charts.items(), placements, strict=True):
        frames = [one for one in measured["objects"] if one["name"].startswith("cluster_")]

        assert (name, len(placement.nodes)) == (name, len(measured["objects"]) - len(frames))
        assert (name, len(placement.lines)) == (name, len(measured["edges"]))
        assert (name, len(placement.frames)) == (name, len(frames))
