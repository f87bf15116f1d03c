"""The start of a scenario, and its end."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from runlock.conformance.protocol.wire import Json, Wire


class Scenario(Wire):
    """The start of a scenario: a name, and an empty folder; a family adds the rest."""

    scenario: str  # its name
    data: str | None = None  # an empty folder, for a runtime with a store of its own

    @cached_property
    def in_full(self) -> Mapping[str, Any]:
        """Every field as it is sent to the runtime, except `data`."""
        return self.model_dump(mode="json", by_alias=True)


class Closed(Wire):
    """The answer to `scenario.close`: gates or tasks that are still alive.

    `asides` says of each request of the runtime that belonged to no scenario what it was.  The `clock` is
    unread where the kit advanced it, and the runtime has never looked at it or set a timer.
    """

    leaks: list[Json] = Field(default_factory=list)
    asides: list[str] = Field(default_factory=list)
    clock: Literal["unread"] | None = None


class RecordedVerdict(Wire):
    """What the kit found wrong in a recorded scenario; no clause if it could not be judged."""

    clause: str | None = None
    because: str


class Ended(Closed):
    """The closing record of a trace: the answer to `scenario.close`, and what is wrong, if anything is."""

    verdict: RecordedVerdict | None = None
