"""Faults that tests plant in recorded streams: calls opened, ended, asked about or answered wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from audited import Records

Plant = Callable[[Records], Records]


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

WIRE_FAULTS: dict[str, tuple[str, Plant, str, str]] = {
    "ag-ui: a call is opened again after its resume": (
        "ag_ui/approved",
        copied("TOOL_CALL_START", "c1", before="TOOL_CALL_RESULT"),
        "WIRE-60",
        "TOOL_CALL_START opens call c1, which this stream has opened before",
    ),
    "ag-ui: a resumed result of a call that was never opened": (
        "ag_ui/approved",
        without(*WHOLE, of="c1"),
        "WIRE-61",
        "tells of call c1, of which nothing is known",
    ),
    "ag-ui: arguments of no call": (
        "ag_ui/plain",
        without("TOOL_CALL_START", of="c1"),
        "WIRE-61",
        "TOOL_CALL_ARGS tells of call c1",
    ),
    "ag-ui: arguments after the end": (
        "ag_ui/plain",
        copied("TOOL_CALL_ARGS", "c1", before="TOOL_CALL_RESULT"),
        "WIRE-62",
        "TOOL_CALL_ARGS goes on with call c1, which was ended",
    ),
    "ag-ui: a call is not ended": (
        "ag_ui/plain",
        without("TOOL_CALL_END", of="c2"),
        "WIRE-63",
        "RUN_FINISHED came while call c2 was opened and not ended",
    ),
    "ag-ui: a call that is not ended is asked about": (
        "ag_ui/approved",
        without("TOOL_CALL_END", of="c2"),
        "WIRE-64",
        "RUN_FINISHED asks about call c2, which was not ended",
    ),
    "ag-ui: a second result on the stream": (
        "ag_ui/plain",
        copied("TOOL_CALL_RESULT", "c1", before="TOOL_CALL_RESULT"),
        "WIRE-65",
        "TOOL_CALL_RESULT is a second result of call c1",
    ),
    "ai-sdk: a call is opened again after its resume": (
        "ai_sdk/approved",
        copied("tool-input-available", "c1", before="tool-output-available"),
        "WIRE-60",
        "tool-input-available ends call c1, which this stream has ended before",
    ),
    "ai-sdk: a resumed result of a call that was never opened": (
        "ai_sdk/approved",
        without("tool-input-available", of="c1"),
        "WIRE-61",
        "tool-approval-request tells of call c1, of which nothing is known",
    ),
    "ai-sdk: arguments after the end": (
        "ai_sdk/plain",
        lambda r: copied("tool-input-delta", "c1", before="tool-output-available")(in_pieces(r)),
        "WIRE-62",
        "tool-input-delta goes on with call c1, which was ended",
    ),
    "ai-sdk: an input is never available": (
        "ai_sdk/plain",
        lambda r: without("tool-input-available", "tool-output-available", of="c3")(in_pieces(r)),
        "WIRE-63",
        "finish came while call c3 was opened and not ended",
    ),
    "ai-sdk: a call is asked about before it is whole": (
        "ai_sdk/approved",
        lambda r: moved("tool-approval-request", "c1", before="tool-input-available")(in_pieces(r)),
        "WIRE-64",
        "tool-approval-request asks about call c1, which was not ended",
    ),
    "ai-sdk: a second result on the stream": (
        "ai_sdk/plain",
        copied("tool-output-available", "c1", before="tool-output-available"),
        "WIRE-65",
        "tool-output-available is a second result of call c1",
    ),
}
