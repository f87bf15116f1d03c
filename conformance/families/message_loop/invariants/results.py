"""How checks say what they found, and the names by which observations are selected for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final

from runlock.conformance.families.message_loop.messages import (
    CallMoved,
    Checkpointed,
    GateOpened,
    MessageAppended,
    Published,
    RunMoved,
    TurnEnded,
)
from runlock.conformance.families.message_loop.state.records import ObservedCall
from runlock.conformance.family.invariant import HELD, NOTHING, CheckResult, CheckResults, Selectors, broken
from runlock.conformance.protocol import Observation

__all__ = [
    "HELD",
    "SELECTORS",
    "CheckResult",
    "CheckResults",
    "broken",
    "listed",
    "named",
    "quoted",
]

NAMES: Final[Mapping[type[Observation], Callable[[Any], str]]] = {
    GateOpened: attrgetter("on"),
    TurnEnded: attrgetter("reason.code"),
    RunMoved: attrgetter("to"),
    CallMoved: attrgetter("to"),
    Checkpointed: lambda seen: seen.cause or "",
    MessageAppended: attrgetter("message.role"),
    Published: attrgetter("name"),
}
"""The name of an observation among those of its kind: what a gate waits for, which event it is."""


def name_of(seen: Observation) -> str:
    """The name of an observation, if its kind has names."""
    named_by = NAMES.get(type(seen))
    return named_by(seen) if named_by is not None else ""


def newest_of(state: Any, seen: Observation) -> str:
    """No check of this family goes by what came before."""
    return NOTHING


SELECTORS: Final = Selectors(name_of, newest_of)


def named(call: ObservedCall) -> str:
    """How a sentence names a call."""
    return f"call {call.id} ({call.name}) of request {call.request.number}"


def quoted(value: Any, limit: int = 80) -> str:
    """A value as a sentence shows it."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def listed(values: Any) -> str:
    """Some names as a sentence lists them."""
    return ", ".join(str(value) for value in values) or "none"
