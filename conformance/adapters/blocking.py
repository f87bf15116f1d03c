"""Runs a blocking library in a thread of its own, which the kit's loop can wait for.

The thread is busy unless it waits for the loop or has nothing to do, so that the loop is quiescent only when
both are.  What comes while it waits for an answer is done there, as the body of a tool would do it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

Job = tuple[Callable[[], Any], asyncio.Future[Any]]


class BlockingThread:
    """The thread of a user who blocks."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._inbox: SimpleQueue[Job | Future[Any] | None] = SimpleQueue()
        self._questions: set[asyncio.Task[None]] = set()
        self._working = 0
        self._counting = threading.Lock()
        self._is_over = False
        threading.Thread(target=self._work, daemon=True).start()

    def busy(self) -> bool:
        """Whether the thread is working."""
        with self._counting:
            return self._working > 0

    async def do(self, work: Callable[[], Any]) -> Any:
        """Let the thread do something, and wait for it; called on the loop."""
        done = self._loop.create_future()
        self._put((work, done))
        return await done

    def ask(self, question: Coroutine[Any, Any, Any]) -> Any:
        """Have the loop run a coroutine, and block until it has; called in the thread."""
        if self._is_over:
            question.close()
            raise RuntimeError("the thread was closed")
        self._loop.call_soon_threadsafe(self._begin, question)
        self._count(-1)
        while not isinstance(job := self._inbox.get(), Future):
            if job is not None:
                self._do(job)
        return job.result()

    async def close(self, last: Callable[[], Any] | None = None) -> None:
        """Give up the question that the thread waits for, let it do one last thing, and end it."""
        for question in list(self._questions):
            question.cancel()
            await asyncio.wait({question})
        if last is not None:
            await self.do(last)
        self._is_over = True
        self._inbox.put(None)

    def _begin(self, question: Coroutine[Any, Any, Any]) -> None:
        task = self._loop.create_task(self._answer(question))
        self._questions.add(task)
        task.add_done_callback(self._questions.discard)

    async def _answer(self, question: Coroutine[Any, Any, Any]) -> None:
        answer: Future[Any] = Future()
        try:
            answer.set_result(await question)
        except BaseException as error:  # it belongs to the thread
            self._is_over = self._is_over or isinstance(error, GeneratorExit)  # the loop is gone
            answer.set_exception(error)
        self._put(answer)

    def _put(self, job: Job | Future[Any]) -> None:
        self._count(1)
        self._inbox.put(job)

    def _work(self) -> None:
        while not self._is_over and (job := self._inbox.get()) is not None:
            assert not isinstance(job, Future)
            self._do(job)

    def _do(self, job: Job) -> None:
        work, done = job
        try:
            found, error = work(), None
        except BaseException as raised:  # it belongs to the caller of `do`
            found, error = None, raised
        self._loop.call_soon_threadsafe(_hand_over, done, found, error)
        self._count(-1)

    def _count(self, step: int) -> None:
        with self._counting:
            self._working += step


def _hand_over(done: asyncio.Future[Any], found: Any, error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(found)
    else:
        done.set_exception(error)
