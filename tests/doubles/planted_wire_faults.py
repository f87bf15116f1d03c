"""Faults that tests plant in recorded streams: calls opened, ended, asked about or answered wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from audited import Records

Plant = Callable[[Records], Records]

Rows = dict[tuple[str, str], tuple[tuple[Any, ...], ...]]
"""By what the records are of, and their recording: what is planted, how, and what becomes of it."""


def named(rows: Rows) -> dict[str, tuple[Any, ...]]:
    """The rows by names such as `otel: a result is removed`, each with its recording."""
    return {f"{of}: {row[0]}": (name, *row[1:]) for (of, name), some in rows.items() for row in some}


def without(*kinds: str, of: str) -> Plant:
    """A stream without the events of these kinds about a call."""
    return lambda records: [one for one in records if not _is(one, kinds, of)]


def moved(kind: str, of: str, before: str) -> Plant:
    """A stream in which an event about a call comes before the first one of that kind about it."""

    def made(records: Records) -> Records:
        event = next(one for one in records if _is(one, (kind,), of))
        rest = [one for one in records if one is not event]
        at = next(place for place, one in enumerate(rest) if _is(one, (before,), of))
        return [*rest[:at], event, *rest[at:]]

    return made


def copied(kind: str, of: str, before: str) -> Plant:
    """A stream in which an event about a call comes once more, before the first one of that kind about it."""

    def made(records: Records) -> Records:
        event = next(one for one in records if _is(one, (kind,), of))
        at = next(place for place, one in enumerate(records) if _is(one, (before,), of))
        return [*records[:at], dict(event), *records[at:]]

    return made


def _is(record: Any, kinds: tuple[str, ...], of: str) -> bool:
    return record.get("type") in kinds and record.get("toolCallId") == of


def in_chunks(records: Records) -> Records:
    """A stream of AG-UI with chunks in the place of starts, arguments and ends."""
    return [chunk for one in records for chunk in _chunks(one)]


def _chunks(record: Any) -> list[Any]:
    kind = record.get("type")
    if kind in ("TOOL_CALL_START", "TOOL_CALL_ARGS"):
        return [{**record, "type": "TOOL_CALL_CHUNK"}]
    return [] if kind == "TOOL_CALL_END" else [record]


def in_pieces(records: Records) -> Records:
    """A stream of the AI SDK in which the input of each call is streamed before it is available."""
    return [piece for one in records for piece in _pieces(one)]


def _pieces(record: Any) -> list[Any]:
    if record.get("type") != "tool-input-available":
        return [record]
    named, text = {"toolCallId": record["toolCallId"]}, json.dumps(record["input"])
    deltas = [{"type": "tool-input-delta", **named, "inputTextDelta": one} for one in (text[:3], text[3:])]
    return [{"type": "tool-input-start", **named, "toolName": record["toolName"]}, *deltas, record]


WHOLE = ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END")

# fmt: off
WIRE_FAULTS: Rows = {
    ("ag-ui", "ag_ui/approved"): (
        ("a call is opened again after its resume",
         copied("TOOL_CALL_START", "c1", before="TOOL_CALL_RESULT"),
         "WIRE-60", "TOOL_CALL_START opens call c1, which this stream has opened before"),
        ("a resumed result of a call that was never opened", without(*WHOLE, of="c1"),
         "WIRE-61", "tells of call c1, of which nothing is known"),
        ("a call that is not ended is asked about", without("TOOL_CALL_END", of="c2"),
         "WIRE-64", "RUN_FINISHED asks about call c2, which was not ended"),
    ),
    ("ag-ui", "ag_ui/plain"): (
        ("arguments of no call", without("TOOL_CALL_START", of="c1"),
         "WIRE-61", "TOOL_CALL_ARGS tells of call c1"),
        ("arguments after the end", copied("TOOL_CALL_ARGS", "c1", before="TOOL_CALL_RESULT"),
         "WIRE-62", "TOOL_CALL_ARGS goes on with call c1, which was ended"),
        ("a call is not ended", without("TOOL_CALL_END", of="c2"),
         "WIRE-63", "RUN_FINISHED came while call c2 was opened and not ended"),
        ("a second result on the stream", copied("TOOL_CALL_RESULT", "c1", before="TOOL_CALL_RESULT"),
         "WIRE-65", "TOOL_CALL_RESULT is a second result of call c1"),
    ),
    ("ai-sdk", "ai_sdk/approved"): (
        ("a call is opened again after its resume",
         copied("tool-input-available", "c1", before="tool-output-available"),
         "WIRE-60", "tool-input-available ends call c1, which this stream has ended before"),
        ("a resumed result of a call that was never opened", without("tool-input-available", of="c1"),
         "WIRE-61", "tool-approval-request tells of call c1, of which nothing is known"),
        ("a call is asked about before it is whole",
         lambda r: moved("tool-approval-request", "c1", before="tool-input-available")(in_pieces(r)),
         "WIRE-64", "tool-approval-request asks about call c1, which was not ended"),
    ),
    ("ai-sdk", "ai_sdk/plain"): (
        ("arguments after the end",
         lambda r: copied("tool-input-delta", "c1", before="tool-output-available")(in_pieces(r)),
         "WIRE-62", "tool-input-delta goes on with call c1, which was ended"),
        ("an input is never available",
         lambda r: without("tool-input-available", "tool-output-available", of="c3")(in_pieces(r)),
         "WIRE-63", "finish came while call c3 was opened and not ended"),
        ("a second result on the stream",
         copied("tool-output-available", "c1", before="tool-output-available"),
         "WIRE-65", "tool-output-available is a second result of call c1"),
    ),
}
# fmt: on
