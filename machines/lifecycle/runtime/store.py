"""Checkpoints in one SQLite file: after any crash, a checkpoint is stored completely or not at all.

The runs of a thread are stored by name, with the newest checkpoint of each.  Any problem, from a lock to a
damaged page, is a `StoreRefused`: a sentence with the file and the place in it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from runlock.machines.lifecycle.runtime.store_reading import FORMAT, StoreRefused, read_checkpoint

__all__ = ["SCHEMA_VERSION", "Store", "StoreRefused"]

APPLICATION_ID: Final = 0x494C434B  # "ILCK"
SCHEMA_VERSION: Final = 1
SMALLEST_PAGE_BYTES: Final = 512

SCHEMA: Final = f"""
BEGIN;
CREATE TABLE checkpoint (
    thread TEXT NOT NULL,
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    format INTEGER NOT NULL,
    at_trigger TEXT NOT NULL,
    cause TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (thread, run)
);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""

# A rollback journal rather than a write-ahead log: between two commits the one file holds everything, so
# that it can be copied, and is seen to be cut short, also after a kill; a log would hold the newest
# commits, and one that lost its end looks like one that was never longer.  FULL waits for the disk before
# a commit counts; since a commit here is the end of the journal, EXTRA waits for that too.
# The lock is kept from the first look to `close`, or to the end of the process: two owners of a store
# would both go on with its runs, and each would execute their calls.
SETTINGS: Final = ("locking_mode = EXCLUSIVE", "journal_mode = DELETE", "synchronous = EXTRA")

PUT: Final = """
INSERT INTO checkpoint (thread, run, number, format, at_trigger, cause, state) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (thread, run) DO UPDATE SET number = excluded.number, format = excluded.format,
    at_trigger = excluded.at_trigger, cause = excluded.cause, state = excluded.state
"""
LAST: Final = """
SELECT run, format, state FROM checkpoint WHERE thread = ?1 AND (?2 IS NULL OR run = ?2)
ORDER BY number DESC LIMIT 1
"""

_WORDS: Final = {
    "SQLITE_BUSY": "is locked: another process, or another store in this one, has it open",
    "SQLITE_LOCKED": "is locked: another process, or another store in this one, has it open",
    "SQLITE_READONLY": "is read-only, but a run that cannot be stored must not go on",
    "SQLITE_NOTADB": "is not a database: a store begins with the header of one",
    "SQLITE_CORRUPT": "is cut short or damaged",
    "SQLITE_FULL": "has no room left on its disk",
    "SQLITE_CANTOPEN": "cannot be opened, or its folder cannot be written",
}


