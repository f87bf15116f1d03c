"""The asyncio event loop interface, over a queue, a heap of timers and a clock that is advanced from outside.

This class runs nothing itself; `virtual_loop` does.  There is no selector, so everything that needs one
(sockets, subprocesses, signals) raises asyncio's own NotImplementedError.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
import itertools
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, TypeVarTuple

from runlock.conformance.transport.loop_threads import Outside, hand_over

# A type checker treats a class with an incomplete interface as abstract.
if TYPE_CHECKING:
    Base = asyncio.BaseEventLoop
else:
    Base = asyncio.AbstractEventLoop

ExceptionHandler = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object]
Args = TypeVarTuple("Args")


class AsyncioFace(Base):
    """The event loop interface that a runtime uses."""

    def __init__(self) -> None:
        self.errors: list[dict[str, Any]] = []
        self.outside = Outside()
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._numbers = itertools.count()
        self._now = 0.0
        self._horizon_ms = 0
        self._horizon = 0.0
        self._was_read = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._tasks_max = 64
        self._thread: int | None = None
        self._dead = False
        self._debug = False
        self._handler: ExceptionHandler | None = None
        self._factory: Any = None
        self._executor: Any = None

    def time(self) -> float:
        self._was_read = self._was_read or self._horizon_ms > 0
        return self._now

    @property
    def is_unread(self) -> bool:
        """Whether the clock was advanced, and nothing has read it since or has ever set a timer."""
        return self._horizon_ms > 0 and not self._was_read

    def call_soon(
        self, callback: Callable[[*Args], object], *args: *Args, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        if not self._dead:
            self._ready.append(handle)
        of = getattr(callback, "__self__", None)
        if isinstance(of, asyncio.Task):  # one may be created without telling the loop
            self._keep(of)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[*Args], object], *args: *Args, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        if self._thread == threading.get_ident():
            return self.call_soon(callback, *args, context=context)
        handle = asyncio.Handle(callback, args, self, context)
        if not self._dead:
            self.outside.call(handle)
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Args], object],
        *args: *Args,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Args], object],
        *args: *Args,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        self._was_read = True
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        if not self._dead:
            heapq.heappush(self._timers, (when, next(self._numbers), handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Called by asyncio when a timer is cancelled; it is dropped when it is due."""

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(
        self, coro: Any, *, name: object = None, context: contextvars.Context | None = None, **more: Any
    ) -> asyncio.Task[Any]:
        if self._factory is not None:
            task: asyncio.Task[Any] = self._factory(self, coro, context=context, **more)
            if name is not None:
                task.set_name(str(name))
        else:
            task = asyncio.Task(
                coro, loop=self, name=None if name is None else str(name), context=context, **more
            )
        self._keep(task)
        return task

    def _keep(self, task: asyncio.Task[Any]) -> None:
        if len(self._tasks) >= self._tasks_max:
            self._tasks = {task for task in self._tasks if not task.done()}
            self._tasks_max = max(64, 2 * len(self._tasks))
        self._tasks.add(task)

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        awaited = self.create_future()
        box: list[Future[Any]] = []
        finished = asyncio.Handle(lambda: hand_over(box[0], awaited), (), self)
        box.append(self.outside.begin(lambda: func(*args), executor or self._executor, finished))
        return awaited

    def set_default_executor(self, executor: Any) -> None:
        self._executor = executor

    def is_running(self) -> bool:
        return self._thread is not None

    def is_closed(self) -> bool:
        return self._dead

    async def shutdown_asyncgens(self) -> None:
        """Nothing to do: generators are closed when they are garbage-collected."""

    async def shutdown_default_executor(self) -> None:
        """Nothing to do: there is no thread pool."""

    def get_debug(self) -> bool:
        return self._debug

    def set_debug(self, enabled: bool) -> None:
        self._debug = enabled

    def get_task_factory(self) -> Any:
        return self._factory

    def set_task_factory(self, factory: Any) -> None:
        self._factory = factory

    def get_exception_handler(self) -> Any:
        return self._handler

    def set_exception_handler(self, handler: Any) -> None:
        self._handler = handler

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.errors.append(context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if self._dead:
            return
        if self._handler is None:
            self.default_exception_handler(context)
        else:
            self._handler(self, context)

    def _forget_generator(self, generator: AsyncGenerator[Any, Any]) -> None:
        self.call_soon_threadsafe(self._close_generator, generator)

    def _close_generator(self, generator: AsyncGenerator[Any, Any]) -> None:
        self.create_task(_aclose(generator))


async def _aclose(generator: AsyncGenerator[Any, Any]) -> None:
    await generator.aclose()
