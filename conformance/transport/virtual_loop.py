"""An event loop under control of the kit: it runs one batch of ready callbacks at a time, on a virtual clock.

The order is that of asyncio's own loop: first in, first out, and due timers after callbacks that were
already ready.  There is no selector, so between two turns only the kit can act; this is where a real loop
would poll for input.  Sockets, subprocesses and signals are not available.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
import threading
import warnings
from asyncio import events
from collections import deque
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

from runlock.conformance.errors import Blame, RunlockError
from runlock.conformance.transport.asyncio_loop import AsyncioFace
from runlock.conformance.transport.exceptions import keep_place

TURNS_MAX: Final = 10_000
CLOCK_RESOLUTION: Final = 1e-6
CLOSE_ATTEMPTS_MAX: Final = 100


class DidNotSettle(RunlockError):
    """The SUT kept working, or waits for something that only itself could provide."""

    blame: ClassVar[Blame] = "SUT"


class Running:
    """Makes a loop the running loop, with its own hooks for generators, for the duration of a block."""

    __slots__ = (
        "hooks",
        "loop",
        "outer",
        "thread",
    )  # entered at every stimulus, so not a generator, for speed

    def __init__(self, loop: AsyncioFace) -> None:
        self.loop = loop

    def __enter__(self) -> None:
        loop = self.loop
        self.outer, self.hooks = events._get_running_loop(), sys.get_asyncgen_hooks()
        self.thread, loop._thread = loop._thread, threading.get_ident()
        events._set_running_loop(loop)
        sys.set_asyncgen_hooks(firstiter=None, finalizer=loop._forget_generator)

    def __exit__(self, *_error: object) -> None:
        self.loop._thread = self.thread
        sys.set_asyncgen_hooks(*self.hooks)
        events._set_running_loop(self.outer)


class VirtualLoop(AsyncioFace):
    """An asyncio loop that runs only on request."""

    # What the kit does with it.

    def turn(self) -> bool:
        """Run one batch of ready callbacks; false if there were none."""
        with Running(self):
            return self._turn()

    def run_turns(self, turns: int) -> bool:
        """Run up to a number of turns; true if nothing is left to run."""
        with Running(self):
            for _ in range(turns):
                if not self._turn():
                    break
        return self.quiescent()

    def settle(self, limit: int = TURNS_MAX) -> int:
        """Run until only the kit can make the SUT continue; returns the number of turns."""
        with Running(self):
            for turns in range(limit):
                if not self._turn():
                    return turns
        if self.quiescent():
            return limit
        raise DidNotSettle(
            f"The runtime was still busy after {limit} turns of its loop.",
            "It should come to rest once it waits for the model, a tool, a decision or the clock.",
        )

    def quiescent(self) -> bool:
        """Whether nothing is ready, no timer is due, and no work is under way in threads."""
        self._collect_due()
        if self._ready or not self.outside.quiet():
            return False
        self._let_time_pass()
        return not self._ready

    def advance(self, ms: int) -> None:
        """Advance the virtual clock: timers up to the next due time become ready now, the others at their
        time."""
        self._horizon_ms += ms
        self._horizon = self._horizon_ms / 1000
        self._move_clock()

    def run_alone(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end while everything else on the loop is paused."""
        others, self._ready = self._ready, deque()
        try:
            task = self.create_task(coroutine)
            while not task.done() and self.turn():
                pass
        finally:
            self._ready = others + self._ready
        if not task.done():
            task.cancel()
            raise DidNotSettle(
                f"{_name(coroutine)} did not return.", "It should need nothing but the adapter itself."
            )
        return _result(task)

    def alive(self) -> set[asyncio.Task[Any]]:
        """The tasks that have not ended; references are kept, because garbage collection would run their
        clean-up."""
        return {task for task in self._tasks if not task.done()}

    def tasks(self) -> set[asyncio.Task[Any]]:
        """All tasks that are still known, including those that have ended."""
        return set(self._tasks)

    def abandon(self) -> None:
        """Stop for good at this point: nothing on the loop runs again, without any clean-up."""
        for task in self.alive():
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        self._dead = True

    def bury(self) -> None:
        """Close the suspended coroutines of an abandoned loop silently; their clean-up cannot await
        anything."""
        self.abandon()
        suspended = self.alive()
        with Running(self), _unheard():
            for task in self._tasks - suspended:
                raised(task)  # whose frames refer to the task and its callers
            for task in suspended:
                _close(task.get_coro())
        self._tasks.clear()
        self._ready.clear()
        self._timers.clear()

    def run_until_complete(self, future: Any) -> Any:
        task = asyncio.ensure_future(future, loop=self)
        self.settle()
        if not task.done():
            raise DidNotSettle(f"{_where(task)} waits for something that nobody will give.")
        return _result(task)

    def close(self) -> None:
        self.bury()

    # One turn.

    def _turn(self) -> bool:
        if self._dead:
            return False
        self._collect_due()
        if not self._ready and not self.outside.quiet():
            self._ready.extend(self.outside.take())
        self._let_time_pass()
        batch = len(self._ready)
        for _ in range(batch):
            handle = self._ready.popleft()
            if not handle.cancelled():
                handle._run()
        return batch > 0

    def _collect_due(self) -> None:
        due = self._now + CLOCK_RESOLUTION
        while self._timers and self._timers[0][0] <= due:
            self._ready.append(heapq.heappop(self._timers)[2])
        while self._ready and self._ready[0].cancelled():
            self._ready.popleft()

    def _let_time_pass(self) -> None:
        """Advance from timer to timer, within the horizon, until something is ready."""
        while not self._ready and self._now < self._horizon:
            self._move_clock()

    def _move_clock(self) -> None:
        while self._timers and self._timers[0][2].cancelled():
            heapq.heappop(self._timers)
        due = self._timers[0][0] if self._timers else self._horizon
        self._now = max(self._now, min(due, self._horizon))
        self._collect_due()


