"""The modules of the wires that need the packages of an extra, which a plain installation lacks."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from runlock.conformance.extras import the_module

PACKAGES: Final = ("acp", "mcp", "httpx", "uvicorn")


def module_of(name: str) -> Any:
    """A module of this package; raises a `UsageError` that names the extra if it is not installed."""
    for package in PACKAGES:
        the_module(package)
    return import_module(f"runlock.conformance.wires.{name}")
