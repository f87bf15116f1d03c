"""A minimal SVG writer: a few shapes in the colours of the palette, with deterministic output."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from runlock.diagrams.render.palette import (
    CLASS,
    FAMILY,
    LIGHT,
    standalone,
)

NAMESPACE: Final = "http://www.w3.org/2000/svg"


def element(tag: str, words: str | None = None, /, **attributes: str) -> Element:
    """One element; a trailing underscore, as in `class_`, is removed, and an underscore stands for a
    hyphen."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    made = Element(tag, named)
    made.text = words
    return made


def number(value: float) -> str:
    """A length with no more digits than are visible."""
    return f"{value:.1f}".removesuffix(".0")


@dataclass(slots=True)
class Drawing:
    """A picture with a size and a description."""

    width: float
    height: float
    label: str
    parts: list[Element] = field(default_factory=list)
    scale: float = 1

    def text(self, *, is_alone: bool = True) -> str:
        """The picture; a standalone one includes its namespace and a style sheet."""
        sides = {"width": self.width, "height": self.height}
        size = {name: number(side * self.scale) for name, side in sides.items()}
        box = f"0 0 {number(self.width)} {number(self.height)}"
        root = element("svg", class_=CLASS, role="group", aria_label=self.label, viewBox=box, **size)
        root.extend(self.parts)
        if is_alone:
            root.set("xmlns", NAMESPACE)
            root.insert(0, element("style", f"\n{standalone()}\n"))
        return f"{ElementTree.tostring(root, encoding='unicode')}\n"

    # -- shapes

    def box(self, x: float, y: float, width: float, height: float, **looks: str) -> Element:
        """A box with round corners."""
        sides = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
        return self._add(element("rect", **sides, **{"rx": "4", **looks}))

    def line(self, x1: float, y1: float, x2: float, y2: float, **looks: str) -> Element:
        """A straight line."""
        ends = {"x1": number(x1), "y1": number(y1), "x2": number(x2), "y2": number(y2)}
        return self._add(element("line", **ends, **{"stroke": LIGHT["line"], **looks}))

    def path(self, steps: str, **looks: str) -> Element:
        """Any line."""
        return self._add(element("path", d=steps, **looks))

    def write(self, x: float, y: float, words: str, size: float = 12, **looks: str) -> Element:
        """Words on a line."""
        font = {"font_family": FAMILY, "font_size": number(size), "fill": LIGHT["ink"]}
        return self._add(element("text", words, x=number(x), y=number(y), **{**font, **looks}))

    def group(self, parts: Iterable[Element], **looks: str) -> Element:
        """Move shapes that were drawn into a new group, with a tooltip if there is one."""
        kept = list(parts)
        made = element("g", **looks)
        for part in kept:
            self.parts.remove(part)
            made.append(part)
        return self._add(made)

    def _add(self, part: Element) -> Element:
        self.parts.append(part)
        return part


WIDTHS: Final = {
    **dict.fromkeys("ijlI.,:;'|! ()[]/", 0.30),
    **dict.fromkeys('frt-"', 0.36),
    **dict.fromkeys("mwMWQOG%@", 0.84),
    **dict.fromkeys("ABCDEFHKLNPRSTUVXYZ&", 0.70),
}


def width_of(words: str, size: float) -> float:
    """The approximate width of text in a sans-serif font, rounded up."""
    return sum(WIDTHS.get(letter, 0.57) for letter in words) * size


def wrapped(words: str, room: float, size: float) -> list[str]:
    """Text, wrapped to a width."""
    lines: list[str] = []
    for word in words.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines or [""]