def _result(task: asyncio.Task[Any]) -> Any:
    """The result of a task; the place of its exception is kept, since only the first call has its frames."""
    try:
        return task.result()
    except BaseException as error:
        keep_place(error)
        raise


def raised(task: asyncio.Task[Any]) -> BaseException | None:
    """The exception of a task, without the frames that refer back to the task."""
    try:
        task.result()  # unlike `exception`, this also drops the frames
    except BaseException as error:
        keep_place(error)
        _forget_frames(error)
        return error
    return None


def _forget_frames(error: BaseException) -> None:
    ahead, known = [error], set()
    while ahead:
        one = ahead.pop()
        one.__traceback__ = None
        known.add(id(one))
        came_from = (one.__cause__, one.__context__)
        ahead += [other for other in came_from if other is not None and id(other) not in known]


@contextmanager
def _unheard() -> Iterator[None]:
    """Suppress errors of code that is being disposed of, which was stopped in the middle."""
    hook = sys.unraisablehook
    sys.unraisablehook = lambda unraisable: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            yield
    finally:
        sys.unraisablehook = hook


def _name(coroutine: Any) -> str:
    return str(getattr(coroutine, "__qualname__", coroutine))


def _close(coroutine: Any) -> None:
    """Close a coroutine after those that it awaits; one that keeps awaiting would outlive its awaiter."""
    chain = [coroutine]
    while (awaited := getattr(chain[-1], "cr_await", None)) is not None:
        chain.append(awaited)
    for link in reversed(chain):
        _close_link(link)


def _close_link(link: Any) -> None:
    for _ in range(CLOSE_ATTEMPTS_MAX):
        try:
            link.close()
        except RuntimeError:  # its clean-up awaited something, or failed; closing a closed one does nothing
            continue
        except BaseException:  # no code is left that could handle it
            return
        return


def _where(task: asyncio.Future[Any]) -> str:
    """Where a task waits, without the folders of this machine: reports of it are kept."""
    if not isinstance(task, asyncio.Task):
        return "A future"
    name = getattr(task.get_coro(), "__qualname__", "A task")
    for frame in task.get_stack(limit=1):
        return f"{name} ({Path(frame.f_code.co_filename).name}:{frame.f_lineno})"
    return name
