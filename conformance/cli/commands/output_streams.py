"""Reserves standard output for results: output of an in-process runtime goes to standard error."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from runlock.conformance.campaign.containment import unclosable


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


@contextlib.contextmanager
def _moved(stdout: TextIO) -> Iterator[TextIO]:
    stdout.flush()
    if _descriptor(stdout) != 1:
        yield stdout
        return
    private = os.dup(1)
    os.dup2(2, 1)
    stream = open(os.dup(private), "w", encoding=stdout.encoding, errors="backslashreplace")  # noqa: SIM115
    try:
        yield stream
    finally:
        with contextlib.suppress(BrokenPipeError):
            stream.close()
        os.dup2(private, 1)
        os.close(private)


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, AttributeError, io.UnsupportedOperation):  # a stream in memory
        return None