class Store:
    """The store in a file, which is made if it is not there; one owner at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.exists():
            _look_at(self.path)
        else:
            _create(self.path)
        with self._explained("opened"):
            self._connection = _connect(self.path)
            self._finalizer = weakref.finalize(self, self._connection.close)
        try:
            with self._explained("opened"):
                self._take_over()
        except StoreRefused:
            self.close()
            raise

    def put(self, thread: str, run: str, trigger: str, cause: str, state: Mapping[str, Any]) -> None:
        """Make a checkpoint durable; once this returns, no crash takes it away."""
        place = f"the checkpoint of run {run} on thread {thread}"
        try:
            text = json.dumps(state, allow_nan=False)
        except (TypeError, ValueError) as flaw:
            raise StoreRefused(f"{self.path} cannot hold {place}, which is no JSON: {flaw}.") from flaw
        with self._explained(f"written, at {place}"):
            row = (thread, run, state["run"]["number"], FORMAT, trigger, cause, text)
            self._connection.execute(PUT, row)

    def last(self, thread: str, run: str | None = None) -> dict[str, Any] | None:
        """The checkpoint of a run, or that of the newest run of the thread; None if nothing is durable."""
        named = f"run {run}" if run is not None else "the newest run"
        with self._explained(f"read, at {named} on thread {thread}"):
            row = self._connection.execute(LAST, (thread, run)).fetchone()
        if row is None:
            return None
        return read_checkpoint(row[1], row[2], f"{self.path}, run {row[0]} on thread {thread}")

    def threads(self) -> list[str]:
        """The threads that have anything durable, in the order of their names."""
        with self._explained("read, at the list of its threads"):
            found = self._connection.execute("SELECT DISTINCT thread FROM checkpoint ORDER BY thread")
            return [thread for (thread,) in found]

    def close(self) -> None:
        """Give the file back; what is durable stays."""
        self._finalizer()

    def _take_over(self) -> None:
        """Look first, and only then lock and set up: a file that is no store of ours is not touched."""
        self._recognise("application_id", APPLICATION_ID, "is a database of something else")
        self._recognise("user_version", SCHEMA_VERSION, "is a store of another version")
        for setting in SETTINGS:
            self._connection.execute(f"PRAGMA {setting}").close()
        self._connection.execute("BEGIN EXCLUSIVE")
        self._connection.execute("COMMIT")
        complaint = self._shortfall() or self._asked("quick_check(1)")
        if complaint != "ok":
            raise StoreRefused(f"{self.path} is cut short or damaged: {' '.join(str(complaint).split())}.")
        _unfinished(self.path).unlink(missing_ok=True)  # a second name of the file, after a kill

    def _shortfall(self) -> str | None:
        """SQLite reads a last page that is not all there as if the rest of it were zeros."""
        should, size = self._asked("page_count") * self._asked("page_size"), self.path.stat().st_size
        return f"it has {size} of its {should} bytes" if size < should else None

    def _recognise(self, mark: str, right: int, otherwise: str) -> None:
        found = self._asked(mark)
        if found != right:
            raise StoreRefused(f"{self.path} {otherwise}: its {mark} is {found}, and should be {right}.")

    def _asked(self, pragma: str) -> Any:
        return self._connection.execute(f"PRAGMA {pragma}").fetchone()[0]

    @contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreRefused(_sentence(self.path, doing, error)) from error


def _sentence(path: Path, doing: str, error: sqlite3.Error) -> str:
    name = str(getattr(error, "sqlite_errorname", None))
    words = next((words for known, words in _WORDS.items() if name.startswith(known)), "gave an error")
    return f"{path} could not be {doing}: it {words} ({error})."


def _connect(path: Path) -> sqlite3.Connection:
    """Every statement is a separate transaction, and a lock is refused instead of waited for."""
    return sqlite3.connect(path, timeout=0, isolation_level=None)


def _look_at(path: Path) -> None:
    """What can be seen of a file without opening it, which could give up a lock that this process holds."""
    if not path.is_file():
        raise StoreRefused(f"{path} is not a file, so that it cannot be a store.")
    if (size := path.stat().st_size) < SMALLEST_PAGE_BYTES:  # SQLite would make a store of an empty file
        raise StoreRefused(f"{path} is cut short, or not a database: {size} bytes are fewer than one page.")
    if not path.stat().st_mode & 0o222:  # the mode holds for everybody, even where a superuser could write
        raise StoreRefused(f"{path} is read-only, but a run that cannot be stored must not go on.")


def _create(path: Path) -> None:
    """Create the file under a temporary name and move it: a kill leaves a complete store, or none."""
    if not path.parent.is_dir():
        raise StoreRefused(f"{path} could not be made: there is no folder {path.parent}.")
    unfinished = _unfinished(path)
    try:
        unfinished.unlink(missing_ok=True)
        connection = _connect(unfinished)
        try:
            connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL; {SCHEMA}")
        finally:
            connection.close()
        with suppress(FileExistsError):  # another process was faster, and its store is valid too
            os.link(unfinished, path)
        _flush_folder(path.parent)
    except (OSError, sqlite3.Error) as error:
        raise StoreRefused(f"{path} could not be made: {error}.") from error


def _unfinished(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


def _flush_folder(folder: Path) -> None:
    """The name of a new file is durable once its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
