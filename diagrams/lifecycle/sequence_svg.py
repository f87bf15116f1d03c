"""A sequence diagram as a picture: a vertical line for each participant, an arrow for each message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runlock.conformance.trace.trace import Trace
from runlock.diagrams.lifecycle.sequence import (
    RUNTIME,
    Noted,
    Part,
    Sent,
    lines_of,
    sequence,
)
from runlock.diagrams.render.palette import LIGHT
from runlock.diagrams.render.svg import Drawing, width_of, wrapped

SIZE: Final = 11.5
LINE: Final = 14.0
COLUMN: Final = 150.0
EDGE: Final = 80.0
TOP: Final = 34.0


@dataclass(slots=True)
class _Paper:
    """The positions of the lifelines, and the current vertical position."""

    picture: Drawing
    across: Mapping[str, float]
    down: float


def drawn(trace: Trace, label: str = "sequence", because: str = "") -> Drawing:
    """The sequence of a trace, with its violation, if there is one, at the end."""
    parts = sequence(trace, because)
    names = lines_of(parts)
    across = {name: EDGE + number * COLUMN for number, name in enumerate(names)}
    paper = _Paper(Drawing(EDGE * 2 + (len(names) - 1) * COLUMN, 0, label), across, TOP + 16)
    for part in parts:
        _draw(paper, part)
    paper.picture.height = paper.down + 12
    _lines(paper)
    return paper.picture


def _draw(paper: _Paper, part: Part) -> None:
    if isinstance(part, Sent):
        _arrow(paper, part)
    else:
        _note(paper, part)


def _lines(paper: _Paper) -> None:
    """The lifelines, below everything else."""
    above = list(paper.picture.parts)
    for name, x in paper.across.items():
        wide = width_of(name, SIZE) + 20
        paper.picture.line(x, TOP, x, paper.down + 4, stroke=LIGHT["rule"], stroke_width="1.5")
        looks = {"fill": LIGHT["state"], "stroke": LIGHT["edge"]}
        paper.picture.box(x - wide / 2, 8, wide, 24, **looks)
        paper.picture.write(x, 24, name, SIZE, text_anchor="middle", font_weight="bold")
    for part in above:
        paper.picture.parts.remove(part)
        paper.picture.parts.append(part)


def _arrow(paper: _Paper, sent: Sent) -> None:
    start, end = paper.across[sent.source], paper.across[sent.target]
    room = abs(end - start) - 14
    lines = wrapped(sent.words, room, SIZE)
    rim = {"stroke": LIGHT["paper"], "stroke_width": "3", "paint_order": "stroke", "text_anchor": "middle"}
    for line in lines:
        paper.picture.write((start + end) / 2, paper.down + 10, line, SIZE, **rim)
        paper.down += LINE
    y, tip = paper.down + 3, 7 if end > start else -7
    dashed = {"stroke_dasharray": "5 3"} if sent.is_answer else {}
    paper.picture.line(start, y, end - tip, y, stroke_width="1.4", **dashed)
    paper.picture.path(f"M{end} {y} l{-tip} -4 v8 z", fill=LIGHT["line"])
    paper.down = y + 9


def _note(paper: _Paper, note: Noted) -> None:
    x = paper.across[RUNTIME]
    widest = min(paper.picture.width - 20, 360.0) if note.is_end else 2 * min(x - 6, 130.0)
    lines = wrapped(note.words, widest - 12, SIZE)
    wide = max(width_of(line, SIZE) for line in lines) + 14
    looks = {"fill": LIGHT["bad"], "stroke": LIGHT["ill"]} if note.is_end else _calm()
    left = min(max(x - wide / 2, 6), paper.picture.width - wide - 6)
    paper.picture.box(left, paper.down, wide, len(lines) * LINE + 8, **looks)
    _write_down(paper.picture, left + wide / 2, paper.down + 14, lines)
    paper.down += len(lines) * LINE + 17


def _calm() -> dict[str, str]:
    return {"fill": LIGHT["region"], "stroke": LIGHT["rule"]}


def _write_down(picture: Drawing, x: float, y: float, lines: Sequence[str]) -> None:
    for number, line in enumerate(lines):
        picture.write(x, y + number * LINE, line, SIZE, text_anchor="middle")
