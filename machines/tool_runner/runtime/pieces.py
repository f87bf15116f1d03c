"""The pieces of a stream, kept until a reader takes them; a stream without a reader blocks nothing."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any


class Pieces:
    """An iterator over pieces as they come.  It ends when the turn is whole or the request is given up."""

    def __init__(self) -> None:
        self._waiting: deque[Any] = deque()
        self._arrived = asyncio.Event()
        self._is_closed = False

    def put(self, piece: Any) -> None:
        """A piece came."""
        self._waiting.append(piece)
        self._arrived.set()

    def close(self) -> None:
        """No piece will come any more."""
        self._is_closed = True
        self._arrived.set()

    def __aiter__(self) -> Pieces:
        return self

    async def __anext__(self) -> Any:
        while not self._waiting:
            if self._is_closed:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        return self._waiting.popleft()
