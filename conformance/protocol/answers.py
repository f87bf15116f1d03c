"""Validates answers: they fit the protocol, and their gates can be told apart.

An error here is the adapter's: no clause covers it, and the runtime is not blamed for it.
"""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from runlock.conformance.errors import AdapterError
from runlock.conformance.protocol import (
    GateClosed,
    GateOpened,
    Observation,
    Report,
    Wire,
)
from runlock.conformance.protocol.framing import QUOTE_LIMIT, quote
from runlock.conformance.protocol.vocabulary import Vocabulary
from runlock.conformance.protocol.wire import PART_OF_A_WHOLE
from runlock.conformance.text import cut, plain

Message = TypeVar("Message", bound=Wire)

REPORTS_KEPT: Final = 1024

OBSERVATIONS_MAX: Final = 5_000
"""Observations in one answer: more than a scenario needs, and few enough to be judged in seconds."""

OBSERVATIONS_OF_A_SCENARIO_MAX: Final = 20_000
GATES_MAX: Final = 500
"""Gates that one incarnation may open in a scenario."""

_IS_SHORT: Final = "A scenario is short; what shows more of it than this is not at rest."

_BY_VALUE: Final = 2  # the last format of `marshal` whose output does not depend on shared references

_WISHES: Final = {
    "a valid (dictionary or instance of \\w+|dictionary|object)": "an object",
    "a valid integer": "a whole number",
    "a valid ": "a ",
}
"""JSON types by their names in pydantic, and by their names in the kit."""

_OPENS_ONCE: Final = "Within one life of the runtime each gate has an id of its own."
_CLOSES_ONCE: Final = "Only a gate that was opened is given up, and only once."
_DECLARED: Final = "The kit releases what the handshake names in `gates`, and nothing else."
_STAYS_STILL: Final = (
    "What is quiescent moves for a stimulus alone; one that cannot know says `observed` in `control.settle`."
)


def fitted(model: type[Message], raw: Mapping[str, Any], what: str, schema: str) -> Message:
    """The validated message of the adapter; an `AdapterError` names the place that does not fit."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        place, flaw, right = _misfit(
            error, f"conformance/protocol/json_schema/{schema}.json says what it holds."
        )
        raise AdapterError(f"{what} does not fit the protocol: {place} {flaw}.", right) from None


def fitted_report(vocabulary: Vocabulary, raw: Mapping[str, Any], method: str) -> Report:
    """The validated answer to a stimulus; equal answers are parsed once."""
    try:
        return _read(vocabulary.report, written(raw))
    except ValueError:  # which a `ValidationError` is too
        return fitted(vocabulary.report, raw, f"The answer to {method}", f"{method}.answer")


def refuse_flood(method: str, raw: Mapping[str, Any], before: int) -> int:
    """The number of observations of a scenario with this answer; an `AdapterError` if they are too many."""
    shown = raw.get("observations")
    number = len(shown) if isinstance(shown, list) else 0
    if number > OBSERVATIONS_MAX:
        raise AdapterError(
            f"The answer to {method} holds {number:,} observations; {OBSERVATIONS_MAX:,} are the most.",
            _IS_SHORT,
        )
    if before + number > OBSERVATIONS_OF_A_SCENARIO_MAX:
        raise AdapterError(
            f"With the answer to {method}, the scenario shows {before + number:,} observations; "
            f"{OBSERVATIONS_OF_A_SCENARIO_MAX:,} are the most.",
            _IS_SHORT,
        )
    return before + number


@lru_cache(REPORTS_KEPT)
def _read(model: type[Report], report: bytes) -> Report:
    return model.model_validate(marshal.loads(report))


def written(value: Any) -> bytes:
    """A plain JSON value serialised, equal for equal values; `ValueError` for anything else."""
    return marshal.dumps(value, _BY_VALUE)


def misfit_in_words(error: ValidationError) -> str:
    """Where a value does not fit its model, and what would have been right, in one sentence."""
    place, flaw, right = _misfit(error, "")
    wish = right.removesuffix(".")
    return f"{place} of {error.title} {flaw}" + (f"; {wish[:1].lower()}{wish[1:]}" if wish else "")


def _misfit(error: ValidationError, otherwise: str) -> tuple[str, str, str]:
    """Where a message does not fit, how, and what would have been right."""
    first: Mapping[str, Any] = error.errors(include_url=False)[0]
    place = _place(first["loc"])
    if first["type"] == PART_OF_A_WHOLE:
        first = first["ctx"]
        place = _place((*error.errors()[0]["loc"], *first["loc"]))
    if first["type"] == "missing":
        return place, "is missing", otherwise
    given = json.dumps(first["input"], default=str, ensure_ascii=False)
    return place, f"is {cut(plain(given), QUOTE_LIMIT)}", _wish(str(first["msg"]))


def _wish(words: str) -> str:
    """The expectation of pydantic, in the words of the kit."""
    if not words.startswith("Input should be "):
        return f"{words}."
    wish = words.removeprefix("Input should be ")
    for theirs, ours in _WISHES.items():
        wish = re.sub(theirs, ours, wish)
    return f"It should be {wish}."


def _place(path: Sequence[Any]) -> str:
    """The place as the author of the message would write it, followed by the kind of an observation."""
    kind = path[2] if path[:1] == ("observations",) and len(path) > 2 else None
    parts = (*path[:2], *path[3:]) if kind is not None else path
    place = ".".join(plain(str(part)) for part in parts) or "the whole of it"
    return f"{place} of a {kind}" if kind is not None and kind != "unlisted" else place


class Gates:
    """The gates of one incarnation of a runtime; `declared` are those that its handshake names."""

    def __init__(self, declared: Sequence[str]) -> None:
        self.declared = declared
        self.is_open: dict[str, bool] = {}

    def begin_a_life(self) -> None:
        """Forget the gates that were open at a crash, whose ids can be used again."""
        self.is_open.clear()

    def check(self, method: str, report: Report) -> None:
        """Check that each gate opens once, under a known name, and is abandoned at most once."""
        for seen in report.observations:
            why, right = self._flaw(seen)
            if why:
                raise AdapterError(f"The answer to {method} {why}.", right)
        if len(self.is_open) > GATES_MAX:
            raise AdapterError(
                f"With the answer to {method}, {len(self.is_open):,} gates were opened; "
                f"{GATES_MAX} are the most in one life of the runtime.",
                _IS_SHORT,
            )

    def _flaw(self, seen: Observation) -> tuple[str, str]:
        if isinstance(seen, GateOpened):
            known, self.is_open[seen.gate] = seen.gate in self.is_open, True
            if known:
                return f"opens gate {quote(seen.gate)} a second time", _OPENS_ONCE
            if seen.on not in self.declared:
                return f"opens a gate on {quote(seen.on)}, which the handshake does not name", _DECLARED
        elif isinstance(seen, GateClosed):
            was_open, self.is_open[seen.gate] = self.is_open.get(seen.gate, False), False
            if not was_open:
                return f"gives up gate {quote(seen.gate)}, which is not open", _CLOSES_ONCE
        return "", ""


def moved_by_itself(report: Report) -> AdapterError | None:
    """The error for an answer to `settle` that shows something although everything was quiescent."""
    if not report.observations:
        return None
    shown = ", ".join(dict.fromkeys(quote(seen.kind) for seen in report.observations[:3]))
    return AdapterError(
        f"The runtime was said to be quiescent, and then showed {shown} without a stimulus.", _STAYS_STILL
    )
