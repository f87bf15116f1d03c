"""An event loop in the kit's hands: one batch of what is ready at a time, on a clock that the kit moves.

Order is that of asyncio's own loop: first in, first out, due timers behind what was ready before them.
There is no selector, so between two turns nothing can happen but what the kit does; this is where a real
loop would poll for input.  Sockets, subprocesses and signals do not exist here.
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
from typing import Any, ClassVar, Final

from runlock.conformance.errors import Blame, RunlockError
from runlock.conformance.transport.asyncio_loop import AsyncioFace

TURNS_MAX: Final = 10_000
CLOCK_RESOLUTION: Final = 1e-6
CLOSE_ATTEMPTS_MAX: Final = 100


class DidNotSettle(RunlockError):
    """The SUT kept moving, or waits for something that only it could give."""

    blame: ClassVar[Blame] = "SUT"


class Running:
    """While a loop runs: whoever asks for the running loop gets it, and its generators are its own."""

    __slots__ = ("hooks", "loop", "outer", "thread")  # entered at every stimulus, so it is no generator

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
    """An asyncio loop that runs only when it is told to."""

    # What the kit does with it.

    def turn(self) -> bool:
        """Run one batch of what is ready; false if there was none."""
        with Running(self):
            return self._turn()

    def run_turns(self, turns: int) -> bool:
        """Run at most so many turns; true if nothing is left to run."""
        with Running(self):
            for _ in range(turns):
                if not self._turn():
                    break
        return self.quiescent()

    def settle(self, limit: int = TURNS_MAX) -> int:
        """Run until only the kit can move the SUT on; gives the number of turns."""
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
        """Whether nothing is ready, no timer is due, and no work is under way outside."""
        self._collect_due()
        if self._ready or not self.outside.quiet():
            return False
        self._let_time_pass()
        return not self._ready

    def advance(self, ms: int) -> None:
        """Let virtual time pass: what falls due first is ready at once, the rest in its time."""
        self._horizon_ms += ms
        self._horizon = self._horizon_ms / 1000
        self._move_clock()

    def run_alone(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end while everything else on the loop stands still."""
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
        return task.result()

    def alive(self) -> set[asyncio.Task[Any]]:
        """The tasks that have not ended, all of which it holds: collecting one would run its clean-up."""
        return {task for task in self._tasks if not task.done()}

    def abandon(self) -> None:
        """Stop for good, where it stands: nothing on it ever runs again, and nobody cleans up."""
        for task in self.alive():
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        self._dead = True

    def bury(self) -> None:
        """End, quietly, what an abandoned loop left suspended; its clean-up has no loop to run on."""
        self.abandon()
        suspended = self.alive()
        for task in self._tasks - suspended:
            raised(task)  # whose frames know the task, and all that called it
        if suspended:
            with Running(self), _unheard():
                for task in suspended:
                    _close(task.get_coro())
        self._tasks.clear()
        self._ready.clear()
        self._timers.clear()

    def run_until_complete(self, future: Any) -> Any:
        task = asyncio.ensure_future(future, loop=self)
        self.settle()
        if not task.done():
            raise DidNotSettle(f"{task!r} waits for something that nobody will give.")
        return task.result()

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
        """Move from timer to timer, within the horizon, until something is ready."""
        while not self._ready and self._now < self._horizon:
            self._move_clock()

    def _move_clock(self) -> None:
        while self._timers and self._timers[0][2].cancelled():
            heapq.heappop(self._timers)
        due = self._timers[0][0] if self._timers else self._horizon
        self._now = max(self._now, min(due, self._horizon))
        self._collect_due()


def raised(task: asyncio.Task[Any]) -> BaseException | None:
    """What a task raised; the frames that it went through lead back to the task, and are let go."""
    try:
        task.result()  # which lets go of them too, unlike `exception`
    except BaseException as error:
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
    """Complaints of code that is being buried are nobody's business: it was stopped where it stood."""
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
    """Close a coroutine, those that it awaits first: one that keeps awaiting would outlive its awaiter."""
    chain = [coroutine]
    while (awaited := getattr(chain[-1], "cr_await", None)) is not None:
        chain.append(awaited)
    for link in reversed(chain):
        _close_link(link)


def _close_link(link: Any) -> None:
    for _ in range(CLOSE_ATTEMPTS_MAX):
        try:
            link.close()
        except RuntimeError:  # its clean-up awaited something, or failed; closing a closed one is nothing
            continue
        except BaseException:  # nobody is left to whom it would matter
            return
        return
