"""What a scenario starts from, and how it closes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic import Field

from runlock.conformance.protocol.wire import Json, Wire


class Scenario(Wire):
    """What one scenario starts from: a name, and an empty folder; a family adds the rest."""

    scenario: str
    data: str | None = None

    @cached_property
    def in_full(self) -> Mapping[str, Any]:
        """Every field as the runtime is handed it, but for `data`."""
        return self.model_dump(mode="json", by_alias=True)


class Closed(Wire):
    """The answer to `scenario.close`: gates or tasks that are still alive."""

    leaks: list[Json] = Field(default_factory=list)
