"""The formats of a chart, each by its name on the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from runlock.diagrams.charts.data import as_json
from runlock.diagrams.charts.dot import dot
from runlock.diagrams.charts.drawn import drawn, png
from runlock.diagrams.charts.mermaid import mermaid
from runlock.diagrams.charts.picture import Picture
from runlock.diagrams.charts.scxml import scxml


@dataclass(frozen=True, slots=True)
class Form:
    """The file ending of a format, and its function; text formats are deterministic."""

    ending: str
    make: Callable[[Picture], bytes]
    is_text: bool = True


def _text(make: Callable[[Picture], str]) -> Callable[[Picture], bytes]:
    return lambda picture: make(picture).encode("utf-8")


FORMS: Final = {
    "dot": Form("dot", _text(dot)),
    "mermaid": Form("mmd", _text(mermaid)),
    "scxml": Form("scxml", _text(scxml)),
    "json": Form("json", _text(as_json)),
    "svg": Form("svg", _text(lambda one: drawn(one, one.name).text()), is_text=False),
    "png": Form("png", png, is_text=False),
}
"""The first four need only this kit; the others need a layout program."""
