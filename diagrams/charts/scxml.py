"""A chart as SCXML, the W3C's language of statecharts, for other tools.

The clause of an arrow and its phrase, which SCXML does not have, are in a separate namespace.
"""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from runlock.diagrams.charts.picture import Arrow, Picture, Place

NAMESPACE = "http://www.w3.org/2005/07/scxml"
OURS = "urn:runlock:chart"


def scxml(picture: Picture) -> str:
    """The SCXML document of a chart."""
    names = {"xmlns": NAMESPACE, "xmlns:runlock": OURS, "version": "1.0", "name": picture.name}
    root = Element("scxml", {**names, "initial": picture.initial, "runlock:subject": picture.subject})
    root.extend(_state(place, picture) for place in picture.places)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _state(place: Place, picture: Picture) -> Element:
    tag = "parallel" if place.is_parallel else "final" if place.is_final else "state"
    state = Element(tag, {"id": place.id})
    first = next((one.id for one in place.inside if one.is_initial), None)
    if first is not None and not place.is_parallel:
        state.set("initial", first)
    if place.closed:
        state.set("runlock:closed", place.closed)
    state.extend(_transition(arrow) for arrow in picture.arrows if arrow.source == place.id)
    state.extend(_state(one, picture) for one in place.inside)
    return state


def _transition(arrow: Arrow) -> Element:
    facts = {"event": arrow.event, "cond": " and ".join(arrow.guards), "target": arrow.target}
    ours = {"runlock:clause": arrow.clause, "runlock:phrase": arrow.phrase}
    return Element("transition", {name: fact for name, fact in {**facts, **ours}.items() if fact})
