"""Parts of a family that are imported when they are first used: commands that need none start fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def late(module: str, name: str) -> Callable[..., Any]:
    """What calls this function, or makes one of this class, of a module that is imported then."""

    def call(*given: Any) -> Any:
        return getattr(import_module(module), name)(*given)

    return call


def late_by_name(module: str, name: str) -> Callable[[], Mapping[str, Any]]:
    """What gives the mutants or the variants that a module lists, by their names."""
    return lambda: {one.name: one for one in getattr(import_module(module), name)}
