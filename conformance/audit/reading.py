"""Finds the files of an audit, and reads their records: JSON Lines, JSON, server-sent events or Parquet."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import cache
from glob import glob, has_magic
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from runlock.conformance.audit.accepted import ACCEPTED
from runlock.conformance.audit.long_documents import elements
from runlock.conformance.audit.recording import Unreadable
from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import PACKED, Lines, NotJson, TooLong, decoded, is_parquet, rows_of

ENDINGS: Final = (".jsonl", ".ndjson", ".json", ".sse", ".parquet")
NOISE: Final = (b"event:", b"id:", b"retry:", b":")
"""Lines of a stream of server-sent events that hold no data."""

WHOLE: Final = ("events", "spans", "records", "data", "runs")
"""The names under which a document that is one object has its records."""

ALONE: Final = (*WHOLE, "messages", "input", "items", "conversation")
"""The names under which a document that is too long to be parsed has records, which stand alone then."""

AGAIN: Final = re.compile(rb"(?<=[}\]])\s*\n(?=[\[{])")
"""Where a document ends and another one begins, each at the beginning of a line."""

RECORD: Final = frozenset({"type", "name", "role", "attributes", "resourceSpans", "uuid", "history"})
"""Keys of an object that is a record itself."""

OWN: Final = frozenset({"result.json", ACCEPTED})
"""What the kit itself leaves in folders, which is no recording."""

BEGINNINGS: Final = (b"{", b"[", b"data:", b"event:", b"PAR1")
"""What a file of records may begin with, whatever its name."""

Incident = Callable[[str], None]
"""Takes a sentence about a file that is not whole."""


def files_of(paths: list[str]) -> Iterator[Path]:
    """Every file that the paths name, in a fixed order; each must name at least one.

    The name of a file that exists is no pattern, whatever is in it.
    """
    for path in paths:
        is_pattern = has_magic(path) and not Path(path).exists()
        found = sorted(map(Path, glob(path, recursive=True))) if is_pattern else [Path(path)]
        files = [file for one in found for file in _files_in(one)]
        if not files:
            raise UsageError(f"{path} names no recording.", "Recordings are JSON, JSON Lines or Parquet.")
        yield from files


def _files_in(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise UsageError(f"{path} does not exist.")
        return [path]
    found = (file for file in path.rglob("*") if file.is_file() and file.name not in OWN)
    return sorted(file for file in found if is_named(file) or _may_hold_records(file))


def is_named(path: Path) -> bool:
    """Whether the name of a file says that it holds records."""
    return _ending(path) in ENDINGS


def _may_hold_records(path: Path) -> bool:
    """Whether a file begins as records do; one that cannot be opened holds none."""
    try:
        with path.open("rb") as file:
            return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(BEGINNINGS)
    except OSError:
        return False


def _ending(path: Path) -> str:
    return Path(path.stem).suffix if path.suffix in PACKED else path.suffix


def records_of(path: Path, incident: Incident = lambda _: None) -> Generator[Any, None, None]:
    """The JSON values of a file, in its order; `Unreadable` stands for a line that is none."""
    for _, value in placed_of(path, incident):
        yield value


def placed_of(path: Path, incident: Incident) -> Generator[tuple[int, Any], None, None]:
    """The JSON values of a file, each with its line, or with its row in Parquet.

    A file that breaks off in its last line was cut while it was written.  That is an incident, and what there
    is of that line is left out.
    """
    if is_parquet(path):
        yield from enumerate(_of_rows(path), 1)
        return
    lines = Lines(path)
    yield from _values(lines)
    if lines.broke_off:
        incident(lines.broke_off)


def lines_of(path: Path, incident: Incident) -> Iterator[str]:
    """The lines of a file, with its bytes that are no UTF-8 escaped; as `records_of` if it breaks off."""
    lines = Lines(path)
    for number, line in enumerate(lines, 1):
        if line.endswith(b"\n") or _is_json(line):
            yield line.decode("utf-8", "surrogateescape")
        else:
            lines.cut_after(number - 1)
    if lines.broke_off:
        incident(lines.broke_off)


def values_of(lines: Iterable[str], first: int) -> Iterator[Any]:
    """The JSON values of lines, the first of which has this number in its file."""
    for number, line in enumerate(lines, first):
        if text := _data(line.encode("utf-8", "surrogateescape")):
            yield _value(number, text)


def is_text(path: Path) -> bool:
    """Whether a file holds one record a line, as text."""
    return _ending(path) not in (".parquet", ".json", ".sse") and not is_parquet(path)


def _values(lines: Lines) -> Iterator[tuple[int, Any]]:
    """The values of lines, or those of a document: one value over all lines, or alone on one.

    What is in a document over many lines has line 0, since its parser does not say where it stands.
    """
    every = ((number, line) for number, line in enumerate(lines, 1) if _data(line))
    try:
        head = list(islice(every, 2))
        document = _document(lines, head, every) if head else None
    except TooLong:
        yield from ((0, _element(key, text)) for key, text in elements(lines.path))
        return
    if document is not None:
        place = head[0][0] if len(head) == 1 else 0
        yield from ((place, value) for value in document)
        return
    for number, line in chain(head, every):
        value = _value(number, _data(line))
        if isinstance(value, Unreadable) and not line.endswith(b"\n"):
            lines.cut_after(number - 1)
            continue
        yield number, value


def _element(key: str, text: bytes) -> Any:
    """An element of a long document as a record, as if the document had been parsed."""
    value = _value(0, text)
    return value if isinstance(value, Unreadable) or not key or key in ALONE else {key: [value]}


def _document(
    lines: Lines, head: Sequence[tuple[int, bytes]], rest: Iterable[tuple[int, bytes]]
) -> list[Any] | None:
    """The records of a file that is one document; None if it has a value on each of its lines."""
    (number, first), *others = head
    value = _value(number, _data(first))
    if isinstance(value, Unreadable):
        if not first.lstrip().startswith((b"[", b"{")) or not _goes_on(first, others):
            return None
        text = lines.joined(line for _, line in chain(head, rest))
        value = _value(1, text)
        if isinstance(value, Unreadable) and (several := _in_a_row(text)):
            return several
    elif others:
        return None
    if isinstance(value, dict) and not value.keys() & RECORD:
        value = next((value[key] for key in WHOLE if isinstance(value.get(key), list)), value)
    return value if isinstance(value, list) else [value]


def _in_a_row(text: bytes) -> list[Any]:
    """The values of documents that follow one another, as tools print them; none if they are not whole."""
    pieces = AGAIN.split(text)
    values = [_value(1, piece) for piece in pieces]
    return [] if any(isinstance(one, Unreadable) for one in values) else values


def _goes_on(first: bytes, others: Sequence[tuple[int, bytes]]) -> bool:
    """Whether a document goes on after its first line; otherwise that line is torn."""
    is_opening = first.strip() in (b"[", b"{")
    return bool(others) and (is_opening or isinstance(_value(0, others[0][1]), Unreadable))


def _value(number: int, text: bytes) -> Any:
    try:
        return decoded(text, decoder())
    except NotJson as error:
        return Unreadable(number, str(error))


def _is_json(line: bytes) -> bool:
    return not isinstance(_value(0, _data(line) or b"0"), Unreadable)


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

    def either(text: bytes) -> Any:
        try:
            return loads(text)
        except ValueError:
            return json.loads(text)

    return either


def _of_rows(path: Path) -> Iterator[Any]:
    """The rows of a Parquet file: its one text column as JSON, or else the columns as an object."""
    for number, row in enumerate(rows_of(path), 1):
        first, *others = row.values()
        if others or not isinstance(first, str | bytes):
            yield row
        else:
            yield _value(number, first if isinstance(first, bytes) else first.encode())
