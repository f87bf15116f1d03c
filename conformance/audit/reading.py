"""Finds the files of an audit, and reads their records: JSON Lines, JSON, server-sent events or Parquet."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import cache
from glob import glob, has_magic
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any, Final, cast

from runlock.conformance.audit.recording import Unreadable
from runlock.conformance.errors import UsageError
from runlock.conformance.extras import the_module

ENDINGS: Final = (".jsonl", ".ndjson", ".json", ".sse", ".parquet")
PACKED: Final = (".gz", ".zst")
NOISE: Final = (b"event:", b"id:", b"retry:", b":")
"""Lines of a stream of server-sent events that hold no data."""

OWN_RESULT: Final = "result.json"
"""What `check` and `audit` leave next to their traces; in a folder it is no recording."""

BATCH: Final = 2_000


def files_of(paths: list[str]) -> Iterator[Path]:
    """Every file that the paths name, in a fixed order; each must name at least one."""
    for path in paths:
        found = sorted(map(Path, glob(path, recursive=True))) if has_magic(path) else [Path(path)]
        files = [file for one in found for file in _files_in(one)]
        if not files:
            raise UsageError(f"{path} names no recording.", f"Recordings end in {', '.join(ENDINGS)}.")
        yield from files


def _files_in(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise UsageError(f"{path} does not exist.")
        return [path]
    found = (file for file in path.rglob("*") if file.is_file() and _ending(file) in ENDINGS)
    return sorted(file for file in found if file.name != OWN_RESULT)


def _ending(path: Path) -> str:
    return Path(path.stem).suffix if path.suffix in PACKED else path.suffix


def records_of(path: Path) -> Generator[Any, None, None]:
    """The JSON values of a file, in its order; `Unreadable` stands for a line that is none.

    A file that breaks off in its last line was cut while it was written: what there is of that line is left
    out.
    """
    if _ending(path) == ".parquet":
        yield from _parquet(path)
        return
    with _opened(path) as stream:
        yield from _lines(stream, is_document=_ending(path) == ".json")


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a file, with its bytes that are no UTF-8 escaped."""
    with TextIOWrapper(_opened(path), encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
        try:
            yield from stream
        except EOFError:  # a compressed file breaks off
            return


def values_of(lines: Iterable[str], first: int) -> Iterator[Any]:
    """The JSON values of lines, the first of which has this number in its file."""
    for number, line in enumerate(lines, first):
        for value in _lines(BytesIO(line.encode("utf-8", "surrogateescape")), is_document=False):
            yield Unreadable(number, value.why) if isinstance(value, Unreadable) else value


def is_text(path: Path) -> bool:
    """Whether a file holds one record a line, as text."""
    return _ending(path) not in (".parquet", ".json", ".sse")


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.suffix == ".zst":
        return cast("IO[bytes]", BufferedReader(the_module("zstandard").open(str(path), "rb")))
    return path.open("rb")


def _lines(stream: IO[bytes], *, is_document: bool) -> Iterator[Any]:
    loads = decoder()
    number = 0
    for number, line in enumerate(_until_cut(stream), 1):
        text = _data(line)
        if not text:
            continue
        try:
            value = loads(text)
        except (ValueError, RecursionError) as error:
            if is_document and number == 1:
                yield from _document(line + stream.read())
                return
            if line.endswith(b"\n"):
                yield Unreadable(number, str(error))
            continue
        yield from value if is_document and isinstance(value, list) else (value,)


def _until_cut(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a stream, up to where a compressed file breaks off."""
    try:
        yield from stream
    except EOFError:
        return


def _document(text: bytes) -> Iterator[Any]:
    """A file that is one JSON value over several lines; a list counts as its elements."""
    try:
        value = decoder()(text)
    except (ValueError, RecursionError) as error:
        yield Unreadable(1, str(error))
        return
    yield from value if isinstance(value, list) else (value,)


def _data(line: bytes) -> bytes:
    """The JSON text of a line; server-sent events have it after `data:`."""
    text = line.strip()
    if text.startswith(b"data:"):
        text = text[5:].strip()
        return b"" if text == b"[DONE]" else text
    return b"" if text.startswith(NOISE) else text


@cache
def decoder() -> Callable[[bytes], Any]:
    """The fastest JSON parser that is installed; what a strict one refuses, the standard one may read."""
    try:
        from orjson import loads
    except ImportError:
        return json.loads

    def decoded(text: bytes) -> Any:
        try:
            return loads(text)
        except ValueError:
            return json.loads(text)

    return decoded


def _parquet(path: Path) -> Iterator[Any]:
    """The rows of a Parquet file: its one text column as JSON, or else the columns as an object."""
    found = the_module("duckdb").connect().execute("select * from read_parquet(?)", [str(path)])
    names, loads = [column[0] for column in found.description], decoder()
    number = 0
    while rows := found.fetchmany(BATCH):
        for row in rows:
            number += 1
            if len(names) > 1 or not isinstance(row[0], str | bytes):
                yield dict(zip(names, row, strict=True))
                continue
            try:
                yield loads(row[0] if isinstance(row[0], bytes) else row[0].encode())
            except ValueError as error:
                yield Unreadable(number, str(error))
