"""Connects the kit's event loop to runtimes that live in real time: child processes, sockets, other threads.

What runs in real time runs on an asyncio loop in a thread.  The kit's loop cannot know when such a runtime is
at rest, so it waits until nothing has moved for a while: `settle` is `observed`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from runlock.conformance.transport.loop_threads import hand_over

T = TypeVar("T")

LOOK_SECONDS: Final = 0.05
LOOKS_MAX: Final = 20
"""How often, and how many times at most, `Bridge.until` looks for a reaction of the runtime."""

QUIET_SECONDS: Final = 0.2
"""How long nothing has to move before the runtime counts as at rest."""

PATIENCE_SECONDS: Final = 8.0
"""How long the runtime may be silent while it owes something: it waits for nothing, yet is not done."""


class RealTime:
    """An asyncio loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there, and block until it is done."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def close(self) -> None:
        """Stop the loop, and close it once its thread has ended."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Bridge:
    """One scenario's connection between the kit's loop and the real one; counts who waits for whom."""

    def __init__(self, real: RealTime, kit: asyncio.AbstractEventLoop) -> None:
        self.real = real.loop
        self._kit = kit
        self._verbs = 0  # verbs of the kit that the runtime has not finished
        self._questions = 0  # questions that the kit has not answered
        self._ending = False
        self._moved_at = 0.0

    def busy(self) -> bool:
        """Whether the runtime may still move without the kit."""
        owes = self._verbs > 0 and (self._questions == 0 or self._ending)
        limit = PATIENCE_SECONDS if owes else self.quiet_seconds()
        return self.real.time() - self._moved_at < limit

    def quiet_seconds(self) -> float:
        """How long nothing has to move before a runtime that owes nothing counts as at rest."""
        return QUIET_SECONDS

    @property
    def has_open_gates(self) -> bool:
        """Whether the kit has not answered all that the runtime waits for."""
        return self._questions > 0

    def moved(self) -> None:
        """Something of the runtime was seen to move."""
        self._moved_at = self.real.time()

    def acted(self) -> None:
        """The kit did something that the runtime may react to."""
        self._moved_at = self.real.time()

    async def until(self, is_seen: Callable[[], bool]) -> None:
        """Wait for a reaction of the runtime, which may not come; called on the real loop."""
        for _ in range(LOOKS_MAX):
            if is_seen():
                return
            self.moved()
            await asyncio.sleep(LOOK_SECONDS)

    def end(self) -> None:
        """The turn was cancelled: its end is due, whatever gates are open."""
        self._ending = True

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the real loop, and wait for it on the kit's."""
        self._verbs += 1
        self.acted()
        done: asyncio.Future[T] = self._kit.create_future()
        running = asyncio.run_coroutine_threadsafe(work, self.real)
        running.add_done_callback(lambda future: self._kit.call_soon_threadsafe(hand_over, future, done))
        try:
            return await done
        finally:
            self._verbs -= 1
            self._ending = self._ending and self._verbs > 0  # the cancel is done before the turn is
            self.moved()

    async def ask(self, question: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the kit's loop, and wait for it on the real one; a cancel reaches it."""
        answer: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []
        self._kit.call_soon_threadsafe(self._begin, question, answer, tasks)
        try:
            return await asyncio.wrap_future(answer, loop=self.real)
        except asyncio.CancelledError:
            self._kit.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
            raise

    async def each(self, source: AsyncIterator[T]) -> AsyncGenerator[T, None]:
        """The items of an iterator of the kit's loop, which is closed at the end."""
        try:
            while (item := await self.ask(_next(source))) is not None:
                yield item
        finally:
            close: Callable[[], Coroutine[Any, Any, None]] = getattr(source, "aclose")  # noqa: B009
            self._kit.call_soon_threadsafe(lambda: self._kit.create_task(close()))

    def tell(self, report: Callable[[], None]) -> None:
        """Call something on the kit's loop, in the order in which things happen here."""
        self.moved()
        self._kit.call_soon_threadsafe(report)

    def _begin(
        self, question: Coroutine[Any, Any, T], answer: Future[T], tasks: list[asyncio.Task[T]]
    ) -> None:
        self._questions += 1
        self.moved()
        tasks.append(task := self._kit.create_task(question))
        task.add_done_callback(lambda done: self._answered(done, answer))

    def _answered(self, task: asyncio.Task[T], answer: Future[T]) -> None:
        self._questions -= 1
        self.acted()
        hand_over(task, answer)


async def _next(source: AsyncIterator[T]) -> T | None:
    return await anext(source, None)
