"""Charts as a reader sees them: labels that can be read, and no line through a label."""

import pytest

from runlock.diagrams.render import elk_layout

pytestmark = [pytest.mark.browser, pytest.mark.long]

CHARTS = (
    "charts/ToolCall",
    "charts/RunFlow",
    "charts/DerivedRun",
    "families/tool-runner/charts/RunnerIteration",
    "families/message-loop/charts/Pass",
)
LEAST_PIXELS = 10

# For each label, its font size in pixels and the other lines that pass through it.
LABELS = """
const svg = document.querySelector(".picture svg");
const lines = [...svg.querySelectorAll(".line path")];
const points = (path) => {
  const matrix = path.getScreenCTM(), length = path.getTotalLength();
  const at = (_, length) => path.getPointAtLength(length).matrixTransform(matrix);
  return Array.from({ length: Math.ceil(length) }, at);
};
const drawn = lines.map((path) => [path.closest(".line").id, points(path)]);
return [...svg.querySelectorAll(".words > *")].map((label) => {
  const texts = [...label.querySelectorAll("text")];
  const boxes = texts.map((text) => text.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left)), right = Math.max(...boxes.map((box) => box.right));
  const top = Math.min(...boxes.map((box) => box.top)), bottom = Math.max(...boxes.map((box) => box.bottom));
  const within = ({ x, y }) => x > left + 1 && x < right - 1 && y > top + 2 && y < bottom - 2;
  const scale = svg.getScreenCTM().a;
  const size = Math.min(...texts.map((text) => parseFloat(text.getAttribute("font-size")) * scale));
  const crossing = drawn.filter(([id, line]) => id !== label.dataset.line && line.filter(within).length > 2);
  return [label.dataset.line, size, crossing.map(([id]) => id)];
});
"""


@pytest.mark.skipif(not elk_layout.is_available(), reason="without elkjs, Graphviz places the charts")
@pytest.mark.parametrize("chart", CHARTS)
def test_no_line_passes_through_a_label(browser, address, chart):
    """Each label is large enough to read, and crossed by no line but perhaps its own."""
    browser.size(1440, 900)
    browser.open(f"{address}/{chart}.html")
    labels = browser.run(LABELS)

    assert labels
    assert [line for line, size, _ in labels if size < LEAST_PIXELS] == []
    assert [(line, crossing) for line, _, crossing in labels if crossing] == []
