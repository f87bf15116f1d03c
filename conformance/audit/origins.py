"""Finds what a violation is about in the raw records: the call, its tool, and the records with their lines.

The record at which a clause breaks is the last one of the shortest beginning of the thread that breaks it.
It is found by bisection, so that no importer has to keep where its observations come from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import Lines
from runlock.conformance.trace.trace import Trace

BISECTED_MAX: Final = 5_000
"""Records of a thread up to which it is judged again in parts."""

TEXT_MAX: Final = 160
"""Characters of a record that are shown."""

Breaks = Callable[[Sequence[Any]], bool]
"""Whether the beginning of a thread breaks the clause."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A raw record, shortened, and where it stands; line 0 if that is not known."""

    file: str
    line: int
    text: str

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Origin:
    """The records of a thread, and where each stands."""

    records: Sequence[Any]
    places: Sequence[tuple[str, int]]

    @property
    def file(self) -> str:
        """The file in which the thread begins."""
        return self.places[0][0] if self.places else ""

    def excerpts(self, reason: str, trace: Trace, breaks: Breaks) -> tuple[Excerpt, ...]:
        """The first and the last record that name the call, and that at which the clause breaks."""
        id_ = next(iter(_named(reason, trace)), "")
        last = self._breaking(breaks)
        until = len(self.records) if last is None else last + 1
        naming = [at for at in range(until) if id_ and names(self.records[at], id_)]
        shown = dict.fromkeys([*naming[:1], *naming[1:][-1:], *([] if last is None else [last])])
        return tuple(
            Excerpt(*self._place(at, id_, is_last=number > 0), shortened(self.records[at], id_))
            for number, at in enumerate(shown)
        )

    def _place(self, at: int, id_: str, *, is_last: bool) -> tuple[str, int]:
        """Where a record stands; in a document over many lines, a line that names the call."""
        file, line = self.places[at]
        if line or not names(self.records[at], id_):
            return file, line
        found = _lines_naming(Path(file), id_)
        return file, (found[-1] if is_last else found[0]) if found else 0

    def _breaking(self, breaks: Breaks) -> int | None:
        """The place of the record at which the clause breaks; None if the thread is too long."""
        if not 0 < len(self.records) <= BISECTED_MAX:
            return None
        low, high = 0, len(self.records)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if breaks(self.records[:middle]) else (middle, high)
        return high - 1


def _lines_naming(file: Path, id_: str) -> list[int]:
    """The lines of a document that name a call."""
    try:
        return [number for number, line in enumerate(Lines(file), 1) if id_ and f'"{id_}"'.encode() in line]
    except UsageError:
        return []


def tools_in(reason: str, trace: Trace) -> list[str]:
    """The tools of the calls that a reason names."""
    named = _named(reason, trace)
    return sorted({name for name in named.values() if name})


def _named(reason: str, trace: Trace) -> dict[str, str]:
    """The ids of calls that a reason names, in its order, each with its tool as far as the trace has it."""
    words = [word.strip("\"'`.,;:()") for word in reason.split()]
    known = dict(_calls(trace))
    after = {other: known.get(other, "") for word, other in pairwise(words) if word in ("call", "id")}
    return after or {word: known[word] for word in words if word in known}


def _calls(trace: Trace) -> Iterator[tuple[str, str]]:
    """The calls that the turns of the model ask for, in stimuli and in the histories that it was shown."""
    for seen in trace.of("observation"):
        for message in seen.get("messages") or ():
            yield from ((one["id"], one["name"]) for one in message.get("tool_calls") or ())
        yield from _streamed(seen)
    for sent in trace.stimuli:
        outcome = sent["params"].get("outcome") or {}
        yield from ((one["id"], one["name"]) for one in outcome.get("tool_calls") or ())


def _streamed(seen: Any) -> Iterator[tuple[str, str]]:
    data = seen.get("data") if isinstance(seen.get("data"), dict) else {}
    if "toolCallId" in data and "toolCallName" in data:
        yield str(data["toolCallId"]), str(data["toolCallName"])


def names(record: Any, id_: str) -> bool:
    """Whether a record has this id as a text, alone or within a text of JSON."""
    text = _text(record)
    return f'"{id_}"' in text or f'\\"{id_}\\"' in text


def shortened(record: Any, id_: str = "") -> str:
    """A record as JSON on one line, cut around the id of the call."""
    text = _text(record)
    if len(text) <= TEXT_MAX:
        return text
    at = max(text.find(f'"{id_}"'), text.find(f'\\"{id_}\\"')) if id_ else 0
    begin = max(0, min(at - TEXT_MAX // 2, len(text) - TEXT_MAX))
    cut = text[begin : begin + TEXT_MAX]
    return f"{'…' if begin else ''}{cut}{'…' if begin + TEXT_MAX < len(text) else ''}"


def _text(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, default=str)
