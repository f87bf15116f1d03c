"""How schedules and scenario files name a gate: what waits there, never the id that the runtime gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

GATE_FIELDS: Final = ("on", "hook", "provider", "interactor", "call", "stage")
"""The fields of `gate.open` that name the gate: `model`, `tool:c1`, `prompt:i1:c1`, `hook:h1:c1`."""


def gate_name(opened: Any) -> str:
    """The name of a gate."""
    shown: Mapping[str, Any] = opened if isinstance(opened, Mapping) else opened.as_sent
    return ":".join(str(shown[key]) for key in GATE_FIELDS if shown.get(key) is not None)
