"""Writes recordings of any size, and measures the memory of a process that judges them.

`python large_recordings.py PATH` prints the most memory that it took, in MiB.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CONTENT = 28_000
"""Characters of a result: ten thousand threads with one are 300 MB."""


def listed(number: int) -> list[Any]:
    """A list of messages with one call."""
    named = {"name": "lookup", "arguments": "{}"}
    return [
        {"role": "user", "content": f"Find {number}."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": named}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": "x" * CONTENT},
        {"role": "assistant", "content": "Found."},
    ]


def streamed(number: int) -> Iterator[Any]:
    """The events of AG-UI of a run with one call."""
    call = {"toolCallId": "c"}
    yield {"type": "RUN_STARTED", "threadId": f"t{number}", "runId": "r"}
    yield {"type": "TOOL_CALL_START", **call, "toolCallName": "lookup"}
    yield {"type": "TOOL_CALL_END", **call}
    yield {"type": "TOOL_CALL_RESULT", "messageId": "m", **call, "content": "x" * CONTENT}
    yield {"type": "TEXT_MESSAGE_CHUNK", "messageId": "n", "delta": "Found."}
    yield {"type": "RUN_FINISHED", "threadId": f"t{number}", "runId": "r"}


def lists(path: Path, number: int) -> None:
    """One file, with a list on each line."""
    write(path, ({"messages": listed(one)} for one in range(number)))


def events(path: Path, number: int) -> None:
    """One file, whose threads are brought together in partitions."""
    write(path, (event for one in range(number) for event in streamed(one)))


def document(path: Path, number: int) -> None:
    """One document: an array of lists, which is too long to be parsed if there are many."""
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for one in range(number):
            file.write(("," if one else "") + json.dumps({"messages": listed(one)}))
        file.write("]")


def files(path: Path, number: int) -> None:
    """A folder with a list in each file."""
    path.mkdir()
    for one in range(number):
        (path / f"{one}.json").write_text(json.dumps(listed(one)))


def write(path: Path, records: Iterator[Any]) -> None:
    """Write records, one on each line."""
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")


KINDS: dict[str, tuple[Callable[[Path, int], None], int]] = {
    "one file of lists": (lists, 10_000),
    "one document": (document, 10_000),
    "one file of events": (events, 10_000),
    "a folder of files": (files, 5_000),
}
"""How each kind is written, and how many threads a large one has."""


def memory(path: Path) -> float:
    """The most memory, in MiB, of a process that judges a path."""
    ran = subprocess.run(
        [sys.executable, __file__, str(path)], capture_output=True, text=True, check=True, env=os.environ
    )
    return float(ran.stdout)


def main(path: str) -> None:
    """Judge a path in this process, and print the most memory that it took."""
    from runlock.conformance.audit.engine import Task, judged
    from runlock.conformance.audit.reading import files_of

    found = judged(list(files_of([path])), Task(), lambda _: None)
    if found.failed or not found.judged:
        raise SystemExit(f"not judged: {found.errors}")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    main(sys.argv[1])
