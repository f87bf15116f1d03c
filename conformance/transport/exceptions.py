"""Exceptions of an adapter or a runtime in words: type, message, and the file and line that raised them.

An exception of the outside world (a fault, a tool that raises, a refusal) is part of the protocol.  Any
other one is a mistake in the adapter or the runtime, and is reported as such.
"""

from __future__ import annotations

import asyncio
import sysconfig
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from runlock.conformance.protocol.answers import misfit_in_words
from runlock.conformance.protocol.framing import quote
from runlock.conformance.transport.world import Refused, ToolRaised, WorldFault
from runlock.machines import world

WORDS_LIMIT: Final = 300
EXCEPTION: Final = "adapter.error"
"""The kind of the observation that reports an exception."""

OUTSIDE: Final = (
    WorldFault,
    ToolRaised,
    Refused,
    world.WorldFault,
    world.ToolRaised,
    asyncio.CancelledError,
)
SLIPS: Final = (
    NameError, AttributeError, TypeError, ImportError, NotImplementedError, AssertionError,
    ArithmeticError, IndexError, RecursionError,
)  # fmt: skip
"""Types that are never how a runtime turns something down."""

_PLACE: Final = "_runlock_place"
_PACKAGE: Final = Path(__file__).resolve().parents[1]
_LIBRARIES: Final = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
_TESTED: Final = ("adapters", "mutants", "variants", "reference.py")
"""Parts of the kit that are runtimes under test, or adapters of some."""


def error_in_words(error: BaseException) -> str:
    """An exception in one line: its type and message, and the file and line that raised it."""
    return f"{type(error).__name__}: {_words(error)} ({place_of(error)})"


def exception_fields(verb: str, error: BaseException) -> dict[str, Any] | None:
    """The observation of an exception; None for one that comes from the outside world."""
    return None if is_from_outside(error) else {"verb": verb, "error": error_in_words(error)}


def is_from_outside(error: BaseException) -> bool:
    """Whether the outside world raised it, or an exception that led to it."""
    return any(isinstance(one, OUTSIDE) for one in _origins(error))


def _origins(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that led to it; a slip in a handler has no excuse."""
    ahead, known = [error], set()
    while ahead:
        one = ahead.pop()
        if id(one) in known:
            continue
        known.add(id(one))
        yield one
        ahead += getattr(one, "exceptions", ()) if isinstance(one, BaseExceptionGroup) else ()
        led = one.__cause__ or (None if isinstance(one, SLIPS) else one.__context__)
        ahead += [led] if led is not None else []


def keep_place(error: BaseException) -> None:
    """Store the place of an exception whose frames are about to be dropped."""
    if not hasattr(error, _PLACE) and error.__traceback__ is not None and not isinstance(error, OUTSIDE):
        setattr(error, _PLACE, place_of(error))


def place_of(error: BaseException) -> str:
    """The innermost line of the adapter or the runtime; that of a library if there is no other."""
    known = getattr(error, _PLACE, None)
    if known is not None:
        return str(known)
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_relative(error.filename)}:{error.lineno}"
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    raised = [one for one in lines if not _is_ours(one[0])]
    own = [one for one in raised if not _is_library(one[0])]
    innermost = (own or raised)[-1:]
    return f"{_relative(innermost[0][0])}:{innermost[0][1]}" if innermost else "at its call"


def _words(error: BaseException) -> str:
    try:
        words = misfit_in_words(error) if isinstance(error, ValidationError) else " ".join(str(error).split())
    except Exception:
        return "words that cannot be read"
    return quote(words, WORDS_LIMIT) if words else "without words"


@cache
def _is_ours(filename: str) -> bool:
    path = Path(filename).resolve()
    return path.is_relative_to(_PACKAGE) and not set(_TESTED).intersection(path.parts)


def _is_library(filename: str) -> bool:
    return filename.startswith((*_LIBRARIES, "<"))


def _relative(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename
