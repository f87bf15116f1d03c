"""A timeline as a picture: a column for each call and for the run, with a coloured box for each status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from runlock.conformance.families.lifecycle.timeline import Row, timeline, tools_of
from runlock.conformance.text import cut, plain
from runlock.conformance.trace.trace import Trace
from runlock.diagrams.render.palette import LIGHT, STATUS_LOOKS
from runlock.diagrams.render.svg import Drawing, width_of, wrapped

CALLS_MAX: Final = 8
"""Above this number, calls are counted instead of drawn."""

COLUMN: Final = 92.0
WORDS: Final = 420.0
LEFT: Final = 34.0
TOP: Final = 44.0
LINE: Final = 16.0
GAP: Final = 14.0
SIZE: Final = 12.0


@dataclass(frozen=True, slots=True)
class _Moment:
    """A row with its vertical position."""

    row: Row
    words: list[str]
    top: float

    @property
    def height(self) -> float:
        return len(self.words) * LINE + GAP


def drawn(trace: Trace, label: str = "timeline", because: str = "") -> Drawing:
    """The timeline of a trace, with its violation, if there is one, below."""
    rows = timeline(trace)
    calls = list(dict.fromkeys(call for row in rows for call in row.calls))[:CALLS_MAX]
    moments = list(_moments(rows))
    bottom = moments[-1].top + moments[-1].height if moments else TOP
    told = wrapped(because, LEFT + (len(calls) + 1) * COLUMN + WORDS, SIZE) if because else []
    width = LEFT + (len(calls) + 1) * COLUMN + WORDS + 16
    picture = Drawing(width, bottom + 10 + len(told) * LINE + (8 if told else 0), label)
    _head(picture, calls, tools_of(trace))
    _moments_down(picture, moments, len(calls))
    for number, call in enumerate(calls):
        _column(picture, LEFT + number * COLUMN, moments, [one.row.calls.get(call, "") for one in moments])
    _column(picture, LEFT + len(calls) * COLUMN, moments, [one.row.run for one in moments])
    for number, line in enumerate(told):
        picture.write(LEFT, bottom + 18 + number * LINE, line, fill=LIGHT["ill"], font_weight="bold")
    return picture


def _moments(rows: Sequence[Row]) -> Iterator[_Moment]:
    top = TOP
    for row in rows:
        moment = _Moment(row, wrapped(row.happened, WORDS, SIZE), top)
        top += moment.height
        yield moment


def _head(picture: Drawing, calls: Sequence[str], tools: Mapping[str, str]) -> None:
    picture.write(10, 20, "t", font_weight="bold")
    for number, call in enumerate(calls):
        x = LEFT + number * COLUMN + 4
        picture.write(x, 20, cut(plain(call), 13), font_weight="bold")
        picture.write(x, 34, cut(plain(tools.get(call, "")), 16), 10, fill=LIGHT["quiet"])
    picture.write(LEFT + len(calls) * COLUMN + 4, 20, "run", font_weight="bold")
    picture.write(LEFT + (len(calls) + 1) * COLUMN + 8, 20, "what happened", font_weight="bold")


def _moments_down(picture: Drawing, moments: Sequence[_Moment], calls: int) -> None:
    words = LEFT + (calls + 1) * COLUMN + 8
    for number, moment in enumerate(moments):
        picture.line(6, moment.top, picture.width - 6, moment.top, stroke=LIGHT["rule"])
        picture.write(10, moment.top + 18, str(number), fill=LIGHT["quiet"])
        for at, line in enumerate(moment.words):
            picture.write(words, moment.top + 18 + at * LINE, line)


def _column(picture: Drawing, x: float, moments: Sequence[_Moment], statuses: Sequence[str]) -> None:
    """One box for each period in which a status stays the same."""
    for status, stretch in groupby(zip(statuses, moments, strict=True), key=lambda one: one[0]):
        within = [moment for _, moment in stretch]
        if status:
            fill, rim = STATUS_LOOKS.get(status, ("paper", "line"))
            top, height = within[0].top + 4, within[-1].top + within[-1].height - within[0].top - 8
            picture.box(x, top, COLUMN - 8, height, fill=LIGHT[fill], stroke=LIGHT[rim])
            size = min(SIZE, SIZE * (COLUMN - 16) / max(width_of(status, SIZE), 1))
            picture.write(x + 6, top + 15, plain(status), size)
