"""Thread work of a virtual event loop: counts running threads and queues their results.

Threads finish in any order, so their results are held until all have finished, and then passed to the
loop in the order in which the work began.  If a thread calls into the loop while it works, that order is
not kept, since the thread may wait for another one's result.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Final

POLL_SECONDS: Final = 0.001
"""How often a busy SUT is polled; it affects only how soon its end is noticed."""


class Outside:
    """The threads of one loop, seen from the loop."""

    def __init__(self) -> None:
        self.busy: Callable[[], bool] | None = None
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._under_way = 0
        self._calls_back = False
        self._calls: list[asyncio.Handle] = []
        self._finished: list[tuple[int, asyncio.Handle]] = []

    def quiet(self) -> bool:
        """Whether no work is running and no result is queued."""
        # Asked first: work that ends calls back before it is no longer busy, so that the call is seen below.
        if self.busy and self.busy():
            return False
        return not (self._under_way or self._calls or self._finished)

    def begin(
        self, work: Callable[[], Any], executor: Executor | None, finished: asyncio.Handle
    ) -> Future[Any]:
        """Run `work` in a thread; `finished` is called on the loop when it is done."""
        number = next(self._numbers)
        with self._changed:
            self._under_way += 1
        try:
            future = executor.submit(work) if executor else _in_thread(work)
        except BaseException:  # an executor that is shut down: the work never began
            with self._changed:
                self._under_way -= 1
            raise
        future.add_done_callback(lambda _: self._finish(number, finished))
        return future

    def call(self, handle: asyncio.Handle) -> None:
        """A thread asks the loop to call something."""
        with self._changed:
            self._calls.append(handle)
            self._calls_back = self._calls_back or self._under_way > 0
            self._changed.notify_all()

    def take(self) -> list[asyncio.Handle]:
        """The queued results; waits, without a time limit, while work is running and there are none."""
        with self._changed:
            while not self._has_news() and (self._under_way or (self.busy and self.busy())):
                self._changed.wait(None if self._under_way else POLL_SECONDS)
            finished = [handle for _, handle in sorted(self._finished, key=lambda pair: pair[0])]
            handles = self._calls + finished
            self._calls, self._finished = [], []
        return handles

    def _finish(self, number: int, handle: asyncio.Handle) -> None:
        with self._changed:
            self._under_way -= 1
            self._finished.append((number, handle))
            self._changed.notify_all()

    def _has_news(self) -> bool:
        if self._calls:
            return True
        return bool(self._finished) and (self._calls_back or not self._under_way)


def _in_thread(work: Callable[[], Any]) -> Future[Any]:
    future: Future[Any] = Future()
    # A daemon, so that a tool that never returns does not keep the kit from ending.
    threading.Thread(target=_fulfil, args=(future, work), daemon=True).start()
    return future


def _fulfil(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # an exception of a tool belongs to its awaiter
        future.set_exception(error)
    else:
        future.set_result(result)


def hand_over(source: Any, target: Any) -> None:
    """Give the result of one future to another, unless that one has been given up."""
    if target.done():
        return
    if source.cancelled():
        target.cancel()
    elif (error := source.exception()) is not None:
        target.set_exception(error)
    else:
        target.set_result(source.result())
