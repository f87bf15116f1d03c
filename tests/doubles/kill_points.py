"""Ways to die: at a counted line of the runtime, at an instant of its store, in the middle of a write."""

import asyncio
import contextlib
import os
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
from pathlib import Path

from kill_scenario import live

from runlock.machines.lifecycle.runtime import store as store_module

WATCHED = str(Path(store_module.__file__).parent)
MACHINE_STEPS = 40  # of SQLite, between two instants


class Reaper:
    """Counts instants, and kills the process at one of them; `seen` are the kinds that went by."""

    def __init__(self, at=0):
        self.at = at
        self.seen = []

    def instant(self, kind):
        """Something is about to happen."""
        self.seen.append(kind)
        if len(self.seen) == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextlib.contextmanager
    def watching_lines(self):
        """Count the lines that the runtime and its store execute."""
        sys.settrace(self._entered)
        try:
            yield
        finally:
            sys.settrace(None)

    def _entered(self, frame, event, _):
        return self._line if frame.f_code.co_filename.startswith(WATCHED) else None

    def _line(self, frame, event, _):
        if event == "line":
            self.instant("line")
        return self._line

    @contextlib.contextmanager
    def watching_store(self):
        """Count what goes on in SQLite: before, inside and after each operation."""
        connect = sqlite3.connect
        sqlite3.connect = lambda *where, **how: self._hooked(connect(*where, **how, factory=Watched))
        try:
            yield
        finally:
            sqlite3.connect = connect

    def _hooked(self, connection):
        connection.instant = self.instant
        connection.set_trace_callback(lambda _: self.instant("inside: statement"))
        connection.set_progress_handler(lambda: self.instant("inside: machine"), MACHINE_STEPS)
        return connection


def _counted(name):
    def operation(self, *about):
        self.instant("before")
        result = getattr(sqlite3.Connection, name)(self, *about)
        self.instant("after")
        return result

    return operation


class Watched(sqlite3.Connection):
    """A connection that tells when an operation begins and when it is over."""

    execute = _counted("execute")
    executescript = _counted("executescript")
    close = _counted("close")


def at_line(folder, case, at):
    """A life in a child that dies at a line, if it comes so far; whether it did."""
    return _in_a_child(lambda: _live_under(Reaper(at).watching_lines(), folder, case))


def in_store(folder, case, at):
    """A life in a child that dies at an instant of its store, if it comes so far; whether it did."""
    return _in_a_child(lambda: _live_under(Reaper(at).watching_store(), folder, case))


def _live_under(watch, folder, case):
    with watch:
        asyncio.run(live(folder, case))


def instants(case):
    """How many lines a life has that nothing ends, and the kinds of the instants of its store."""
    lines, store = Reaper(), Reaper()
    for watch in (lines.watching_lines(), store.watching_store()):
        with folder_for_one() as folder:
            _live_under(watch, folder, case)
    return len(lines.seen), store.seen


def tear(folder, case, size):
    """A life in a child that dies where it writes beyond a size, in any file; whether it did."""
    return _in_a_child(lambda: _torn(folder, case, size))


def _torn(folder, case, size):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    asyncio.run(live(folder, case))


def _in_a_child(work):
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise AssertionError("a life broke before its death; its traceback is on standard error")
    return os.WIFSIGNALED(status)


@contextlib.contextmanager
def folder_for_one():
    """An empty folder, in memory where there is such: a kill does not reach the disk."""
    memory = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="killed-", dir=memory if memory.is_dir() else None)
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder)
