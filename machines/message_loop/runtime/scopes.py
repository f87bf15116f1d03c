"""Cancellation scopes: the open waits of a part of a turn, which can be cancelled together.

A turn, a pass and a call each have a scope, nested in this order.  Stopping a scope cancels every
wait in it and in its inner scopes, and refuses every later wait before it begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class ScopeStopped(Exception):
    """A wait was cancelled or refused because its scope was stopped for this cause."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Scope:
    """The waits of one part of a turn; `cause` says why it was stopped."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.cause: str | None = None if parent is None else parent.cause
        self._waits: dict[asyncio.Future[Any], bool] = {}
        self._inner: list[Scope] = []
        if parent is not None:
            parent._inner.append(self)

    def stop(self, cause: str, *, drains: bool = False) -> None:
        """Cancel every wait except those that may drain; the first cause is kept."""
        if self.cause is None:
            self.cause = cause
            for wait, may_drain in list(self._waits.items()):
                if not (drains and may_drain):
                    wait.cancel()
        for scope in self._inner:
            scope.stop(cause, drains=drains)

    def heed(self) -> None:
        """Raise `ScopeStopped` if the scope was stopped."""
        if self.cause is not None:
            raise ScopeStopped(self.cause)

    async def outside(self, waiting: Coroutine[Any, Any, T], *, drains: bool = False) -> T:
        """Wait for the environment until it answers or the scope is stopped."""
        if self.cause is not None:
            waiting.close()
            raise ScopeStopped(self.cause)
        task = asyncio.ensure_future(waiting)
        self._waits[task] = drains
        try:
            return await task
        except asyncio.CancelledError:
            if self.cause is not None and task.cancelled():
                raise ScopeStopped(self.cause) from None
            raise
        finally:
            del self._waits[task]


async def together(scope: Scope, parts: Sequence[Coroutine[Any, Any, Any]]) -> None:
    """Run parts of a scope concurrently; if one fails, the scope is stopped and its error is raised."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    for task in tasks:
        task.add_done_callback(lambda over: _stop_if_broken(scope, over))
    if tasks:
        await asyncio.wait(tasks)
    errors = [error for task in tasks if (error := task.exception()) is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, ScopeStopped)):
        raise error


def _stop_if_broken(scope: Scope, over: asyncio.Task[Any]) -> None:
    if not over.cancelled() and over.exception() is not None:
        scope.stop("broken")
