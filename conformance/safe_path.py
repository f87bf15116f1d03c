"""Starts Python processes that import nothing from the current folder.

Python puts that folder first on the path of modules, where a file `socket.py` would replace Python's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Final

SAFE: Final = "-P"
"""The option of Python that keeps the current folder off the path of modules."""

_VARIABLE: Final = "PYTHONSAFEPATH"
"""The environment variable that does the same, for processes whose options the standard library chooses."""


def spawned(jobs: int, initializer: Callable[[], None] | None = None) -> ProcessPoolExecutor:
    """A pool of that many processes; they are spawned, since a database does not survive a fork."""
    as_set = os.environ.get(_VARIABLE)
    with _safe_path():  # its queues start a process too
        return ProcessPoolExecutor(jobs, _Context(), _begin, (as_set, initializer))


class _Process(SpawnProcess):
    def start(self) -> None:
        with _safe_path():
            super().start()


class _Context(SpawnContext):
    Process = _Process


@contextmanager
def _safe_path() -> Iterator[None]:
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = "1"
    try:
        yield
    finally:
        _restore(before)


def _begin(variable: str | None, initializer: Callable[[], None] | None) -> None:
    """Begin a process of the pool, whose own children get the variable as the user has set it."""
    _restore(variable)
    if initializer is not None:
        initializer()


def _restore(variable: str | None) -> None:
    if variable is None:
        os.environ.pop(_VARIABLE, None)
    else:
        os.environ[_VARIABLE] = variable
