"""Work that kills the Ray worker which does it, once."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from cli_fakes import ExecutesRejected

from runlock.conformance.audit.engine import Workers
from runlock.conformance.audit.summary import Summary

MARK = "LOST_WORKERS_MARK"
"""The environment variable that names the file which says that a worker was killed."""


def is_first(mark: Path) -> bool:
    """Whether nothing has made this file before."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


class KillsItsRayWorker(ExecutesRejected):
    """Where a file is named, it kills the process that started its own at the first decision."""

    def executes(self, action: str) -> bool:
        """The Ray worker is lost in the middle of a unit."""
        mark = os.environ.get(MARK)
        if mark is not None and is_first(Path(mark)):
            os.kill(os.getppid(), signal.SIGKILL)
        return True


def killed_once(mark: Path, work: Callable[..., Summary], *arguments: Any) -> Summary:
    """The first time, this process is killed after its work is done and before it says so."""
    done = work(*arguments)
    if is_first(mark):
        os.kill(os.getpid(), signal.SIGKILL)
    return done


class Losing:
    """Workers of an audit, of which one is lost in each kind of work."""

    def __init__(self, workers: Workers, folder: Path) -> None:
        self._workers, self._folder = workers, folder

    def run(self, work: Callable[..., Summary], of: Iterable[tuple[Any, ...]]) -> Iterator[Summary]:
        """The results of the calls."""
        mark = self._folder / work.__name__
        yield from self._workers.run(killed_once, ((mark, work, *arguments) for arguments in of))
