"""The pictures of a stored result for a page: the sequence of each violation, and each chart as covered."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from runlock.conformance.errors import UsageError
from runlock.conformance.report.stored_result import Stored, StoredViolation
from runlock.conformance.text import plain
from runlock.conformance.trace.trace import read_trace
from runlock.diagrams.of_family import drawing
from runlock.diagrams.render import graphviz_layout as layout
from runlock.diagrams.render.png import painted
from runlock.diagrams.render.svg import Drawing


@dataclass(frozen=True, slots=True)
class Pictures:
    """The sources of SVG elements: sequences by clause, charts by name."""

    sequences: Mapping[str, str] = field(default_factory=dict)
    charts: Mapping[str, str] = field(default_factory=dict)


NO_PICTURES: Final = Pictures()


def pictures_of(result: Stored, folder: Path) -> Pictures:
    """What can be drawn here: traces next to the result, and charts if there is a layout program."""
    drawn = {one.clause: _sequence(result, one, folder) for one in result.violations if not one.cause}
    return Pictures({clause: source for clause, source in drawn.items() if source}, _charts(result))


def _sequence(result: Stored, violation: StoredViolation, folder: Path) -> str:
    """The messages between the participants; empty if the trace is not there or the family draws none."""
    sequence = drawing(result.family, "sequence_svg")
    if sequence is None or violation.trace is None:
        return ""
    with suppress(UsageError):
        trace = read_trace(folder / Path(violation.trace).name)
        because = f"{violation.clause}: {violation.reason}"
        return _source(sequence.drawn(trace, f"the messages up to {violation.clause}", because))
    return ""


def _charts(result: Stored) -> dict[str, str]:
    """Each chart with the number of times that each transition was taken, linked to the clauses below."""
    try:
        sources = list(painted(result.model_dump(mode="json", by_alias=True), "#{}".format))
        return {name: _source(layout.svg(source, f"{name}, as covered")) for name, source in sources}
    except UsageError:
        return {}


def _source(picture: Drawing) -> str:
    """The picture for a page that has the style sheet; invisible characters are shown by their code."""
    for part in picture.parts:
        for one in part.iter():
            _plain(one)
    return picture.text(is_alone=False)


def _plain(one: Element) -> None:
    one.attrib.pop("id", None)
    one.text = plain(one.text) if one.text else one.text
