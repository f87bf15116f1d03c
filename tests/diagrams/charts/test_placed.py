"""The command line draws charts as the site does: where their parts are is stored with each chart."""

import re

import pytest

from runlock.conformance.family.family import family_names
from runlock.diagrams.charts import placed
from runlock.diagrams.charts.drawn import drawn
from runlock.diagrams.charts.formats import FORMS
from runlock.diagrams.charts.picture import pictures
from runlock.diagrams.render import elk_layout

OWN = ("lifecycle", "tool-runner", "message-loop")
CHARTS = [one for family in OWN for one in pictures(family).values()]


def test_every_chart_is_placed_as_it_is_now(rewrites):
    """A chart that has changed is placed again by `--rewrite`, where elkjs is installed."""
    assert set(OWN) <= set(family_names())
    if rewrites and elk_layout.is_available():
        placed.write(CHARTS)

    assert [placed.key(one) for one in CHARTS if placed.placed(one) is None] == []


def test_a_placement_of_another_text_is_not_used(monkeypatch):
    """The parts of a chart that has changed are not where those of the old one were."""
    monkeypatch.setattr(placed, "digest", lambda picture: "another")

    assert placed.placed(CHARTS[0]) is None


def test_a_placement_is_read_as_it_was_written(tmp_path, monkeypatch):
    """Nodes, frames and lines, each at its place."""
    where = elk_layout.Placement(
        10.0, 20.0, {"A": "1.0,2.0"}, {"F": (0.0, 1.0, 2.0, 3.0)}, {("A", "B"): {"pos": "e,1.0,2.0"}}
    )
    monkeypatch.setattr(placed, "FILE", tmp_path / "placed.json")
    monkeypatch.setattr(placed.graphviz_layout, "measured", lambda source: {})
    monkeypatch.setattr(placed.elk_layout, "placements", lambda measured: [where])
    placed.write(CHARTS[:1])
    found = placed.placed(CHARTS[0])
    placed._stored.cache_clear()

    assert found == where


@pytest.mark.long
def test_the_command_line_draws_what_the_site_draws():
    """The same picture as that of the page, at the stored places and without Node.js."""
    chart = pictures("lifecycle")["ToolCall"]
    made = FORMS["svg"].make(chart).decode()

    assert made == drawn(chart, "ToolCall").text()
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', made).groups())
    where = placed.placed(chart)
    assert (width, height) == pytest.approx((where.width, where.height), abs=12)
