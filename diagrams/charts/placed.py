"""Where ELK has put the parts of each chart, stored: a picture needs no Node.js, and is the same everywhere.

A placement belongs to the text of a chart, which it names by a digest; one of another text is not used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from runlock.diagrams.charts.dot import dot
from runlock.diagrams.charts.picture import Picture
from runlock.diagrams.render import elk_layout, graphviz_layout
from runlock.diagrams.render.elk_layout import Placement

FILE: Final = Path(__file__).with_name("placed.json")


def placed(picture: Picture) -> Placement | None:
    """Where the parts of a chart are; None if that is stored of another text of it, or of none."""
    found = _stored().get(key(picture))
    return None if found is None or found["of"] != digest(picture) else _read(found)


def key(picture: Picture) -> str:
    """Its name, with that of its family, for two families may have charts of one name."""
    return f"{picture.family}/{picture.name}"


def digest(picture: Picture) -> str:
    """A digest of the text that was placed."""
    return hashlib.sha256(dot(picture).encode()).hexdigest()[:16]


def write(pictures: Iterable[Picture]) -> None:
    """Place these charts with ELK, and store that instead of what is stored now."""
    every = list(pictures)
    found = elk_layout.placements([graphviz_layout.measured(dot(one)) for one in every])
    lines = (
        f"{json.dumps(key(one))}: {json.dumps(_written(digest(one), where), separators=(',', ':'))}"
        for one, where in zip(every, found, strict=True)
    )
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    _stored.cache_clear()


@cache
def _stored() -> Mapping[str, Any]:
    return dict(json.loads(FILE.read_text("utf-8"))) if FILE.is_file() else {}


def _written(of: str, where: Placement) -> Mapping[str, Any]:
    lines = [[source, target, dict(line)] for (source, target), line in where.lines.items()]
    frames = {name: [round(side, 1) for side in sides] for name, sides in where.frames.items()}
    size = {"width": round(where.width, 1), "height": round(where.height, 1)}
    return {"of": of, **size, "nodes": dict(where.nodes), "frames": frames, "lines": lines}


def _read(found: Mapping[str, Any]) -> Placement:
    lines = {(source, target): line for source, target, line in found["lines"]}
    frames = {name: (left, low, right, top) for name, (left, low, right, top) in found["frames"].items()}
    return Placement(found["width"], found["height"], found["nodes"], frames, lines)
