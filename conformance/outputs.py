"""Writes output files, and never through a symbolic link.

A folder may come from another person, and a link in it may lead to any file of the user.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from runlock.conformance.errors import UsageError

STREAMS: Final = frozenset(("/dev/stdout", "/dev/stderr"))
"""Links of the system, which a user may name as an output; so are those in `/dev/fd`."""


def refuse_link(folder: Path) -> None:
    """Raise a `UsageError` for a folder that is a link."""
    if folder.is_symlink():
        raise UsageError(f"The folder {folder} is a link, which is not followed.", "Name the folder itself.")


def no_link(path: str, flags: int) -> int:
    """The opener of a file, as `open` takes one, that refuses a link but `/dev/stdout` and its like."""
    where = os.path.abspath(path)
    is_stream = where in STREAMS or os.path.dirname(where) == "/dev/fd"
    try:
        return os.open(path, flags if is_stream else flags | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link, which is not followed", path) from None
        raise


def write(path: Path, content: str | bytes) -> Path:
    """Write a file; a lone surrogate, which UTF-8 cannot encode, is written as its escape sequence."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    with open(path, "wb", opener=no_link) as file:
        file.write(data)
    return path


def replace(path: Path, text: str) -> None:
    """Replace a file atomically: a reader sees the old one or the new one."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)  # of a process that was killed, or a link
    try:
        with fresh.open("x", encoding="utf-8") as file:
            file.write(text)
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
