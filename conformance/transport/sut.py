"""The interface to a runtime under test: one request, one answer, over any transport."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Sut(Protocol):
    """A live runtime under test.

    `request` sends one verb of PROTOCOL_VERSION with its parameters as a JSON object and returns the answer
    as one.  It raises `ProtocolError` for an answer that is an error, and an `AdapterError` (or `TimedOut`,
    `SutDied`) if the conversation itself failed.  The kit sends one verb at a time.
    """

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]: ...

    def kill(self) -> None:
        """End it immediately, without clean-up, as a crash does."""
        ...

    def close(self) -> None:
        """Release its resources: processes, loops, files."""
        ...


SutFactory = Callable[[], Sut]
"""Creates a fresh SUT, with no state of an earlier one except what is durable in its data folder."""
