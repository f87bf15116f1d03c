"""Brings the records of each thread together: hash partitions of the input, as Parquet.

Every file is read once and its rows are written to partitions by the hash of their thread.  Then each
partition is sorted by thread, file and place in the file, and judged.  The number of partitions is fixed, so
that it does not depend on the number of processes; one partition at a time is read, in batches.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from runlock.conformance.audit.reading import decoder
from runlock.conformance.audit.recording import Row, Unreadable
from runlock.conformance.extras import the_module
from runlock.conformance.inputs import BATCH, MEMORY, name_for_sql

PARTITIONS: Final = 32
PIECE: Final = 32 * 1024 * 1024
"""Characters of rows that are sorted into the partitions at once."""

COLUMNS: Final = (
    "{part: 'int', format: 'varchar', thread: 'varchar', place: 'bigint', line: 'bigint', record: 'varchar'}"
)
SORTED: Final = (
    "select format, thread, record, line, file from read_parquet(?, hive_partitioning=false) "
    "order by format, thread, file, place"
)
UNREADABLE: Final = "\0unreadable"


def part_of(thread: str) -> int:
    """The partition of a thread."""
    return crc32(thread.encode("utf-8", "surrogatepass")) % PARTITIONS


def split(rows: Iterable[Row], format_: str, number: int, folder: Path) -> int:
    """Write the rows of one file, the one with this number, to the partitions; how many there are."""
    count = 0
    lines = (_line(row, format_, place) for place, row in enumerate(rows, 1))
    for piece, (spill, many) in enumerate(_pieces(lines, folder)):
        where = [number, name_for_sql(spill), str(folder / "parts")]
        _database(folder).execute(_copying(number, piece), where)
        count += many
    return count


def _line(row: Row, format_: str, place: int) -> str:
    """A row as a line of the spill."""
    thread = json.dumps(row.thread)
    line = [part_of(row.thread), format_, thread, place, row.line, _text(row.record)]
    names = ("part", "format", "thread", "place", "line", "record")
    return json.dumps(dict(zip(names, line, strict=True))) + "\n"


def _pieces(lines: Iterator[str], folder: Path) -> Iterator[tuple[Path, int]]:
    """Lines in temporary files of bounded size, one at a time, each with the number of its lines."""
    while (first := next(lines, None)) is not None:
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".jsonl", encoding="ascii") as spill:
            many = size = 0
            for line in chain([first], lines):
                many, size = many + 1, size + spill.write(line)
                if size >= PIECE:
                    break
            spill.flush()
            yield Path(spill.name), many


def _copying(number: int, piece: int) -> str:
    """The statement that sorts the rows of a piece of a file into the partitions."""
    rows = f"select *, ? as file from read_json(?, format = 'newline_delimited', columns = {COLUMNS})"
    pattern = f"file{number}_{piece}_{{i}}"
    how = f"format parquet, partition_by (part), overwrite_or_ignore, filename_pattern '{pattern}'"
    return f"copy ({rows}) to ? ({how})"


def _text(record: Any) -> str:
    if isinstance(record, Unreadable):
        return json.dumps({UNREADABLE: [record.line, record.why]})
    return json.dumps(record)


def rows_of(part: int, folder: Path) -> Iterator[tuple[str, Row]]:
    """The rows of a partition, each with its format, sorted by format, thread and place."""
    files = sorted(name_for_sql(file) for file in (folder / "parts" / f"part={part}").glob("*.parquet"))
    if not files:
        return
    found, loads = _database(folder).execute(SORTED, [files]), decoder()
    while batch := found.fetchmany(BATCH):
        for format_, thread, record, line, file in batch:
            yield format_, Row(json.loads(thread), _record(loads(record.encode())), line, file)


def _record(value: Any) -> Any:
    is_unreadable = isinstance(value, dict) and UNREADABLE in value
    return Unreadable(*value[UNREADABLE]) if is_unreadable else value


def _database(folder: Path) -> Any:
    """A cursor of the database of this process: one for all partitions, since opening it takes a while."""
    return _opened(folder).cursor()


@lru_cache(maxsize=1)
def _opened(folder: Path) -> Any:
    """A database of its own in each process, which spills to the folder."""
    return the_module("duckdb").connect(config={**MEMORY, "temp_directory": str(folder)})
