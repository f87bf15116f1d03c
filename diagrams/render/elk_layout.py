"""Places the states, lines and labels of charts with ELK, whose lines never pass through a label.

Graphviz measures the parts of a chart and paints them; ELK says where they go.  It is a package for Node.js
(`npm install elkjs` in the current folder); without it, Graphviz places them too.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final

Object = Mapping[str, Any]
Options = Mapping[str, str]
Point = tuple[float, float]

SCRIPT: Final = Path(__file__).with_name("elk.cjs")
PACKAGE: Final = Path("node_modules") / "elkjs"
POINTS_PER_INCH: Final = 72
PERIPHERY: Final = 8.0
"""How much a second border adds to a state, in points."""

ARROW: Final = 7.5
"""The length of an arrowhead, in points."""

PAGE: Final = 748.0
"""The width of a page, in points: wider charts are scaled down, or need a wider window."""

BEGIN: Final = "begin "
"""The prefix of the names of the points at which a chart begins; they are in the first layer."""

FRAME_TITLE: Final = 28.0
LAYERED: Final = "elk.layered."
FIRST: Final = f"{LAYERED}layering.layerConstraint"
OPTIONS: Final = {
    "elk.algorithm": "layered",
    "elk.edgeRouting": "ORTHOGONAL",
    "elk.hierarchyHandling": "INCLUDE_CHILDREN",
    "elk.edgeLabels.placement": "CENTER",
    f"{LAYERED}edgeLabels.sideSelection": "SMART_DOWN",
    f"{LAYERED}edgeLabels.centerLabelPlacementStrategy": "SPACE_EFFICIENT_LAYER",
    f"{LAYERED}nodePlacement.strategy": "NETWORK_SIMPLEX",
    f"{LAYERED}cycleBreaking.strategy": "MODEL_ORDER",  # the initial state, which is the first, comes first
    "elk.spacing.edgeLabel": "3",
    "elk.spacing.nodeNode": "12",
    "elk.spacing.edgeNode": "8",
    "elk.spacing.edgeEdge": "8",
    f"{LAYERED}spacing.nodeNodeBetweenLayers": "20",
    f"{LAYERED}spacing.edgeEdgeBetweenLayers": "8",
    f"{LAYERED}spacing.edgeNodeBetweenLayers": "10",
}
FURTHER: Final = [
    {
        "elk.direction": direction,
        f"{LAYERED}cycleBreaking.strategy": cycles,
        f"{LAYERED}layering.strategy": layers,
        f"{LAYERED}edgeLabels.centerLabelPlacementStrategy": labels,
    }
    for direction, cycles, layers, labels in (
        ("DOWN", "MODEL_ORDER", "LONGEST_PATH", "SPACE_EFFICIENT_LAYER"),
        ("DOWN", "MODEL_ORDER", "COFFMAN_GRAHAM", "MEDIAN_LAYER"),
        ("DOWN", "DEPTH_FIRST", "COFFMAN_GRAHAM", "SPACE_EFFICIENT_LAYER"),
        ("DOWN", "BFS_NODE_ORDER", "COFFMAN_GRAHAM", "MEDIAN_LAYER"),
        ("RIGHT", "GREEDY", "NETWORK_SIMPLEX", "SPACE_EFFICIENT_LAYER"),
    )
]
"""Options to try for a chart that is wider than a page in both directions: each is best for some chart."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the parts of a chart are, in points from the lower left corner, as Graphviz counts."""

    width: float = 0
    height: float = 0
    nodes: Mapping[str, str] = field(default_factory=dict)
    frames: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)
    lines: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)

    def graph(self) -> dict[str, str]:
        """The attribute that gives the size of a chart."""
        return {"bb": f"0,0,{self.width:.1f},{self.height:.1f}"} if self.nodes else {}

    def node(self, name: str) -> dict[str, str]:
        """The attributes that place a node; none if it is not placed."""
        return {"pos": self.nodes[name]} if name in self.nodes else {}

    def line(self, source: str, target: str) -> dict[str, str]:
        """The attributes that place a line and its label."""
        return dict(self.lines.get((source, target), {}))

    def frame(self, name: str) -> dict[str, str]:
        """The attributes that place the frame of a composite state."""
        if name not in self.frames:
            return {}
        left, bottom, right, top = self.frames[name]
        title = f"{left + 10 + 4 * len(name):.1f},{top - FRAME_TITLE / 2:.1f}"
        return {"bb": f"{left:.1f},{bottom:.1f},{right:.1f},{top:.1f}", "lp": title}


