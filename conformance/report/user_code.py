"""Where in the user's own code a finding belongs, as far as a result tells; nothing is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

RAISED: Final = re.compile(r"\(([^()\s]+):([0-9]+)\)$")
"""How the words of an exception end: with the file and the line that raised it."""


class Place(NamedTuple):
    """A file, relative to the working directory, and a line of it from 1."""

    file: str
    line: int


def place_of_target(target: str, method: str) -> Place | None:
    """A method of the adapter, or else the adapter itself; None if its file is not here."""
    kind, _, named = target.partition(":")
    module, _, name = named.partition(":")
    if kind != "py" or not all(part.isidentifier() for part in (*module.split("."), name)):
        return None
    path = next(filter(Path.is_file, _files(module)), None)
    return None if path is None else Place(path.as_posix(), _line(path, name, method))


def place_of_exception(error: str) -> Place | None:
    """Where an exception was raised, if that file is below the working directory."""
    found = RAISED.search(error)
    if found is None or Path(found[1]).is_absolute() or not Path(found[1]).is_file():
        return None
    return Place(Path(found[1]).as_posix(), int(found[2]))


def _files(module: str) -> Iterator[Path]:
    """The files that may hold a module, in a project with or without a folder `src`."""
    for root in (Path(), Path("src")):
        path = root.joinpath(*module.split("."))
        yield from (path.with_suffix(".py"), path / "__init__.py")


def _line(path: Path, name: str, method: str) -> int:
    try:
        module = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return 1
    for one in ast.walk(module):
        if getattr(one, "name", "") == name and isinstance(one, (ast.ClassDef, ast.FunctionDef)):
            inner = (part for part in one.body if getattr(part, "name", "") == method)
            return next(inner, one).lineno
    return 1
