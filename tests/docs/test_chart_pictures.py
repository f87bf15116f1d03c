"""Charts as a reader sees them: whole, with labels that can be read, and no line through a label."""

import pytest

from runlock.diagrams.render import elk_layout

pytestmark = [pytest.mark.browser, pytest.mark.long]

CHARTS = (
    "charts/ToolCall",
    "charts/RunFlow",
    "charts/DerivedRun",
    "explored",
    "families/tool-runner/charts/index",
    "families/message-loop/charts/Pass",
    "families/message-loop/charts/Authority",
)
LEAST_PIXELS = 10

# For each label, its font size in pixels and the other lines that pass through it.
LABELS = """
const labelled = (svg) => {
const lines = [...svg.querySelectorAll(".line path")];
const points = (path) => {
  const matrix = path.getScreenCTM(), length = path.getTotalLength();
  const at = (_, length) => path.getPointAtLength(length).matrixTransform(matrix);
  return Array.from({ length: Math.ceil(length) }, at);
};
const drawn = lines.map((path) => [path.closest(".line").id, points(path)]);
return [...svg.querySelectorAll(".words > *")].map((label) => {
  const texts = label.matches("text") ? [label] : [...label.querySelectorAll("text")];
  const boxes = texts.map((text) => text.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left)), right = Math.max(...boxes.map((box) => box.right));
  const top = Math.min(...boxes.map((box) => box.top)), bottom = Math.max(...boxes.map((box) => box.bottom));
  const within = ({ x, y }) => x > left + 1 && x < right - 1 && y > top + 2 && y < bottom - 2;
  const scale = svg.getScreenCTM().a;
  const size = Math.min(...texts.map((text) => parseFloat(text.getAttribute("font-size")) * scale));
  const crossing = drawn.filter(([id, line]) => id !== label.dataset.line && line.filter(within).length > 2);
  return [label.dataset.line, size, crossing.map(([id]) => id)];
});
};
return [...document.querySelectorAll(".graph svg")].flatMap(labelled);
"""

CUT_OFF = """
return [...document.querySelectorAll(".graph")].filter((one) => one.scrollWidth > one.clientWidth).length;
"""

# The edges of the first point of a chart and of its frame.
BEGIN = """
const frame = document.querySelector(".graph");
const parts = [frame.querySelector(".node:not(.state)"), frame];
const [at, edge] = parts.map((one) => one.getBoundingClientRect());
const isAcross = at.left >= edge.left && at.right <= edge.right;
const isWithin = isAcross && at.top >= edge.top && at.bottom <= edge.bottom;
return [isWithin, frame.scrollWidth > frame.clientWidth];
"""
PRESS = """
[...document.querySelectorAll(".zoom button")].find((one) => one.textContent === arguments[0]).click();
"""


@pytest.mark.skipif(not elk_layout.is_available(), reason="without elkjs, Graphviz places the charts")
@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_seen_whole(browser, address, chart):
    """Nothing is cut off; each label is large enough to read, and crossed by no line but perhaps its own."""
    browser.size(1440, 900)
    browser.open(f"{address}/{chart}.html")
    browser.until("return !document.querySelector('.later')")
    labels = browser.run(LABELS)

    assert labels
    assert [line for line, size, _ in labels if size < LEAST_PIXELS] == []
    assert [(line, crossing) for line, _, crossing in labels if crossing] == []
    assert browser.run(CUT_OFF) == 0


def test_a_chart_on_a_phone(browser, address):
    """It opens where it begins; Fit shows all of it, and Reset leads back to where it begins."""
    browser.size(390, 844)
    browser.open(f"{address}/charts/RunFlow.html")
    begins, is_wider = [True, True], [True, False]
    assert browser.run(BEGIN) == begins

    browser.run("document.querySelector('.graph').scrollTo(9999, 9999)")
    browser.run(PRESS, "Fit")
    assert browser.run(BEGIN) == is_wider

    browser.run(PRESS, "Reset")
    assert browser.run(BEGIN) == begins
