"""Copies of what a runtime shows, as JSON has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from pydantic import BaseModel

from runlock.conformance.protocol import Wire


def as_json(value: Any) -> Any:
    """A copy of a value as JSON has it, so that what was seen cannot change afterwards."""
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
