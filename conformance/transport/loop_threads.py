"""Work that threads do for a virtual loop: how much is under way, and what they hand back to it.

Threads finish when they like, so what they hand back is held until all of them have finished, and then
given to the loop in the order in which the work began.  Only when a thread calls into the loop while it
works is that order given up, since it may wait for another one's result.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Final

POLL_SECONDS: Final = 0.001
"""How often a SUT that says it is busy is asked again; decides nothing but how soon it is noticed."""


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
        """Whether nothing is under way and nothing was handed back."""
        return not (self._under_way or self._calls or self._finished or (self.busy and self.busy()))

    def begin(
        self, work: Callable[[], Any], executor: Executor | None, finished: asyncio.Handle
    ) -> Future[Any]:
        """Run `work` in a thread; `finished` goes to the loop when it is over."""
        number = next(self._numbers)
        with self._changed:
            self._under_way += 1
        future = executor.submit(work) if executor else _in_thread(work)
        future.add_done_callback(lambda _: self._finish(number, finished))
        return future

    def call(self, handle: asyncio.Handle) -> None:
        """A thread asks the loop to call something."""
        with self._changed:
            self._calls.append(handle)
            self._calls_back = self._calls_back or self._under_way > 0
            self._changed.notify_all()

    def take(self) -> list[asyncio.Handle]:
        """What threads handed back; waits, without a clock, while work is under way and there is none."""
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
    # A daemon, so that a tool that never returns cannot keep the kit from ending.
    threading.Thread(target=_fulfil, args=(future, work), daemon=True).start()
    return future


def _fulfil(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # whatever a tool throws belongs to who awaits it
        future.set_exception(error)
    else:
        future.set_result(result)