NOWHERE: Final = Placement()
"""Nothing is placed yet; Graphviz does that."""


def is_available() -> bool:
    """Whether ELK and Node.js are there."""
    return PACKAGE.is_dir() and shutil.which("node") is not None


def placements(measured: Sequence[Object]) -> list[Placement]:
    """Where ELK puts the parts of charts that Graphviz has measured, as it writes them in JSON.

    A chart that is wider than a page is turned, and if that is not enough, laid out in more ways; the
    narrowest is taken.
    """
    found = _laid_out([(one, [{"elk.direction": way} for way in _directions(one)]) for one in measured])
    wide = [at for at, ways in enumerate(found) if all(one["width"] > PAGE for one in ways)]
    for at, ways in zip(wide, _laid_out([(measured[at], FURTHER) for at in wide]), strict=True):
        found[at] += ways
    return [_placement(one, _best(ways)) for one, ways in zip(measured, found, strict=True)]


def _laid_out(wanted: Sequence[tuple[Object, Sequence[Options]]]) -> list[list[Object]]:
    """Each chart, laid out with each of its options; what ELK cannot do is left out."""
    graphs = [_graph(one, options) for one, every in wanted for options in every]
    if not graphs:
        return []
    words = ["node", str(SCRIPT)]
    node = subprocess.run(words, input=json.dumps(graphs), capture_output=True, text=True, check=True)
    placed = iter(json.loads(node.stdout))
    return [[one for one in islice(placed, len(every)) if one is not None] for _, every in wanted]


def _directions(measured: Object) -> tuple[str, str]:
    """The direction in which a chart is meant to be drawn, and the other one."""
    return ("RIGHT", "DOWN") if measured["rankdir"] == "LR" else ("DOWN", "RIGHT")


def _best(ways: Sequence[Object]) -> Object:
    """The first that is as narrow as a page, or else the narrowest."""
    narrowest = min(ways, key=lambda one: float(one["width"]))
    return next((one for one in ways if one["width"] <= PAGE), narrowest)


# --- to ELK -------------------------------------------------------------------------------------


def _graph(measured: Object, further: Options) -> dict[str, Any]:
    objects = {one["_gvid"]: one for one in measured["objects"]}
    inner = {name for one in objects.values() for name in one.get("subgraphs", ())}
    framed = {name for one in objects.values() for name in one.get("nodes", ())}
    top = [one for key, one in objects.items() if key not in inner | framed]
    options = {**OPTIONS, **further}
    return {
        "id": "root",
        "layoutOptions": options,
        "children": [_node(one, objects, options) for one in top],
        "edges": [_edge(one) for one in measured["edges"]],
    }


def _node(one: Object, objects: Mapping[int, Object], options: Options) -> dict[str, Any]:
    if not one["name"].startswith("cluster"):
        more = PERIPHERY if one.get("peripheries") == "2" else 0
        sides = {side: float(one[side]) * POINTS_PER_INCH + more for side in ("width", "height")}
        first = {"layoutOptions": {FIRST: "FIRST"}} if one["name"].startswith(BEGIN) else {}
        return {"id": str(one["_gvid"]), **sides, **first}
    frames = [objects[key] for key in one.get("subgraphs", ())]
    deeper = {key for frame in frames for key in frame.get("nodes", ())}
    own = [objects[key] for key in one.get("nodes", ()) if key not in deeper]
    room = f"[top={FRAME_TITLE},left=12,bottom=12,right=12]"
    inside = [_node(each, objects, options) for each in (*frames, *own)]
    return {"id": str(one["_gvid"]), "children": inside, "layoutOptions": {**options, "elk.padding": room}}


