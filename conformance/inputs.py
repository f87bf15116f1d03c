"""The one way in for bytes from outside: recordings, traces, results, baselines, and the answers of a target.

What comes in is bounded before memory is taken for it: a line or a document in its size, a value in its depth
and in the number of its parts, a compressed file in what it unpacks to.  Each error of a decoder becomes one
sentence that names the file.  A file can end badly in two ways.  One that *breaks off* was cut while it was
written or copied: what comes before the cut is as it was recorded.  One that is `Damaged` is refused by its
decoder, and nothing that was read from it can be trusted, since a checksum stands at the end.
"""

from __future__ import annotations

import gzip
import json
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from glob import escape
from io import SEEK_END, BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any, Final, TypeVar, cast

from runlock.conformance.errors import UsageError
from runlock.conformance.extras import the_module
from runlock.conformance.text import plain

SIZE_MAX: Final = 64 * 1024 * 1024
"""Bytes of a line, or of a document that is read as a whole, after decompression."""

DEPTH_MAX: Final = 200
"""Deeper than any message of the protocol, and shallower than the limits of the JSON and model libraries."""

VALUES_MAX: Final = 4_000_000
"""Values in one JSON text, estimated by its brackets and commas before it is parsed."""

RATIO_MAX: Final = 1_000
"""A compressed file may unpack to this many times its size, plus `SIZE_MAX`; real recordings reach 100."""

RECORDS_MAX: Final = 250_000
"""Records of one thread, which are in memory together when it is judged."""

PACKED: Final = (".gz", ".zst")
_MANY: Final = f"holds more than {VALUES_MAX:,} values"
_DEEP: Final = f"is nested deeper than {DEPTH_MAX} levels"
_LONG: Final = f"than {SIZE_MAX // 1024**2} MiB"
_NOTHING: Final = "Nothing in it was judged."
_CHUNK: Final = 1024
"""Compressed bytes that are unpacked at once; with Zstandard they become at most 32 MiB."""

MEMORY: Final = {"memory_limit": "1GB", "threads": 1}
"""The configuration of DuckDB: beyond the limit it writes to a temporary folder, or fails."""

BATCH: Final = 2_000
_MAGIC: Final = b"PAR1"

Loaded = TypeVar("Loaded")


class NotJson(ValueError):
    """A text that is no JSON within the bounds; the words complete the sentence "it …"."""


class Damaged(UsageError):
    """A file that its decoder refuses: nothing of it can be trusted."""


class TooLong(Damaged):
    """A line or a document that is longer than one may be."""


# --- values -------------------------------------------------------------------------------------


def decoded(text: str | bytes | bytearray, loads: Callable[[Any], Any] = json.loads) -> Any:
    """The JSON value of a text, as `loads` reads it; `NotJson` says why there is none."""
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    if len(text) > SIZE_MAX:
        raise NotJson(f"is longer {_LONG}")
    brackets = text.count(b"[") + text.count(b"{")
    if brackets + text.count(b",") > VALUES_MAX:
        raise NotJson(_MANY)
    try:
        value = loads(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"is no JSON ({error.msg} at position {error.pos})") from None
    except ValueError as error:  # no UTF-8, or a number that JSON or Python does not have
        raise NotJson(f"is no JSON ({error})") from None
    except RecursionError:
        raise NotJson(_DEEP) from None
    if brackets > DEPTH_MAX and _is_deep(value):  # few values; counting is faster than going through one
        raise NotJson(_DEEP)
    return value


