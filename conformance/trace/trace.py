"""A trace: everything that was sent to a runtime and everything that it showed, in order.

A trace file is JSON Lines, one object a line with exactly one key.  A trace is the artefact that
reproduces a failure; its digest names what happened without the names that the runtime happened to give.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from runlock.conformance.errors import UsageError
from runlock.conformance.trace.input_files import text_of

KEYS: Final = ("handshake", "scenario", "stimulus", "observation", "report", "crash", "end")

Record = dict[str, Any]
"""One line of a trace: a single key of KEYS and what it holds."""


@dataclass(slots=True)
class Trace:
    """The records of one scenario, in order."""

    records: list[Record] = field(default_factory=list)

    def add(self, key: str, value: Any) -> None:
        """Append one record."""
        self.records.append({key: value})

    def of(self, key: str) -> Iterator[Any]:
        """What the records with this key hold, in order."""
        return (record[key] for record in self.records if key in record)

    @property
    def stimuli(self) -> list[Mapping[str, Any]]:
        """The stimuli, each {method, params}."""
        return list(self.of("stimulus"))

    def to_jsonl(self) -> str:
        """The text of the trace file."""
        return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in self.records)

    def digest(self) -> str:
        """A name for what happened: stimuli and observations, with ids renamed by first appearance."""
        renamed = _Renamer()
        told = [
            {key: renamed.value(value, "")}
            for record in self.records
            for key, value in record.items()
            if key in ("stimulus", "observation")
        ]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


class _Renamer:
    """Renames gate, run, call and decision ids by the order in which they first appear."""

    FIELDS: Final = {"gate": "g", "run": "r", "call": "c", "decision": "d"}
    LISTS: Final = {"pending": "c"}

    def __init__(self) -> None:
        self.names: dict[tuple[str, str], str] = {}

    def name(self, prefix: str, given: str) -> str:
        return self.names.setdefault((prefix, given), f"{prefix}{len(self.names)}")

    def value(self, value: Any, key: str) -> Any:
        if isinstance(value, str):
            return self.name(self.FIELDS[key], value) if key in self.FIELDS else value
        if isinstance(value, list):
            if key in self.LISTS:
                return [self.name(self.LISTS[key], item) for item in value]
            return [self.value(item, self._inner(key)) for item in value]
        if isinstance(value, dict):
            return self._object(value, key)
        return value

    def _object(self, value: dict[str, Any], key: str) -> dict[str, Any]:
        if key in ("tool_calls", "decisions") and isinstance(value.get("id"), str):
            value = {**value, "id": self.name("c" if key == "tool_calls" else "d", value["id"])}
        if key == "calls":
            return {self.name("c", call): self.value(inner, "") for call, inner in value.items()}
        if key == "args":
            return {name: self.name("c", v) if name == "k" else v for name, v in value.items()}
        return {name: self.value(inner, name) for name, inner in value.items()}

    def _inner(self, key: str) -> str:
        return key if key in ("tool_calls", "decisions") else ""


def read_trace(path: Path) -> Trace:
    """Read a trace file; a line that is no record is a `UsageError` that names it."""
    return Trace(list(_records(path, text_of(path, "A trace file is UTF-8 text.").splitlines())))


def _records(path: Path, lines: Iterable[str]) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number} is no JSON: {error}.", _RIGHT) from error
        if not isinstance(record, dict) or len(record) != 1 or next(iter(record)) not in KEYS:
            raise UsageError(f"{path}:{number} is no record of a trace.", _RIGHT)
        key, value = next(iter(record.items()))
        if not isinstance(value, dict):
            raise UsageError(f"{path}:{number}: `{key}` holds no object.", _RIGHT)
        if key == "stimulus" and not {"method", "params"} <= value.keys():
            raise UsageError(f"{path}:{number}: a stimulus lacks its method or params.", _RIGHT)
        yield record


_RIGHT: Final = f"Each line is an object with one key of {', '.join(KEYS)}."