def _edge(one: Object) -> dict[str, Any]:
    ends = {"sources": [str(one["tail"])], "targets": [str(one["head"])]}
    label = {"labels": [{"text": "label", **_size(one)}]} if "lp" in one else {}
    return {"id": str(one["_gvid"]), **ends, **label}


def _size(edge: Object) -> dict[str, float]:
    """The size of a label, by its pieces of text around its centre."""
    x, y = map(float, edge["lp"].split(","))
    font, half_width, half_height = 0.0, 0.0, 0.0
    for piece in edge["_ldraw_"]:
        if piece["op"] == "F":
            font = piece["size"]
        elif piece["op"] == "T":
            left = piece["pt"][0] - {"l": 0, "c": 0.5, "r": 1}[piece["align"]] * piece["width"]
            half_width = max(half_width, abs(left - x), abs(left + piece["width"] - x))
            half_height = max(half_height, abs(piece["pt"][1] + font - y), abs(piece["pt"][1] - font / 3 - y))
    return {"width": 2 * half_width + 6, "height": 2 * half_height + 4}


# --- from ELK -----------------------------------------------------------------------------------


def _placement(measured: Object, placed: Object) -> Placement:
    names = {str(one["_gvid"]): str(one["name"]) for one in measured["objects"]}
    corners = dict(_corners(placed, 0, 0))
    height = placed["height"]
    nodes, frames = {}, {}
    for one in _every(placed):
        if one is placed:
            continue
        x, y = corners[one["id"]]
        if one.get("children"):
            frame = (x, height - y - one["height"], x + one["width"], height - y)
            frames[names[one["id"]].removeprefix("cluster_")] = frame
        else:
            nodes[names[one["id"]]] = f"{x + one['width'] / 2:.1f},{height - y - one['height'] / 2:.1f}"
    lines = {
        (names[edge["sources"][0]], names[edge["targets"][0]]): _line(edge, corners, height)
        for part in _every(placed)
        for edge in part.get("edges", ())
    }
    return Placement(placed["width"], height, nodes, frames, lines)


def _every(part: Object) -> Iterator[Object]:
    yield part
    for one in part.get("children", ()):
        yield from _every(one)


def _corners(part: Object, x: float, y: float) -> Iterator[tuple[str, Point]]:
    """The upper left corner of each part; ELK counts from that of the part around it."""
    yield part["id"], (x, y)
    for one in part.get("children", ()):
        yield from _corners(one, x + one["x"], y + one["y"])


def _line(edge: Object, corners: Mapping[str, Point], height: float) -> dict[str, str]:
    x, y = corners[edge.get("container", "root")]
    [section] = edge["sections"]
    bends = [section["startPoint"], *section.get("bendPoints", ()), section["endPoint"]]
    points = [(bend["x"] + x, height - bend["y"] - y) for bend in bends]
    found = {"pos": _spline(points)}
    for label in edge.get("labels", ()):
        centre = (label["x"] + x + label["width"] / 2, height - label["y"] - y - label["height"] / 2)
        found["lp"] = _pair(centre)
    return found


def _spline(points: Sequence[Point]) -> str:
    """Straight lines as the curves of Graphviz, which end where the arrowhead begins."""
    before, end = points[-2:]
    length = max(abs(end[0] - before[0]), abs(end[1] - before[1])) or 1
    line = [*points[:-1], _between(end, before, min(ARROW, 0.9 * length) / length)]
    curves = [line[0]]
    for start, stop in pairwise(line):
        curves += [_between(start, stop, 1 / 3), _between(start, stop, 2 / 3), stop]
    return f"e,{_pair(end)} {' '.join(map(_pair, curves))}"


def _between(start: Point, stop: Point, share: float) -> Point:
    return (start[0] + (stop[0] - start[0]) * share, start[1] + (stop[1] - start[1]) * share)


def _pair(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
