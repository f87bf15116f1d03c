"""The drawings that only one family has, found by its name."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def drawing(family: str, name: str) -> ModuleType | None:
    """The module `name` in the folder of a family; None where it draws no such thing."""
    folder = f"{__package__}.{family.replace('-', '_')}"
    if find_spec(folder) is None or find_spec(f"{folder}.{name}") is None:
        return None
    return import_module(f"{folder}.{name}")
