"""A trace: everything that was sent to a runtime and everything that it reported, in order.

A trace file is JSON Lines, one object with exactly one key a line.  A trace is the artefact that
reproduces a failure; its digest identifies what happened, independent of the ids that the runtime chose.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import text_of
from runlock.conformance.protocol.framing import NotALine, decode
from runlock.conformance.text import plain

KEYS: Final = ("handshake", "scenario", "stimulus", "observation", "report", "crash", "end")

Record = dict[str, Any]
"""One line of a trace: a single key of KEYS and its value."""


@dataclass(slots=True)
class Trace:
    """The records of one scenario, in order."""

    records: list[Record] = field(default_factory=list)

    def add(self, key: str, value: Any) -> None:
        """Append one record."""
        self.records.append({key: value})

    def of(self, key: str) -> Iterator[Any]:
        """The values of the records with this key, in order."""
        return (record[key] for record in self.records if key in record)

    @property
    def stimuli(self) -> list[Mapping[str, Any]]:
        """The stimuli, each {method, params}."""
        return list(self.of("stimulus"))

    @property
    def verdict(self) -> Mapping[str, Any] | None:
        """The recorded verdict: the clause, or None if the trace could not be judged, and why."""
        return next((end["verdict"] for end in self.of("end") if isinstance(end.get("verdict"), dict)), None)

    @property
    def verdict_in_words(self) -> str:
        """The recorded verdict in one sentence; an empty string if nothing was wrong."""
        if self.verdict is None:
            return ""
        clause, because = self.verdict.get("clause"), plain(self.verdict.get("because", ""))
        return f"{plain(clause)}: {because}" if clause else because

    def with_verdict(self, clause: str | None, because: str) -> Trace:
        """The same scenario, whose closing record says what is wrong with it."""
        closing = {"leaks": [], **next(self.of("end"), {}), "verdict": {"clause": clause, "because": because}}
        return Trace([*(record for record in self.records if "end" not in record), {"end": closing}])

    def to_jsonl(self) -> str:
        """The text of the trace file."""
        return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in self.records)

    def digest(self) -> str:
        """A hash of what happened: stimuli and observations, with ids renamed by first appearance."""
        happened = [
            {key: value}
            for record in self.records
            for key, value in record.items()
            if key in ("stimulus", "observation")
        ]
        renamed = _Renamer(set(_ids(happened))).value(happened, "")
        return hashlib.sha256(json.dumps(renamed, sort_keys=True).encode()).hexdigest()[:16]


ID_FIELDS: Final = frozenset({"run", "call", "id"})
"""Fields that hold an id; equal texts elsewhere in the trace are the same id."""


def _ids(value: Any) -> Iterator[str]:
    """Every id in a value, except those of gates."""
    if isinstance(value, list):
        for item in value:
            yield from _ids(item)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in ID_FIELDS and isinstance(inner, str):
                yield inner
            yield from _ids(inner)


class _Renamer:
    """Renames ids by the order of their first appearance; a gate may have the same id as something else."""

    def __init__(self, ids: set[str]) -> None:
        self.ids = ids
        self.names: dict[tuple[str, str], str] = {}

    def value(self, value: Any, key: str) -> Any:
        """The value with other ids."""
        if isinstance(value, str):
            return self._text(value, key)
        if isinstance(value, list):
            return [self.value(item, key) for item in value]
        if isinstance(value, dict):
            return {self._text(name, ""): self.value(inner, name) for name, inner in value.items()}
        return value

    def _text(self, text: str, key: str) -> str:
        kind = "gate" if key == "gate" else "id"
        if kind == "id" and text not in self.ids:
            return text
        return self.names.setdefault((kind, text), f"{kind} {len(self.names)}")


def read_trace(path: Path) -> Trace:
    """Read a trace file; a `UsageError` names a line that is not a record."""
    return Trace([record for _, record in numbered_records(path)])


def numbered_records(path: Path) -> list[tuple[int, Record]]:
    """The records of a trace file, each with its line."""
    return list(_records(path, text_of(path, "A trace file is UTF-8 text.").split("\n")))


def _records(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = decode(line.encode())
        except NotALine as error:
            cut = ", where the file breaks off," if number == len(lines) else ""
            raise UsageError(f"{path}:{number}{cut} {error}.", _RIGHT) from None
        if wrong := misfit(record):
            raise UsageError(f"{path}:{number}: {wrong}.", _RIGHT)
        yield number, record


def misfit(record: Any) -> str:
    """Why a JSON value is no record of a trace, or an empty string."""
    if not isinstance(record, dict) or len(record) != 1 or next(iter(record)) not in KEYS:
        return "this is no record of a trace"
    key, value = next(iter(record.items()))
    if not isinstance(value, dict):
        return f"`{key}` holds no object"
    if key == "stimulus":
        return _misfit_of_stimulus(value)
    if key == "observation" and value.get("kind") == "gate.open" and not isinstance(value.get("gate"), str):
        return "a gate opens that has no id"
    if key == "end":
        return _misfit_of_verdict(value.get("verdict"))
    return ""


def _misfit_of_stimulus(value: Mapping[str, Any]) -> str:
    if not {"method", "params"} <= value.keys():
        return "a stimulus lacks its method or params"
    if not isinstance(value["method"], str) or not isinstance(value["params"], dict):
        return "the method of a stimulus is no text, or its params are no object"
    return ""


def _misfit_of_verdict(verdict: Any) -> str:
    if isinstance(verdict, dict) and not isinstance(verdict.get("clause"), str | None):
        return "the clause of a verdict is no text"
    return ""


_RIGHT: Final = f"Each line is an object with one key of {', '.join(KEYS)}."
