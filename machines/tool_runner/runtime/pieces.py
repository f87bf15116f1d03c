"""The pieces of a stream, buffered until a reader takes them; a stream without a reader does not block."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any


class Pieces:
    """An iterator over pieces as they arrive; ends with the turn, or raises the fault of the request."""

    def __init__(self) -> None:
        self._waiting: deque[Any] = deque()
        self._arrived = asyncio.Event()
        self._is_closed = False
        self._broken: Exception | None = None

    def put(self, piece: Any) -> None:
        """Add a piece."""
        self._waiting.append(piece)
        self._arrived.set()

    def close(self, broken: Exception | None = None) -> None:
        """End the stream, possibly with an error."""
        self._is_closed, self._broken = True, broken
        self._arrived.set()

    def is_unread(self) -> bool:
        """Whether pieces wait for a reader."""
        return bool(self._waiting)

    def __aiter__(self) -> Pieces:
        return self

    async def wait(self) -> None:
        """Wait for a piece or for the end of the stream."""
        while not self._waiting and not self._is_closed:
            self._arrived.clear()
            await self._arrived.wait()

    async def __anext__(self) -> Any:
        await self.wait()
        if not self._waiting:
            raise self._broken or StopAsyncIteration
        return self._waiting.popleft()
