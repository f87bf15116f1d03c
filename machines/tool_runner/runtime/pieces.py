"""The pieces of a stream, kept until a reader takes them; a stream without a reader blocks nothing."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any


class Pieces:
    """An iterator over pieces as they come; ends with the turn, or raises what broke the request."""

    def __init__(self) -> None:
        self._waiting: deque[Any] = deque()
        self._arrived = asyncio.Event()
        self._is_closed = False
        self._broken: Exception | None = None

    def put(self, piece: Any) -> None:
        """A piece came."""
        self._waiting.append(piece)
        self._arrived.set()

    def close(self, broken: Exception | None = None) -> None:
        """No piece will come any more, perhaps because something broke."""
        self._is_closed, self._broken = True, broken
        self._arrived.set()

    def is_unread(self) -> bool:
        """Whether pieces wait for a reader."""
        return bool(self._waiting)

    def __aiter__(self) -> Pieces:
        return self

    async def wait(self) -> None:
        """Wait until there is a piece, or none will come."""
        while not self._waiting and not self._is_closed:
            self._arrived.clear()
            await self._arrived.wait()

    async def __anext__(self) -> Any:
        await self.wait()
        if not self._waiting:
            raise self._broken or StopAsyncIteration
        return self._waiting.popleft()
