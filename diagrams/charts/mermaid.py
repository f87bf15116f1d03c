"""A chart as Mermaid text, which code hosts and editors draw; inner states are declared in their state."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.diagrams.charts.picture import Arrow, Picture, Place

INDENT = "    "


def mermaid(picture: Picture) -> str:
    """The Mermaid text of a chart."""
    lines = [*_head(picture), *_within(picture.places, picture, INDENT)]
    lines += [f"{INDENT}class {place.id} checkpoint" for place in picture.leaves if place.is_checkpoint]
    return "\n".join(lines) + "\n"


def _head(picture: Picture) -> Iterator[str]:
    yield "stateDiagram-v2"
    if any(place.is_checkpoint for place in picture.leaves):
        yield f"{INDENT}classDef checkpoint fill:#fdf0cf,stroke:#8a5a00,color:#1d2129"


def _within(places: tuple[Place, ...], picture: Picture, indent: str) -> Iterator[str]:
    """States, the arrows between them, and where they begin and end."""
    for place in places:
        yield from _place(place, picture, indent)
    ids = {place.id for place in places}
    for arrow in picture.arrows:
        if arrow.source in ids:
            yield f"{indent}{arrow.source} --> {arrow.target} : {_label(arrow)}"
    yield from (f"{indent}{place.id} --> [*]" for place in places if place.is_final)


def _place(place: Place, picture: Picture, indent: str) -> Iterator[str]:
    inner = indent + INDENT
    if place.inside:
        yield f"{indent}state {place.id} {{"
        groups = [(one,) for one in place.inside] if place.is_parallel else [place.inside]
        for number, group in enumerate(groups):
            if number:
                yield f"{inner}--"
            yield from _within(group, picture, inner)
        yield f"{indent}}}"
    else:
        yield (
            f"{indent}{place.id}" if place.name == place.id else f'{indent}state "{place.name}" as {place.id}'
        )
    if place.is_initial:
        yield f"{indent}[*] --> {place.id}"


def _label(arrow: Arrow) -> str:
    guard = f"[{' and '.join(arrow.guards)}]" if arrow.guards and arrow.event else ""
    words = arrow.event or arrow.phrase
    return " ".join(part for part in (words, guard, f"({arrow.clause})") if part)
