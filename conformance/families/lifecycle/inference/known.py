"""Policies whose values show the same, or nothing, and when: what inference says instead of guessing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.needs import ENDS

READ_UNDER: Final[Mapping[str, tuple[str, str]]] = {
    "replay.start": ("round.mixed", "continue"),
    "stop.tools": ("stop.threshold", "reaches"),
}
"""Policies whose signs can be read only where another policy has this value."""

LATE: Final = frozenset({"after_round", "waiting", "between_segments"})

ALIKE: Final[Mapping[str, tuple[frozenset[str], str]]] = {
    "decision.window": (
        LATE,
        "each acts when the round is over, and whether the run is shown Waiting in between is left open",
    ),
    "decision.early": (frozenset({"refuse", "ignore"}), "what is refused has no effect either"),
    "durability": (
        frozenset({"call", "round", "step", "segment"}),
        "a runtime may keep more than it promises, and nothing was lost that speaks against these",
    ),
    "decision.kept": (
        frozenset({"acceptance", "checkpoint", "no"}),
        "a runtime may keep more than it promises, and no decision was lost that speaks against these",
    ),
    "input.fate": (
        frozenset({"dropped", "returned"}),
        "a runtime that does not show input.returned may give input back where the kit does not look",
    ),
    "wait.reshown": (
        frozenset({"on_request", "no"}),
        "a look at a run that waits shows the same",
    ),
    "state": (
        frozenset({"runtime", "caller"}),
        "an adapter that holds the value for its caller shows the same",
    ),
}
"""Values that show the same, and why."""

IDLE: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "round.rest": (("round.executor", "parallel"),),
    "round.failure": (("round.executor", "parallel"),),
    "input.round": (("round.executor", "parallel"),),
    "replay.start": (("waiting", "parked"), ("round.mixed", "wait")),
}
"""The values of other policies under which a policy says nothing, or nothing that shows."""

OF_STOPS: Final = ("stop.threshold", "stop.tools")
"""Policies that show only where a run can be stopped."""


def hidden(key: str, sets: Mapping[str, Any]) -> str:
    """Why no sign of a policy can show on a runtime that declares these sets, or an empty string."""
    if key in ENDS:
        return "waits that expire are played only where it is declared what they end, and when"
    if key in OF_STOPS and not sets.get("stop.conditions"):
        return "the runtime declares no stop.conditions"
    return ""
