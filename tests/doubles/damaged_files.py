"""Files of recordings as they should not be: damaged, cut, or made to fill the memory."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import zstandard
from recorded_threads import threads

from runlock.conformance.extras import the_module

THREADS: Final = 12
TEXT: Final = "".join(json.dumps(one) + "\n" for one in threads(THREADS)).encode()
"""Threads that hold everything."""


def checked(data: bytes) -> bytes:
    """As Zstandard with a checksum."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def parquet(path: Path, lines: list[str]) -> bytes:
    """A Parquet file with a column of texts."""
    the_module("duckdb").connect().execute(
        "copy (select unnest(?) as line) to ? (format parquet)", [lines, str(path)]
    )
    return path.read_bytes()


def flipped(data: bytes, at: float = 0.5) -> bytes:
    """The data with one bit turned over."""
    place = int(len(data) * at)
    return data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]


def half(data: bytes) -> bytes:
    """The first half of the data."""
    return data[: len(data) // 2]


def bomb(block: bytes, mebibytes: int = 100) -> bytes:
    """A few kilobytes of Zstandard that unpack to a block, over and over."""
    packer = zstandard.ZstdCompressor().compressobj()
    whole = block * (2**20 // len(block))
    return b"".join([*(packer.compress(whole) for _ in range(mebibytes)), packer.flush()])


def _rows(path: Path) -> bytes:
    return parquet(path.with_suffix(".whole"), TEXT.decode().splitlines())


DAMAGED: Final[dict[str, tuple[str, Callable[[Path], bytes], str]]] = {
    "a bit flip in gzip": ("b.jsonl.gz", lambda _: flipped(gzip.compress(TEXT)), "b.jsonl.gz cannot be read"),
    "a bit flip in the length": (
        "b.jsonl.gz", lambda _: flipped(gzip.compress(TEXT), 0.9999), "Incorrect length of data",
    ),
    "a bit flip in Zstandard": ("b.jsonl.zst", lambda _: flipped(checked(TEXT)), "zst cannot be read"),
    "half a gzip": ("b.jsonl.gz", lambda _: half(gzip.compress(TEXT)), "b.jsonl.gz broke off after line"),
    "half a Zstandard": ("b.jsonl.zst", lambda _: half(checked(TEXT)), "b.jsonl.zst broke off after line"),
    "half of JSON Lines": ("b.jsonl", lambda _: half(TEXT), "b.jsonl broke off after line"),
    "half a Parquet": ("b.parquet", lambda path: half(_rows(path)), "b.parquet broke off"),
    "an empty Parquet": ("b.parquet", lambda _: b"", "b.parquet is empty"),
    "no Parquet": ("b.parquet", lambda _: TEXT, "b.parquet is no Parquet file"),
    "a Parquet without a meaning": ("b.parquet", lambda _: b"PAR1" * 9, "b.parquet cannot be read"),
    "an empty gzip": ("b.jsonl.gz", lambda _: b"", "nothing of it could be read"),
    "no gzip": ("b.jsonl.gz", lambda _: TEXT, "Not a gzipped file"),
    "a bomb of one line": ("b.json.zst", lambda _: bomb(b"["), "is nested deeper than 200 levels"),
    "a bomb of short lines": (
        "b.jsonl.zst", lambda _: bomb(b" " * 1023 + b"\n", 200), "unpacks to more than 1,000 times its size",
    ),
    "a value that is deep": ("b.jsonl", lambda _: b"[" * 999 + b"]" * 999 + b"\n", "nested deeper than 200"),
    "a value that is wide": ("b.jsonl", lambda _: b"[" + b"0," * 5_000_000 + b"0]\n", "more than 4,000,000"),
}  # fmt: skip
"""By what is wrong: the name of the file, its bytes, and what is said of it."""


Odd = Any
ODD: Final[tuple[Odd, ...]] = (
    None, True, 0, -1, 10**30, 1e400, float("nan"), "", "x", "\0", "\ud800", "../x", [], {}, [[]], ["x"],
    {"a": 1}, [{"kind": 1}], {"kind": ["x"]},
)  # fmt: skip
"""Values that do not belong where they are put."""


def spoil(value: Any, chance: Any) -> None:
    """Remove, double or replace one part of a value, anywhere in it."""
    inside, key = chance.choice(list(_places(value)))
    how = chance.randrange(4)
    if how == 0:
        del inside[key]
    elif how == 1 and isinstance(inside, list):
        inside.insert(key, json.loads(json.dumps(inside[key])))
    else:
        inside[key] = json.loads(json.dumps(chance.choice(ODD)))


def _places(value: Any) -> Any:
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
