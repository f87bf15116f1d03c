"""Imports traces of the kit's own format: one scenario is one thread, and lies in one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.audit.recording import Grade, Piece, Recording, Row, Shown, Unreadable
from runlock.conformance.errors import UsageError
from runlock.conformance.inputs import RECORDS_MAX
from runlock.conformance.trace.trace import KEYS, Trace, misfit

SCENARIO: Final = '{"scenario"'
HANDSHAKE: Final = '{"handshake"'
REST: Final = tuple(f'{{"{key}"' for key in KEYS if key not in ("scenario", "handshake"))


class Traces:
    """Traces of the adapter protocol; what they show is what their handshakes declare."""

    name = "runlock"
    says = "traces of the adapter protocol"
    clauses = None
    is_scattered = False

    def grade(self, handshake: Mapping[str, Any]) -> Grade:
        """What the handshake declares."""
        observes, gates = handshake.get("observes") or (), handshake.get("gates", ("model", "tool"))
        stimuli = handshake.get("stimuli", ("decide",)) or ()
        is_exact = (handshake.get("control") or {}).get("settle") == "exact"
        return Grade(
            statuses=_of(observes, "run.status", "call.status"),
            decisions=_of([*observes, *stimuli], "decision", "decide"),
            results=_of(gates, "tool", "model"),
            order="shown" if is_exact else "in part",
            ends=_of(observes, "run.finished"),
        )

    def recognises(self, record: Any) -> bool:
        """Whether it has exactly one key of a trace."""
        return isinstance(record, dict) and len(record) == 1 and next(iter(record)) in KEYS

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """Each scenario with the handshake before it; records before any scenario belong to none."""
        number, handshake = 0, None
        for record in records:
            if isinstance(record, dict) and "handshake" in record:
                handshake = record
                continue
            if isinstance(record, dict) and "scenario" in record:
                number += 1
                if handshake is not None:
                    yield Row(_name(source, number), handshake)
            yield Row(_name(source, number), record)

    def texts(self, lines: Iterable[str], source: str) -> Iterator[Piece]:
        """Each scenario, with the handshake before it."""
        handshake, piece = "", Piece(_name(source, 0), "", 1, [])
        for number, line in enumerate(lines, 1):
            if len(piece.own) > RECORDS_MAX:
                raise UsageError(f"{piece.thread}: it has more than {RECORDS_MAX:,} records.")
            if line.startswith(REST):
                piece.own.append(line)
                continue
            key = line if line.startswith('{"') else _compact(line)
            if key.startswith(HANDSHAKE):
                handshake = line
                continue
            if key.startswith(SCENARIO):
                if piece.own:
                    yield piece
                scenario = int(piece.thread.rpartition("#")[2]) + 1
                piece = Piece(_name(source, scenario), handshake, number, [])
            piece.own.append(line)
        if piece.own:
            yield piece

    def recordings(self, thread: str, records: Sequence[Any]) -> list[Recording]:
        """The records as they are; one that is none is left over."""
        made = Recording(thread, Trace())
        for record in records:
            wrong = record.sentence if isinstance(record, Unreadable) else misfit(record)
            if wrong:
                made.unexplained.append(wrong)
            else:
                made.trace.records.append(record)
        keys = [next(iter(record)) for record in made.trace.records]
        if "scenario" not in keys:
            made.unexplained.append("no scenario stands before its records")
        elif "handshake" not in keys:
            made.unexplained.append("no handshake stands before its scenario")
        made.is_open = "end" not in keys
        return [made]


def _of(declared: Iterable[str] | None, *words: str) -> Shown:
    """How many of the words are declared: all, some or none."""
    found = sum(word in (declared or ()) for word in words)
    return "shown" if found == len(words) else "in part" if found else "not shown"


def _compact(line: str) -> str:
    """The beginning of a line without the blanks that JSON allows there."""
    return "".join(line[:100].split())


def _name(source: str, number: int) -> str:
    return f"{source}#{number}"


IMPORTER: Final = Traces()
