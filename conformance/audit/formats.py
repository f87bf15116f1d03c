"""The importers by name: those that come with the kit, and those of other distributions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final

from runlock.conformance.audit.recording import Importer
from runlock.conformance.errors import UsageError
from runlock.spec.text import known_words

GROUP: Final = "runlock.importers"
FOLDER: Final = "runlock.conformance.audit.importers"
OWN: Final = ("trace", "otel_genai", "openinference", "ag_ui", "ai_sdk", "claude_code")


@cache
def importers() -> Mapping[str, Importer]:
    """Every importer, by name; those of the kit are asked first."""
    own: dict[str, Importer] = {}
    for module in OWN:
        importer: Importer = import_module(f"{FOLDER}.{module}").IMPORTER
        own[importer.name] = importer
    return own | {one.name: one.load() for one in entry_points(group=GROUP) if one.name not in own}


def importer_named(name: str) -> Importer:
    """The importer of that name; `UsageError` lists the known ones."""
    found = importers().get(name)
    if found is None:
        raise UsageError(f"`--format {name}` names no format; {known_words(name, importers())}")
    return found


def importer_of(record: Any) -> Importer | None:
    """The importer that recognises the first record of a file."""
    return next((one for one in importers().values() if one.recognises(record)), None)
