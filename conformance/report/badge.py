"""A result as a badge: the JSON that shields.io asks for, and a drawing of its own."""

from __future__ import annotations

import json
from html import escape
from typing import Final

from runlock.conformance.report.stored_result import Stored
from runlock.conformance.text import cut, plain

LABEL_MAX: Final = 40
COLOURS: Final = {"held": "brightgreen", "broken": "red", "undecided": "yellow"}
DRAWN: Final = {"brightgreen": "#2e7d32", "red": "#c62828", "yellow": "#8a6d00"}
CHARACTER: Final = 7
"""How wide a character is drawn; the text is fitted to it, whatever font there is."""

PADDING: Final = 10


def badge(result: Stored) -> str:
    """What an endpoint badge of shields.io reads."""
    label, message, colour = _facts(result)
    said = {"schemaVersion": 1, "label": label, "message": message, "color": colour}
    return json.dumps(said | ({"isError": True} if result.outcome == "broken" else {}), indent=1) + "\n"


def drawn(result: Stored) -> str:
    """The same badge as an SVG, which needs nobody's service."""
    label, message, colour = _facts(result)
    left, right = (len(text) * CHARACTER + 2 * PADDING for text in (label, message))
    said = escape(f"{label}: {message}")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
            f'aria-label="{said}">',
            f"<title>{said}</title>",
            f'<clipPath id="c"><rect width="{left + right}" height="20" rx="3"/></clipPath>',
            f'<g clip-path="url(#c)"><rect width="{left}" height="20" fill="#444"/>',
            f'<rect x="{left}" width="{right}" height="20" fill="{DRAWN[colour]}"/></g>',
            '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">',
            _text(label, PADDING),
            _text(message, left + PADDING),
            "</g>",
            "</svg>",
            "",
        ]
    )


def _facts(result: Stored) -> tuple[str, str, str]:
    counts = result.counts()
    broken = counts["broken"] - len(result.expected)
    known = f", {len(result.expected)} expected to break" if result.expected else ""
    held = f"{counts['held']} of {counts['held'] + counts['broken'] + counts['untested']} clauses held{known}"
    told = {"held": held, "broken": f"{broken} broken" if broken else "a stale baseline"}
    shown = told.get(result.outcome, f"undecided, {held}")
    return cut(plain(f"runlock {result.profile}"), LABEL_MAX), shown, COLOURS[result.outcome]


def _text(text: str, left: int) -> str:
    width = len(text) * CHARACTER
    return (
        f'<text x="{left}" y="14" textLength="{width}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
    )
