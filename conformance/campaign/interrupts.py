"""Interrupts: the interrupt key, SIGTERM and SIGHUP all let a campaign end with what it has judged so far."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

TERMINATIONS: Final = (signal.SIGTERM, signal.SIGHUP)
INTERRUPTS: Final = (signal.SIGINT, *TERMINATIONS)
INTERRUPTED: Final = "it was interrupted"
"""Why a result is partial that decides nothing but what it broke."""

OUT_OF_TIME: Final = "its time was over"


@dataclass(slots=True)
class Limits:
    """The limits of a campaign, and which of them cut it off."""

    deadline: float | None = None
    cut_off: str = ""
    is_terminated: bool = False  # by SIGTERM or SIGHUP, after which little time is left

    @staticmethod
    def of(budget_seconds: float | None) -> Limits:
        """Limits that start now."""
        return Limits(None if budget_seconds is None else time.monotonic() + budget_seconds)

    @property
    def is_over(self) -> bool:
        """Whether the time is over, which is then the reason for the cut-off."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            self.cut_off = self.cut_off or OUT_OF_TIME
        return bool(self.cut_off)


Handler = Callable[[int, Any], Any] | signal.Handlers


@contextmanager
def polite_interrupt(limits: Limits, *, ends_a_hang: bool = False) -> Iterator[None]:
    """Let a first interrupt wait for the end of the schedule; a second one takes effect at once.

    The runtime could catch an exception in the middle of a schedule, and one in the middle of a message would
    break the conversation with a worker.  With `ends_a_hang`, a termination takes effect at once, since a
    target in this process could hang and use up the time that is left.
    """

    def interrupt(number: int, _: object) -> None:
        limits.cut_off = INTERRUPTED
        limits.is_terminated = limits.is_terminated or number in TERMINATIONS
        _handle(signal.default_int_handler)
        if limits.is_terminated and ends_a_hang:
            raise KeyboardInterrupt

    with _handled_by(interrupt):
        yield


@contextmanager
def impatient() -> Iterator[None]:
    """Let an interrupt take effect at once, where it costs nothing that was judged."""
    with _handled_by(signal.default_int_handler):
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """Let an interrupt wait until this is done, which takes only a moment."""
    came: list[int] = []
    with _handled_by(lambda number, _: came.append(number)):
        yield
    if came:
        raise KeyboardInterrupt


def ignore_interrupts() -> None:
    """Ignore interrupts from here on, since everything is done."""
    _handle(signal.SIG_IGN)


@contextmanager
def _handled_by(handler: Handler) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # signals can only be handled there
        yield
        return
    before = _handle(handler)
    try:
        yield
    finally:
        for one, earlier in before.items():
            signal.signal(one, earlier)


def _handle(handler: Handler) -> dict[signal.Signals, Any]:
    """Set the handler of each interrupt, except one that is ignored, as SIGHUP is under `nohup`."""
    heard = [one for one in INTERRUPTS if one == signal.SIGINT or signal.getsignal(one) != signal.SIG_IGN]
    return {one: signal.signal(one, handler) for one in heard}
