"""Reserves standard output for results: output of an in-process runtime goes to standard error.

A stream that is closed, or that nothing can be written to, costs what would have been written and no more.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from runlock.conformance.campaign.containment import unclosable
from runlock.conformance.text import plain


@contextlib.contextmanager
def results() -> Iterator[TextIO]:
    """The stream for results, out of reach of all other code in the process, including C code."""
    others = unclosable(sys.stderr)
    with (
        _moved(sys.stdout) as stream,
        contextlib.redirect_stdout(others),
        contextlib.redirect_stderr(others),
    ):
        yield stream


class Lossy:
    """A stream that says once on standard error what kept it from writing; a reader that left is no news."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_lost = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, as far as it is possible."""
        with self._forgiving():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, as far as it is possible."""
        with self._forgiving():
            self._stream.flush()

    @contextlib.contextmanager
    def _forgiving(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            is_news = not (self._is_lost or isinstance(error, BrokenPipeError) or sys.stderr is self)
            self._is_lost = True
            if is_news:
                print(f"runlock: the report could not be written: {_why(error)}.", file=sys.stderr)


def lossy(stream: TextIO) -> TextIO:
    """The same stream, whose failures raise nothing."""
    return cast("TextIO", Lossy(stream))


def open_streams() -> None:
    """Open the standard streams that are closed, so that no file takes their place; none of them fails."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(0)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w")  # noqa: SIM115
    sys.stderr = lossy(sys.stderr or open(2, "w"))  # noqa: SIM115


@contextlib.contextmanager
def said_if_lost(place: object) -> Iterator[None]:
    """Say that a file could not be written, and go on."""
    try:
        yield
    except OSError as error:
        print(f"runlock: {plain(place)} could not be written: {_why(error)}.", file=sys.stderr)


def _why(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else str(error)


@contextlib.contextmanager
def _moved(stdout: TextIO) -> Iterator[TextIO]:
    stdout.flush()
    if _descriptor(stdout) != 1:
        yield stdout
        return
    private = os.dup(1)
    os.dup2(2, 1)
    stream = open(os.dup(private), "w", encoding=stdout.encoding, errors="backslashreplace")  # noqa: SIM115
    safe = lossy(stream)
    try:
        yield safe
    finally:
        safe.flush()
        with contextlib.suppress(OSError):
            stream.close()
        os.dup2(private, 1)
        os.close(private)


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, AttributeError, io.UnsupportedOperation):  # a stream in memory
        return None
