"""A chart as JSON: everything that its pictures show, for programs such as the page that plays charts."""

from __future__ import annotations

import json
from typing import Any

from runlock.diagrams.charts.picture import Arrow, Picture, Place


def as_json(picture: Picture) -> str:
    """The JSON text of a chart."""
    return json.dumps(as_object(picture), indent=1) + "\n"


def as_object(picture: Picture) -> dict[str, Any]:
    """A chart as an object: the arrows in the order in which they are tried."""
    return {
        "schema": 1,
        "chart": picture.name,
        "subject": picture.subject,
        "initial": picture.initial,
        "states": [_place(place) for place in picture.places],
        "arrows": [_arrow(arrow) for arrow in picture.arrows],
    }


def _place(place: Place) -> dict[str, Any]:
    inside = {"inside": [_place(one) for one in place.inside], "parallel": place.is_parallel}
    return {
        "id": place.id,
        "name": place.name,
        "initial": place.is_initial,
        "final": place.is_final,
        "checkpoint": place.is_checkpoint,
        "closed": place.closed or None,
        **(inside if place.inside else {}),
    }


def _arrow(arrow: Arrow) -> dict[str, Any]:
    return {
        "clause": arrow.clause,
        "from": arrow.source,
        "on": arrow.event or None,
        "if": list(arrow.guards),
        "to": arrow.target,
        "when": arrow.phrase,
    }
