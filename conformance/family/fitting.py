"""Checks that a written scenario fits the protocol; an error names the file and the line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import Family
from runlock.conformance.trace.document import is_move
from runlock.conformance.trace.moves import INSPECT, Move, moves_of
from runlock.conformance.trace.trace import Record, Trace

Numbered = Sequence[tuple[int, Record]]
"""Records, each with the line on which it begins."""


def check_fits(family: Family, records: Numbered, source: str, *, observations: bool = True) -> None:
    """Raise a `UsageError` for the first record that no message of the family's protocol is.

    Without `observations` only what the kit sends is checked: what a runtime reported may be wrong.
    """
    for line, record in records:
        if observations or "observation" not in record:
            _check_record(family, record, f"{source}:{line}")
    moves = moves_of(Trace([record for _, record in records]), family.line_formats.gate_name)
    lines = [line for line, record in records if is_move(record)]
    for move, line in zip(moves, lines, strict=True):
        _check_outcomes(family, move, f"{source}:{line}")


def _check_record(family: Family, record: Record, where: str) -> None:
    stimulus = record.get("stimulus")
    try:
        if "observation" in record:
            family.vocabulary.check_observation(record["observation"])
        elif "scenario" in record:
            family.vocabulary.scenario.model_validate(record["scenario"])
        elif stimulus is not None:
            _check_stimulus(family, stimulus.get("method"), stimulus.get("params"), where)
    except ValidationError as error:
        raise _misfit(error, where) from None


def _check_stimulus(family: Family, method: Any, params: Any, where: str) -> None:
    sent, methods = (*family.vocabulary.stimuli, INSPECT), family.vocabulary.methods
    if method not in sent:
        raise UsageError(f"{where}: {method} is no stimulus.", f"There are {', '.join(sent)}.")
    methods[method][0].model_validate(params)
    for part in params["stimuli"] if method == "deliver" else ():
        methods[part["method"]][0].model_validate(part["params"])


def _check_outcomes(family: Family, move: Move, where: str) -> None:
    try:
        for method, params in move.parts():
            if method == "gate.release":
                _outcomes_at(family, params["gate"], where).validate_python(params["outcome"])
                if "kind" not in params["outcome"]:
                    raise UsageError(f"{where}: the outcome of the gate lacks its kind.")
    except ValidationError as error:
        raise _misfit(error, where) from None


def _outcomes_at(family: Family, gate: str, where: str) -> TypeAdapter[Any]:
    on, known = gate.partition(":")[0], family.vocabulary.outcomes
    if on not in known:
        raise UsageError(
            f"{where}: no gate is called {gate}.",
            f"A script names a gate by what waits there: {', '.join(f'`{one}`' for one in known)}, "
            "with `:CALL` where it is about a call.",
        )
    return known[on]


def _misfit(error: ValidationError, where: str) -> UsageError:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return UsageError(f"{where}: {place or 'params'} is {first.get('input')!r}.", f"{first['msg']}.")
