"""The diagram of the architecture: kit, adapter and runtime on the left, trace and verdict on the right."""

from __future__ import annotations

from typing import Final, NamedTuple

from runlock.diagrams.render.palette import LIGHT
from runlock.diagrams.render.svg import Drawing, number

WIDTH: Final = 342.0
"""That of a phone; the page lets it grow on a larger screen."""
HEIGHT: Final = 378.0
BOX: Final = 64.0
LABEL: Final = (
    "The architecture: the kit sends stimuli to the adapter of the runtime under test and answers its gates; "
    "the trace of all that happens is judged, and the verdict comes with a counterexample"
)


class Box(NamedTuple):
    """A part of the architecture: its place, its name, and what it does."""

    x: float
    y: float
    width: float
    name: str
    about: str
    fill: str = "state"
    edge: str = "edge"


BOXES: Final = (
    Box(4, 10, 150, "Kit", "plays model, tools,\nstore, clock"),
    Box(4, 156, 150, "Adapter", "about forty lines,\nno logic"),
    Box(4, 302, 150, "Runtime under test", "your agent loop", "idle", "line"),
    Box(218, 10, 120, "Trace", "every step, in order"),
    Box(218, 108, 120, "Judge", "clauses,\nstate charts"),
    Box(218, 206, 120, "Verdict", "held, broken\nor untested", "mark", "marked"),
    Box(218, 304, 120, "Counterexample", "minimal, replayable", "bad", "ill"),
)


def drawn() -> Drawing:
    """The picture."""
    made = Drawing(WIDTH, HEIGHT, LABEL)
    _between(made, 74, 156, "stimuli,", "answers to gates", "observations,", "open gates")
    _between(made, 220, 302, "calls", "", "asks its model,", "runs a tool")
    for top in (74, 172, 270):
        _arrow(made, (278, top), (278, top + 36 - 2))
    _arrow(made, (154, 34), (216, 34))
    made.write(184, 28, "records", 11, text_anchor="middle", fill=LIGHT["quiet"])
    _replay(made)
    for box in BOXES:
        _box(made, box)
    return made


def _box(made: Drawing, box: Box) -> None:
    made.box(box.x, box.y, box.width, BOX, fill=LIGHT[box.fill], stroke=LIGHT[box.edge])
    middle = box.x + box.width / 2
    lines = box.about.splitlines()
    top = box.y + 36 - 7 * len(lines)
    made.write(middle, top, box.name, 13, text_anchor="middle", font_weight="bold")
    for at, line in enumerate(lines, 1):
        made.write(middle, top + 3 + 14 * at, line, 11, text_anchor="middle")


def _between(made: Drawing, top: float, bottom: float, *words: str) -> None:
    """Two arrows between boxes, one down and one up, each with up to two lines of text on its outer side."""
    _arrow(made, (98, top), (98, bottom - 2))
    _arrow(made, (112, bottom), (112, top + 2))
    for at, (x, anchor) in enumerate([(92, "end"), (92, "end"), (118, "start"), (118, "start")]):
        y = (top + bottom) / 2 + (14 if at % 2 else -2) - (0 if words[at - at % 2 + 1] else -6)
        made.write(x, y, words[at], 11, text_anchor=anchor, fill=LIGHT["quiet"])


def _replay(made: Drawing) -> None:
    """The counterexample is sent to the runtime again, by the kit."""
    made.path("M 218 336 H 206 V 58 H 160", fill="none", stroke=LIGHT["line"], stroke_dasharray="4 3")
    _head(made, 154, 58, -1, 0)
    made.write(202, 74, "replay", 11, text_anchor="end", fill=LIGHT["quiet"])


def _arrow(made: Drawing, start: tuple[float, float], end: tuple[float, float]) -> None:
    made.line(*start, *end)
    across, down = end[0] - start[0], end[1] - start[1]
    length = abs(across) + abs(down)  # every arrow is vertical or horizontal
    _head(made, *end, across / length, down / length)


def _head(made: Drawing, x: float, y: float, across: float, down: float) -> None:
    back_x, back_y = x - 8 * across, y - 8 * down
    sides = [(back_x + 4 * down * way, back_y + 4 * across * way) for way in (1, -1)]
    corners = " L ".join(f"{number(a)} {number(b)}" for a, b in [(x, y), *sides])
    made.path(f"M {corners} Z", fill=LIGHT["line"])
