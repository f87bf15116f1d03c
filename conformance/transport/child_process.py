"""One incarnation of a child process: its process group, its three pipes, and the lines of its output.

The child leads its own process group.  Ending it ends the whole group, and every process that left the
group but has the child's cookie in its environment (if there is a /proc).  There are no threads: one `poll`
watches standard input, output and error, so a child that floods any of them, or reads nothing, blocks
nothing.  Waiting for a process needs a time limit, the only wall clock of the kit; it ends in an error and
never in a verdict.  POSIX only.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import select
import signal
import subprocess
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from runlock.conformance.protocol.framing import LINE_LIMIT_BYTES
from runlock.conformance.transport import guardian

LEAVE_LIMIT_SECONDS: Final = 1.0
"""How long a process may take to end after it closed its output or was asked to end."""

STDERR_TAIL_BYTES: Final = 16 * 1024
_NAMES_AN_ERROR: Final = re.compile(rb"(?=\S).*?(?:Error|Exception|[Pp]anic|panicked)\b.*:")
_CHUNK_BYTES: Final = 64 * 1024
_COOKIE: Final = "RUNLOCK_CHILD"
_NUMBERS: Final = itertools.count(1)
_ROUNDS_MAX: Final = 8  # rounds of searching for processes that fork while they are being killed
_GLANCE_SECONDS: Final = 0.05  # how soon a dead child is noticed whose own child still has its output open


def new_cookie() -> str:
    """An entry of the environment by which a child and its descendants can be found."""
    return f"{_COOKIE}_{os.getpid()}_{next(_NUMBERS)}=1"


def with_cookie(env: Mapping[str, str], cookie: str) -> dict[str, str]:
    """An environment with one cookie more: a child of a worker also has that of the worker."""
    return {**env, cookie.removesuffix("=1"): "1"}


class Silent(Exception):
    """No line arrived: standard output `is_closed`, or the time limit passed."""

    def __init__(self, is_closed: bool) -> None:
        super().__init__()
        self.is_closed = is_closed


class EndlessLine(Exception):
    """A line exceeded the limit of the protocol."""


START: Final = "RUNLOCK_START"
"""The variable with the number of a process, which is larger in each one that is started.

A runtime whose time of day begins anew in each process begins later than the one that was killed.
"""

_STARTS: Final = itertools.count(1)

HASH_SEED: Final = {"PYTHONHASHSEED": "0"}
"""With it a Python runtime has the same order of sets in every check; the user's own setting goes first."""


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    return {**HASH_SEED, **given, START: str(next(_STARTS))}


