"""The colours of all pictures, in light and in dark, under shared names.

A picture is drawn in the light colours, which every viewer shows.  Where a viewer supports style sheets, a
rule for each colour replaces it in dark mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LIGHT: Final = {
    "paper": "#ffffff",
    "ink": "#1d2129",
    "quiet": "#5b6472",
    "line": "#7a8494",
    "link": "#2f4bb2",
    "state": "#eef1fa",
    "edge": "#3f51b5",
    "region": "#f8f9fc",
    "rule": "#d5dae3",
    "mark": "#fdf0cf",
    "marked": "#8a5a00",
    "good": "#dcf1e2",
    "well": "#1b6e3c",
    "bad": "#fbe0de",
    "ill": "#b3261e",
    "wait": "#fdf0d0",
    "idle": "#e9ecf1",
}

DARK: Final = {
    "paper": "#1e2129",
    "ink": "#e6e9ef",
    "quiet": "#aab2c0",
    "line": "#8b95a5",
    "link": "#a9b8ff",
    "state": "#2b3146",
    "edge": "#8c9eff",
    "region": "#242833",
    "rule": "#414857",
    "mark": "#463812",
    "marked": "#f0c668",
    "good": "#1e3f2b",
    "well": "#7fd79c",
    "bad": "#4d2523",
    "ill": "#ff9d94",
    "wait": "#453a1a",
    "idle": "#343a46",
}

STATUS_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "New": ("idle", "line"),
    "Created": ("idle", "line"),
    "Running": ("state", "edge"),
    "Resuming": ("state", "edge"),
    "Suspended": ("wait", "marked"),
    "Waiting": ("wait", "marked"),
    "Succeeded": ("good", "well"),
    "Completed": ("good", "well"),
    "NaturalEnd": ("good", "well"),
    "Done": ("good", "well"),
    "Failed": ("bad", "ill"),
    "Error": ("bad", "ill"),
    "Cancelled": ("idle", "line"),
}
"""The colours of a status, or of a state that is named like one: fill and border."""

FONT: Final = "Helvetica"
FAMILY: Final = "Helvetica, Arial, sans-serif"
CLASS: Final = "runlock-picture"


def darkened(scope: str = "") -> str:
    """The rules that replace every colour of a picture in dark mode, within a scope."""
    rules = [f"{scope}.{CLASS} {{ color-scheme: dark }}"]
    for name, light in LIGHT.items():
        rules += [
            f'{scope}.{CLASS} [{where}="{light}"] {{ {where}: {DARK[name]} }}' for where in ("fill", "stroke")
        ]
    return "\n".join(rules)


def properties(dark: str) -> str:
    """The colours as custom properties such as `--good`, for a style sheet; a scope is dark."""
    scopes = ((":root", LIGHT), (dark.strip(), DARK))
    return "\n".join(
        f"{scope} {{ {' '.join(f'--{name}: {colour};' for name, colour in colours.items())} }}"
        for scope, colours in scopes
    )


def standalone() -> str:
    """The style sheet of a standalone picture, which has its own background."""
    dark = darkened()
    return (
        f".{CLASS} {{ background: {LIGHT['paper']} }} a {{ cursor: pointer }}\n"
        f"@media (prefers-color-scheme: dark) {{\n.{CLASS} {{ background: {DARK['paper']} }}\n{dark}\n}}"
    )
