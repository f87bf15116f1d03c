"""How a runtime wants to be answered: what AG-UI leaves open, given by the user or read off what it asks.

The protocol says that a resume entry answers an interrupt, and leaves its payload to the two sides; an
interrupt may state it by a JSON Schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

from runlock.conformance.wires.address import Address
from runlock.conformance.wires.ag_ui_client import LEGACY

FLAGS: Final = ("approved", "accepted", "approve", "accept", "confirmed", "allow", "allowed")
"""Names of a field that says yes or no, the commonest first."""

WORDS: Final = (("approve", "reject"), ("accept", "reject"), ("allow", "deny"), ("yes", "no"))
"""Pairs of values of a field that says yes or no in words."""

USUAL: Final = {"approved": True}, {"approved": False}


def payload(address: Address, interrupt: Mapping[str, Any], approves: bool) -> Any:
    """What answers an interrupt: as the user says it, as its schema does, or as most runtimes take it."""
    given = address.approve if approves else address.reject
    if given is not None:
        return deepcopy(given)
    yes, no = read(interrupt.get("responseSchema") or {}) or asked_for(interrupt.get(LEGACY)) or USUAL
    return yes if approves else no


def asked_for(value: Any) -> tuple[Any, Any] | None:
    """What answers a list of requests of the older kind, one decision for each."""
    if not isinstance(value, Mapping) or not isinstance(value.get("action_requests"), list):
        return None
    return {"decisions": [{"type": "approve"}]}, {"decisions": [{"type": "reject"}]}


def read(schema: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """What says yes and what says no under a schema; None if it does not tell."""
    if schema.get("type") == "boolean":
        return True, False
    return next(_readings(schema), None)


def _readings(schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    for option in (schema, *(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
        fields: Mapping[str, Any] = option.get("properties") or {}
        yield from _flags(fields)
        yield from _lists(fields)
    yield from _words(schema)


def _flags(fields: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    for name in FLAGS:
        if name in fields and fields[name].get("type", "boolean") == "boolean":
            yield {name: True}, {name: False}


def _lists(fields: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """A list with a decision for each call of the interrupt."""
    for name, field in fields.items():
        if field.get("type") == "array" and (one := read(field.get("items") or {})) is not None:
            yield {name: [one[0]]}, {name: [one[1]]}


def _words(schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    values = list(_values(schema))
    for yes, no in WORDS:
        wanted = [[one for one in values if one[1] == word] for word in (yes, no)]
        if wanted[0] and wanted[1]:
            (name, _), (other, _) = wanted[0][0], wanted[1][0]
            yield ({name: yes} if name else yes), ({other: no} if other else no)


def _values(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fixed values that a schema allows, each with the name of its field."""
    for option in (schema, *(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
        for value in option.get("enum") or ():
            yield "", value
        for name, field in (option.get("properties") or {}).items():
            for value in (*(field.get("enum") or ()), *([field["const"]] if "const" in field else [])):
                yield name, value
