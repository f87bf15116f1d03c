"""JSON copies of the values that a runtime reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from pydantic import BaseModel

from runlock.conformance.protocol import Wire


def as_json(value: Any) -> Any:
    """A JSON copy of a value, so that later changes do not alter what was recorded."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): as_json(member) for key, member in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(member) for member in value]
    if isinstance(value, Wire):
        return value.to_wire()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return as_json(asdict(value))
    return str(value)
