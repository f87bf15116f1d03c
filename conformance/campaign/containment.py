"""Undoes what a runtime in this process changed that is not its own, so that the kit goes on after it.

A runtime in a worker process can change nothing here; one in this process shares its folder, its streams and
Python's modules with the kit.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TextIO, cast


class Unclosable:
    """A stream that nothing closes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Only flush."""
        with suppress(ValueError, OSError):
            self._stream.flush()

    def detach(self) -> Any:
        """Refuse, as a stream in memory does."""
        raise ValueError("this stream cannot be detached")


def unclosable(stream: TextIO) -> TextIO:
    """The same stream, which code of a runtime cannot close."""
    return cast("TextIO", Unclosable(stream))


@contextmanager
def contained() -> Iterator[None]:
    """Restore the current folder, the streams and the module `random` after a runtime ran here."""
    folder, known, process = os.getcwd(), dict(vars(random)), os.getpid()
    with redirect_stdout(unclosable(sys.stdout)), redirect_stderr(unclosable(sys.stderr)):
        try:
            yield
        finally:
            end_if_forked(process)
            vars(random).update(known)
            with suppress(OSError):  # the folder is gone
                os.chdir(folder)


def end_if_forked(process: int) -> None:
    """End this process if it is a child that a runtime forked, which would go on as if it were the kit."""
    if os.getpid() != process:
        os._exit(1)
