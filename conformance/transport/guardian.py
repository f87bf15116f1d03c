"""A guardian: a small process that kills the children of the kit when the kit ends, however it ends.

The kit holds the only write end of a pipe to it.  When the kit ends, even by SIGKILL, the operating system
closes the pipe, and the guardian kills each registered process group, and (if there is a /proc) every process
that has the cookie of one in its environment.  Then it removes the temporary folders.  It works on any POSIX
system.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from multiprocessing import connection
from typing import Final

from runlock.conformance.errors import RunlockError

WAIT_SECONDS: Final = 5.0

# Lines are `+COOKIE GROUP`, `-COOKIE` and `/FOLDER`; a group is 0 until the process has started.
_PROGRAM: Final = r"""
import json, os, shutil, signal, sys
known, folders = {}, set()
for line in sys.stdin:
    if line[0] == "/":
        folders.add(json.loads(line[1:]))
        continue
    cookie, _, group = line[1:].strip().partition(" ")
    if line[0] == "+":
        known[cookie] = int(group)
    else:
        known.pop(cookie, None)
def kill(send, number):
    try:
        send(number, signal.SIGKILL)
    except OSError:
        pass
for group in known.values():
    if group:
        kill(os.killpg, group)
wanted = {cookie.encode() for cookie in known}
for _ in range(8):
    if not wanted or not os.path.isdir("/proc/self"):
        break
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/" + name + "/environ", "rb") as file:
                    if not wanted.isdisjoint(file.read().split(b"\0")):
                        found.append(int(name))
            except OSError:
                pass
    if not found:
        break
    for number in found:
        kill(os.kill, number)
for folder in folders:
    shutil.rmtree(folder, ignore_errors=True)
"""


@dataclass(slots=True)
class _Guardian:
    """The guardian of the process `owner`."""

    owner: int
    process: subprocess.Popen[bytes]

    def tell(self, line: str) -> None:
        """Send one line; a guardian that was killed does not stop the kit."""
        stream = self.process.stdin
        with contextlib.suppress(OSError, ValueError):
            if stream is not None:
                stream.write(line.encode())

    def leave(self) -> None:
        """Let the guardian kill what is still registered, and end."""
        if self.owner == os.getpid() and self.process.stdin is not None:
            self.process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(WAIT_SECONDS)


@dataclass(slots=True)
class _State:
    """The guardian of this process, and the parent on which it depends if it is a worker."""

    guardian: _Guardian | None = None
    parent: int | None = None


_STATE: Final = _State()


def remember_parent() -> None:
    """A worker depends on the process that started it."""
    _STATE.parent = os.getppid()


def refuse_orphan() -> None:
    """Raise if this is a worker whose supervisor is gone: it starts no target any more."""
    if _STATE.parent is not None and os.getppid() != _STATE.parent:
        raise RunlockError("The process that started this worker is gone.")


def end_with_parent() -> None:
    """Let this process of a pool end when the process that started it has ended, even by SIGKILL."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_outlive_nobody, args=(parent.sentinel,), daemon=True).start()


def _outlive_nobody(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)  # the guardian of this process, if it has one, ends its children


def watch(cookie: str, group: int = 0) -> None:
    """Register a child before it starts, and again with its process group."""
    _guardian().tell(f"+{cookie} {group}\n")


def tidy(folder: str) -> None:
    """Remove a temporary folder when the kit has ended, if it is still there."""
    _guardian().tell(f"/{json.dumps(folder)}\n")


def forget(cookie: str) -> None:
    """A child was killed with its whole group."""
    if _STATE.guardian is not None and _STATE.guardian.owner == os.getpid():
        _STATE.guardian.tell(f"-{cookie}\n")


def _guardian() -> _Guardian:
    """The guardian of this process, which is started for the first child; a forked process has its own."""
    if _STATE.guardian is None or _STATE.guardian.owner != os.getpid():
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _STATE.guardian = _Guardian(os.getpid(), process)
        atexit.register(_STATE.guardian.leave)
    return _STATE.guardian