class Child:
    """A process in its own group; `unread` holds output that has not been consumed."""

    def __init__(
        self,
        argv: Sequence[str],
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        cookie = new_cookie()
        guardian.watch(cookie)
        self._process = subprocess.Popen(
            argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=with_cookie(_environment(os.environ if env is None else env), cookie),
            start_new_session=True,
        )
        guardian.watch(cookie, self._process.pid)
        self._cookie = cookie.encode()
        # Also at interpreter exit, and if the owner forgot it: no orphan is left.
        self._finalizer = weakref.finalize(self, _end_group, self._process, self._cookie)
        self._stdin, self._stdout, self._stderr = _descriptors(self._process)
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)
        self._poll.register(self._stderr, select.POLLIN)
        self._tail = bytearray()
        self._is_closed = False
        self.unread = bytearray()

    @property
    def pid(self) -> int:
        """The process id, which is also that of the group."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """The exit status: negative for a signal, None while it runs."""
        return self._process.poll()

    def converse(self, line: bytes, limit_seconds: float) -> bytes:
        """Send the line and return the next one that the child writes; `Silent` if there is none."""
        deadline = time.monotonic() + limit_seconds
        unsent = self._write(memoryview(line))
        if unsent:
            self._poll.register(self._stdin, select.POLLOUT)
        while self.unread.find(b"\n", max(0, len(self.unread) - _CHUNK_BYTES)) < 0:
            if len(self.unread) > LINE_LIMIT_BYTES:
                raise EndlessLine
            if self._is_closed:
                self._await_exit(min(deadline, time.monotonic() + LEAVE_LIMIT_SECONDS))
                raise Silent(is_closed=True)
            unsent = self._turn(unsent, deadline)
        return self.take_line()

    def read_what_is_there(self) -> None:
        """Read what has arrived since the last answer, without waiting."""
        self._read_stdout()

    def take_line(self) -> bytes:
        """The first unread line, or all unread bytes if no line is complete."""
        end = self.unread.find(b"\n")
        line = bytes(self.unread) if end < 0 else bytes(self.unread[:end])
        if len(line) > LINE_LIMIT_BYTES:
            raise EndlessLine
        del self.unread[: len(line) + 1]
        return line

    def last_words(self) -> bytes:
        """The last line on standard error that names an error, or else the last line with content.

        Some runtimes print more after the error: where it was, their own version or how to learn more.
        """
        lines = [line for line in self._tail.splitlines() if line.strip()]
        telling = [line for line in lines if _NAMES_AN_ERROR.match(line)] or lines
        return bytes(telling[-1].strip()) if telling else b""

    def leave(self) -> None:
        """Close standard input, and wait as long as a well-behaved process may take to end."""
        stream = self._process.stdin
        if stream is not None:
            stream.close()
        self._await_exit(time.monotonic() + LEAVE_LIMIT_SECONDS)

    def end(self) -> None:
        """Kill the process group; its output on standard error stays in `last_words`."""
        kill_group(self._process, self._cookie)
        for _ in range(16):  # bounded: a process that left the group may keep writing
            if not self._read_stderr():
                break
        self._finalizer.detach()
        _close_pipes(self._process)

    def _write(self, unsent: memoryview) -> memoryview:
        try:
            return unsent[os.write(self._stdin, unsent) :]
        except BlockingIOError:
            return unsent
        except BrokenPipeError:  # it reads no more: its last answer or its end decides
            return unsent[:0]

    def _turn(self, unsent: memoryview, deadline: float) -> memoryview:
        """Wait briefly until something can be read or written, and do it."""
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise Silent(is_closed=False)
        ready = self._poll.poll(min(remaining, _GLANCE_SECONDS) * 1000)
        for descriptor, _ in ready:
            if descriptor == self._stdout:
                self._read_stdout()
            elif descriptor == self._stderr:
                self._read_stderr()
            else:
                unsent = self._write(unsent)
                if not unsent:
                    self._poll.unregister(self._stdin)
        if not ready and self.exit_code() is not None:
            self._read_stdout()  # output between the poll and the end of the process
            self._is_closed = True
        return unsent

    def _read_stdout(self) -> None:
        try:
            chunk = os.read(self._stdout, _CHUNK_BYTES)
        except BlockingIOError:
            return
        self.unread += chunk
        if not chunk and not self._is_closed:
            self._is_closed = True
            self._poll.unregister(self._stdout)

    def _read_stderr(self) -> int:
        try:
            chunk = os.read(self._stderr, _CHUNK_BYTES)
        except BlockingIOError:
            return 0
        if not chunk:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._stderr)
        self._tail += chunk
        del self._tail[:-STDERR_TAIL_BYTES]
        return len(chunk)

    def _await_exit(self, deadline: float) -> None:
        while self.exit_code() is None and time.monotonic() < deadline:
            if not self._read_stderr():  # a process that writes without end would keep us here
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_GLANCE_SECONDS)


def _descriptors(process: subprocess.Popen[bytes]) -> tuple[int, int, int]:
    assert process.stdin and process.stdout and process.stderr
    numbers = (process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno())
    for number in numbers:
        os.set_blocking(number, False)
    return numbers


def _end_group(process: subprocess.Popen[bytes], cookie: bytes) -> None:
    kill_group(process, cookie)
    _close_pipes(process)


def kill_group(process: subprocess.Popen[bytes], cookie: bytes) -> None:
    """Kill a process with its group, and every descendant that left the group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for _ in range(_ROUNDS_MAX):
        strays = list(_bearers(cookie))
        if not strays:
            break
        for pid in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    guardian.forget(cookie.decode())


def _bearers(cookie: bytes) -> Iterator[int]:
    """The processes with this cookie in their environment, without those that are already dead."""
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # it belongs to another user, or ended meanwhile
            if cookie in file.read_bytes().split(b"\0"):
                yield int(file.parent.name)


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
