"""Optional packages: an error in one sentence says what to install."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Final

from runlock.conformance.errors import UsageError

EXTRAS: Final = {
    "duckdb": "audit", "zstandard": "audit", "orjson": "audit", "ray": "ray",
    "acp": "wires", "mcp": "wires", "httpx": "wires", "uvicorn": "wires",
}  # fmt: skip


class MissingExtra(UsageError):
    """A package of an extra is not installed, which this command needs."""


def the_module(name: str) -> ModuleType:
    """The package of that name, or an error that names the extra."""
    try:
        return import_module(name)
    except ImportError:
        extra = EXTRAS[name]
        raise MissingExtra(
            f"This command needs {name}, which is not installed.",
            f"`pip install -e '.[{extra}]'` in the folder of the kit's source installs it.",
        ) from None
