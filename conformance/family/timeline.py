"""A trace as a timeline: the family's own, or one row for each stimulus if the family has none."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from runlock.conformance.family.family import Family
from runlock.conformance.family.parts import Row
from runlock.conformance.trace.moves import moves_of
from runlock.conformance.trace.trace import Trace

ROOM_MIN: Final = 16
"""The minimum width of the column of what happened."""


def timeline(family: Family, trace: Trace) -> list[Row]:
    """The rows of a trace."""
    own = family.wording.timeline
    return list(own(trace) if own is not None else _one_a_stimulus(family, trace))


def render(family: Family, trace: Trace, width: int) -> list[str]:
    """The timeline as lines of text."""
    own = family.wording.render
    return list(own(trace, width) if own is not None else _lines(timeline(family, trace), width))


def _one_a_stimulus(family: Family, trace: Trace) -> Iterator[Row]:
    """Each move, followed by what was observed on it."""
    moves = moves_of(trace, family.line_formats.gate_name)
    words: list[str] = []
    for record in trace.records:
        ((key, value),) = record.items()
        if key == "crash" or (key == "stimulus" and value["method"] != "recover"):
            move = next(moves, None)
            words += [family.wording.move(move)] if move is not None else []
        elif key == "observation":
            words.append(family.wording.observation(value))
        elif key == "report" and words:
            yield Row({}, "", ", ".join(words))
            words = []
    if words:
        yield Row({}, "", ", ".join(words))


def _lines(rows: list[Row], width: int) -> Iterator[str]:
    left = len(str(len(rows))) + 2
    yield f"{'t':<{left}}what happened"
    for number, row in enumerate(rows):
        first, *more = textwrap.wrap(row.happened, max(width - left, ROOM_MIN)) or [""]
        yield f"{number:<{left}}{first}".rstrip()
        yield from (f"{'':<{left}}{line}" for line in more)
