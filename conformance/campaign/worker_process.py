"""A worker process as the supervisor sees it: its connection, its journal, and how it was lost.

An in-process runtime can end the worker, or block it for ever.  Waiting for a process needs a time limit,
which ends in an error and never in a verdict.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.order import Order, Plan
from runlock.conformance.safe_path import SAFE
from runlock.conformance.trace.trace import Trace
from runlock.conformance.transport import guardian
from runlock.conformance.transport.child_process import kill_group, new_cookie, with_cookie
from runlock.conformance.transport.journal import in_flight
from runlock.conformance.transport.stdio import ANSWER_LIMIT_SECONDS, INITIALIZE_LIMIT_SECONDS
from runlock.conformance.wires.settings import address_named

GRACE_SECONDS: Final = 2.0
"""Margin by which the transport's own time limits come first."""

GLANCE_SECONDS: Final = 0.5
WIRE_LIMIT_SECONDS: Final = 150.0
"""How long the first runs behind a wire may take: they start what the kit starts twice.

What the kit starts may also have to be started again later."""

NOT_YET: Final = (0, 0)
_ENTRY: Final = "from runlock.conformance.campaign.worker import main; main()"


@dataclass(frozen=True, slots=True)
class Lost:
    """A lost worker: how it ended, the verb in flight, and the trace before it."""

    how: str
    verb: str
    trace: Trace | None
    is_hung: bool = False

    def __str__(self) -> str:
        at = f" at {self.verb}" if self.verb else ""
        if self.is_hung:
            return f"The runtime did not give its process back{at}; {self.how}."
        return f"The process in which the runtime ran ended{at} with {self.how}."


class WorkerHandle:
    """A worker process; `task` is its current task, `at` the number of its schedules that were started."""

    def __init__(self, order: Order[Plan], journal: Path) -> None:
        ours, theirs = socket.socketpair()
        self.journal = journal
        self.scale = order.timeout_scale
        self._is_in_process = not order.target.startswith("cmd:")  # else a target may have to start again
        self._address = address_named(order.target)
        with theirs:
            cookie = new_cookie()
            guardian.watch(cookie)
            self.process = subprocess.Popen(
                [sys.executable, SAFE, "-c", _ENTRY, str(theirs.fileno()), str(journal)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=2,  # output of the runtime is not a result
                start_new_session=True,  # the supervisor handles the interrupt key
                env=with_cookie({**os.environ, "TMPDIR": str(journal.parent)}, cookie),
            )
        guardian.watch(cookie, self.process.pid)
        self._cookie = cookie.encode()
        self.connection = connection.Connection(ours.detach())
        self.task: Any = None
        self.at = 0
        self.tell((order, list(sys.path)))

    def tell(self, message: Any) -> None:
        """Send a message, from which on its time counts; a lost worker is noticed when it is read."""
        self._last_moved = (self._progress(), time.monotonic())
        with contextlib.suppress(OSError):
            self.connection.send(message)

    def hear(self) -> Any:
        """Its next message, or how it was lost."""
        self._last_moved = (self._progress(), time.monotonic())
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            return self._lost()

    def _lost(self) -> Lost:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE_SECONDS)
        self.kill()
        return Lost(_ending(self.process.returncode), *in_flight(self.journal))

    @property
    def is_hung(self) -> bool:
        """Whether it has made no progress for longer than any answer may take."""
        progress, since = self._last_moved
        if self._progress() != progress:
            self._last_moved = (self._progress(), time.monotonic())
            return False
        return time.monotonic() - since > self.limit_seconds(progress[0])

    def limit_seconds(self, size: int) -> float:
        """How long it may make no progress, when its journal has this size."""
        if self._address is not None and (not size or self._address.is_launched):
            return WIRE_LIMIT_SECONDS * max(self.scale, 1)
        if size and self._is_in_process:
            return (ANSWER_LIMIT_SECONDS + GRACE_SECONDS) * self.scale
        return (INITIALIZE_LIMIT_SECONDS + GRACE_SECONDS) * max(self.scale, 1)  # it has to start first

    def given_up(self) -> Lost:
        """Kill a hung worker, and report where it hung."""
        self.kill()
        return Lost("its worker was ended", *in_flight(self.journal), is_hung=True)

    def _progress(self) -> tuple[int, int]:
        """The size of its journal, and when it was written: the same schedule again has the same size."""
        try:
            seen = self.journal.stat()
        except FileNotFoundError:  # it has not got that far
            return NOT_YET
        return seen.st_size, seen.st_mtime_ns

    def kill(self) -> None:
        """Kill the process and its group, and the processes that it started."""
        kill_group(self.process, self._cookie)
        self.connection.close()


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def heard(workers: Sequence[WorkerHandle]) -> Iterator[tuple[WorkerHandle, Any]]:
    """A message of any of the workers, or how it was lost; None if nothing happens for a moment."""
    ready = connection.wait([worker.connection for worker in workers], GLANCE_SECONDS)
    for worker in workers:
        if worker.connection in ready:
            yield worker, worker.hear()
        elif worker.task is not None and worker.is_hung:
            yield worker, worker.given_up()
