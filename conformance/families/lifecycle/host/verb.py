"""A call of the adapter that is under way, and what its task needs of the host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final


@dataclass(eq=False, slots=True)
class Verb:
    """One call of the adapter that is under way."""

    name: str
    run: str
    stimulus: int = 0
    decisions: tuple[str, ...] = ()
    undo: Callable[[], object] | None = None
    touched: bool = False
    was_cancelled: bool = False  # a cancel of the run came while it was under way
    task: asyncio.Task[Any] | None = None

    @property
    def makes_a_segment(self) -> bool:
        return self.name != "cancel"


class Attended(Coroutine[Any, Any, Any]):
    """A coroutine, and a callback for what it returned, in the same step."""

    def __init__(self, work: Coroutine[Any, Any, Any], returned: Callable[[Any], None]) -> None:
        self.cr_await = work  # what stands in its way, as a native coroutine says it
        self.returned = returned

    def send(self, value: Any) -> Any:
        try:
            return self.cr_await.send(value)
        except StopIteration as stop:
            self.returned(stop.value)
            raise

    def throw(self, *error: Any) -> Any:
        try:
            return self.cr_await.throw(*error)
        except StopIteration as stop:
            self.returned(stop.value)
            raise

    def close(self) -> None:
        self.cr_await.close()

    def __await__(self) -> Any:
        return self.cr_await.__await__()


CURRENT: Final[ContextVar[Verb | None]] = ContextVar("verb", default=None)
"""The verb on whose behalf the adapter runs."""