def json_in(value: Any) -> Any:
    """A value, or the list or object that a text of JSON holds."""
    try:
        held = decoded(value) if isinstance(value, str) else value
    except NotJson:
        return value
    return held if isinstance(held, dict | list) else value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH_MAX):
        level = [inner for outer in level for inner in _members(outer) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _members(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


# --- whole documents ----------------------------------------------------------------------------


def text_of(path: Path, right: str = "", missing: str = "") -> str:
    """The text of a file; the error says why it cannot be read, and `right` what would have been right.

    `missing` replaces the sentence for a file that does not exist.
    """
    try:
        with path.open("rb") as file:
            text = file.read(SIZE_MAX + 1)
        if len(text) > SIZE_MAX:
            raise UsageError(f"{path} is longer {_LONG}.", right)
        return text.decode("utf-8")
    except FileNotFoundError as error:
        raise UsageError(missing or _unreadable(path, error), right) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(_unreadable(path, error), "" if missing else right) from None


def json_of(path: Path, right: str = "", missing: str = "") -> Any:
    """The JSON value of a file; `UsageError` as of `text_of`."""
    return _loaded(decoded, path, text_of(path, right, missing), right)


def toml_of(path: Path, right: str = "", missing: str = "") -> dict[str, Any]:
    """The tables of a TOML file; `UsageError` as of `text_of`."""
    return _loaded(_tables, path, text_of(path, right, missing), right)


def _tables(text: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise ValueError(_DEEP) from None
    except ValueError as error:
        raise ValueError(f"is no TOML: {error}") from None
    if _is_deep(found):
        raise ValueError(_DEEP)
    return found


def _loaded(loads: Callable[[Any], Loaded], path: Path, text: Any, right: str) -> Loaded:
    try:
        return loads(text)
    except ValueError as error:
        raise UsageError(f"{path} {error}.", right) from None


def _unreadable(path: Path, error: Exception) -> str:
    return f"{path} cannot be read: {plain(getattr(error, 'strerror', None) or error)}."


# --- files of records ---------------------------------------------------------------------------


class Lines:
    """The lines of a file, unpacked if it is compressed; `broke_off` is a sentence once it was found cut."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.broke_off = ""

    def __iter__(self) -> Iterator[bytes]:
        number, left = 0, self._most()
        try:
            with _opened(self.path) as stream:
                while line := stream.readline(SIZE_MAX + 1):
                    number, left = number + 1, left - len(line)
                    self._check(number, len(line), left)
                    yield line
        except EOFError:
            self.cut_after(number)
        except (OSError, zlib.error, MemoryError) as error:
            raise Damaged(_unreadable(self.path, error), _NOTHING) from None

    def pieces(self, size: int) -> Iterator[bytes]:
        """The bytes of the file in pieces of that size; one that breaks off is damaged."""
        left = self._most()
        try:
            with _opened(self.path) as stream:
                while piece := stream.read(size):
                    left -= len(piece)
                    self._check(0, 0, left)
                    yield piece
        except EOFError:
            raise Damaged(f"{self.path} is a document that breaks off.", _NOTHING) from None
        except (OSError, zlib.error, MemoryError) as error:
            raise Damaged(_unreadable(self.path, error), _NOTHING) from None

    def joined(self, lines: Iterable[bytes]) -> bytes:
        """Lines of the file that are one document, which is bounded as a line is."""
        kept, left = [], SIZE_MAX
        for line in lines:
            kept.append(line)
            left -= len(line)
            if left < 0:
                raise TooLong(f"{self.path} is one document that is longer {_LONG}.", _NOTHING)
        return b"".join(kept)

    def cut_after(self, line: int) -> None:
        """Note that the file breaks off after the line of that number."""
        self.broke_off = f"{self.path} broke off after line {line}; what followed is not known"

    def _most(self) -> float:
        """The number of bytes to which the file may unpack."""
        is_packed = self.path.suffix in PACKED and self.path.is_file()
        return SIZE_MAX + RATIO_MAX * self.path.stat().st_size if is_packed else float("inf")

    def _check(self, number: int, size: int, left: float) -> None:
        if size > SIZE_MAX:
            raise TooLong(f"{self.path}: line {number} is longer {_LONG}.", _NOTHING)
        if left < 0:
            raise Damaged(f"{self.path} unpacks to more than {RATIO_MAX:,} times its size.", _NOTHING)


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.suffix == ".zst":
        return BufferedReader(_Frames(path))
    return path.open("rb")


class _Frames(RawIOBase):
    """Zstandard frames, one after the other; EOFError if the last one breaks off.

    The package's own reader ends without a word where a frame breaks off.
    """

    def __init__(self, path: Path) -> None:
        self._zstandard = the_module("zstandard")
        self._file = path.open("rb")
        self._frame: Any = None
        self._packed, self._unpacked = b"", memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._unpacked and self._advance():
            pass
        size = min(len(buffer), len(self._unpacked))
        buffer[:size], self._unpacked = self._unpacked[:size], self._unpacked[size:]
        return size

    def _advance(self) -> bool:
        packed = self._packed or self._file.read(_CHUNK)
        if not packed and self._frame is not None:
            raise EOFError
        if not packed:
            return False
        try:
            frame = self._frame or self._zstandard.ZstdDecompressor().decompressobj()
            self._unpacked = memoryview(frame.decompress(packed))
        except self._zstandard.ZstdError as error:
            raise OSError(str(error)) from None
        self._frame = None if frame.eof else frame
        self._packed = frame.unused_data if frame.eof else b""
        return True

    def close(self) -> None:
        self._file.close()
        super().close()


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet, by its name or by its first bytes."""
    if path.suffix == ".parquet" or not path.is_file():
        return path.suffix == ".parquet"
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def rows_of(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of a Parquet file, by the names of their columns."""
    _check_ends(path)
    duckdb = the_module("duckdb")
    try:
        with duckdb.connect(config=MEMORY) as database:
            found = database.execute("select * from read_parquet(?)", [name_for_sql(path)])
            names = [column[0] for column in found.description]
            while rows := found.fetchmany(BATCH):
                yield from (dict(zip(names, row, strict=True)) for row in rows)
    except duckdb.Error as error:
        raise Damaged(_unreadable(path, Exception(str(error).partition("\n")[0])), _NOTHING) from None


def name_for_sql(path: Path) -> str:
    """A file as DuckDB takes it as a parameter, where a name is a pattern and may begin with a scheme."""
    return escape(str(path.absolute()))


def _check_ends(path: Path) -> None:
    """Refuse a Parquet file without its beginning, and one without its end, where its contents are listed."""
    try:
        with path.open("rb") as file:
            begins = file.read(len(_MAGIC))
            file.seek(-min(len(_MAGIC), file.seek(0, SEEK_END)), SEEK_END)
            ends = file.read()
    except OSError as error:
        raise Damaged(_unreadable(path, error)) from None
    if begins != _MAGIC:
        raise Damaged(f"{path} is {'no Parquet file' if begins else 'empty'}.", _NOTHING)
    if ends != _MAGIC:
        raise Damaged(f"{path} broke off: the end of a Parquet file lists what is in it.", _NOTHING)
