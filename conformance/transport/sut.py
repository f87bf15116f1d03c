"""The kit's view of a runtime under test: one request, one answer, whatever carries them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Sut(Protocol):
    """A live runtime under test.

    `request` sends one verb of PROTOCOL_VERSION with its parameters as a JSON object and gives the
    answer as one; it raises `ProtocolError` for an answer that is an error, and an `AdapterError`
    (or `TimedOut`, `SutDied`) where the conversation itself broke.  The kit sends verbs strictly one
    after the other.
    """

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]: ...

    def kill(self) -> None:
        """End it at once, with no clean-up of its own, as a crash does."""
        ...

    def close(self) -> None:
        """Give back whatever it holds: processes, loops, files."""
        ...


SutFactory = Callable[[], Sut]
"""Makes a fresh SUT: nothing of an earlier one is left in it, but what is durable in its data folder."""
