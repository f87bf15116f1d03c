"""The conversations of the corpus: what a person says, what the scripted model answers, and the tools.

Each recorder plays all of them with one real library, offline.  As a script, it prints them as JSON.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the model: its text, and the calls that it asks for, each a tool, an id and arguments."""

    text: str = ""
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = field(default=())


def asks(*calls: tuple[str, str, dict[str, Any]], text: str = "") -> Turn:
    """A turn with calls."""
    return Turn(text, calls)


def says(text: str) -> Turn:
    """A turn without calls."""
    return Turn(text)


OSLO, ROME, LIMA = ({"city": name} for name in ("Oslo", "Rome", "Lima"))
Runs = list[tuple[str, list[Turn]]]

SCENARIOS: dict[str, Runs] = {
    "text": [("Hello.", [says("Hello, what can I do?")])],
    "one-call": [("Oslo?", [asks(("weather", "c1", OSLO)), says("20 degrees.")])],
    "two-calls": [
        ("Oslo and Rome?", [asks(("weather", "c1", OSLO), ("weather", "c2", ROME)), says("20 degrees each.")])
    ],
    "three-calls": [
        (
            "All three?",
            [
                asks(("weather", "c1", OSLO), ("clock", "c2", {}), ("weather", "c3", LIMA)),
                says("20 degrees, at noon."),
            ],
        )
    ],
    "two-rounds": [
        (
            "Oslo, then Rome?",
            [asks(("weather", "c1", OSLO)), asks(("weather", "c2", ROME)), says("The same.")],
        )
    ],
    "text-and-call": [("Oslo?", [asks(("weather", "c1", OSLO), text="I look."), says("20 degrees.")])],
    "no-arguments": [("What time is it?", [asks(("clock", "c1", {})), says("Noon.")])],
    "failing": [("Fail.", [asks(("fails", "c1", {})), says("It failed.")])],
    "failing-sibling": [
        ("Oslo, and fail.", [asks(("fails", "c1", {}), ("weather", "c2", OSLO)), says("One of them failed.")])
    ],
    "failing-again": [
        ("Fail twice.", [asks(("fails", "c1", {})), asks(("fails", "c2", {})), says("Both failed.")])
    ],
    "two-runs": [
        ("Oslo?", [asks(("weather", "c1", OSLO)), says("20 degrees.")]),
        ("And Rome?", [asks(("weather", "c2", ROME)), says("The same.")]),
    ],
    "text-then-call": [
        ("Hello.", [says("Hello.")]),
        ("Oslo?", [asks(("weather", "c1", OSLO)), says("20 degrees.")]),
    ],
    "same-call-again": [
        ("Oslo, twice?", [asks(("weather", "c1", OSLO)), asks(("weather", "c2", OSLO)), says("Still 20.")])
    ],
    "nested-arguments": [
        ("Oslo?", [asks(("weather", "c1", {"city": "Oslo", "unit": "C"})), says("20 degrees.")])
    ],
}


def weather(city: str, unit: str = "C") -> str:
    """The weather in a city."""
    return f"{city}: 20 degrees {unit}"


def clock() -> str:
    """The time of the day."""
    return "noon"


class Failed(Exception):
    """What the tool that fails raises."""


def fails() -> str:
    """Fail."""
    raise Failed("the service is down")


if __name__ == "__main__":
    print(json.dumps(SCENARIOS, default=asdict))
