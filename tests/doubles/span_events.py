"""Spans as older conventions have them: their messages in events of the span, or in log records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from audited import Records
from span_exports import Span, tempo

SIDES = ("gen_ai.input.messages", "gen_ai.output.messages")
SNAKE = {
    "resourceSpans": "resource_spans",
    "resourceLogs": "resource_logs",
    "scopeSpans": "scope_spans",
    "scopeLogs": "scope_logs",
    "logRecords": "log_records",
    "eventName": "event_name",
    "traceId": "trace_id",
    "spanId": "span_id",
    "parentSpanId": "parent_span_id",
    "stringValue": "string_value",
    "arrayValue": "array_value",
    "kvlistValue": "kvlist_value",
    "intValue": "int_value",
}
Event = tuple[str, dict[str, Any]]


def _taken(span: Span) -> list[Event]:
    """The messages of a span as events, which are taken out of its attributes."""
    listed = span["attributes"]
    found = {one["key"]: json.loads(one["value"]["stringValue"]) for one in listed if one["key"] in SIDES}
    span["attributes"] = [one for one in listed if one["key"] not in SIDES]
    shown = [event for message in found.get(SIDES[0], ()) for event in _events(message)]
    said = [_body(message) for message in found.get(SIDES[1], ())]
    return [*shown, *(("gen_ai.choice", {"index": 0, "message": body}) for body in said)]


def _events(message: Span) -> Iterator[Event]:
    role, parts = message["role"], message["parts"]
    for one in parts:
        if one["type"] == "tool_call_response":
            answer = one.get("result", one.get("response"))
            yield "gen_ai.tool.message", {"id": one["id"], "content": _text(answer)}
    if role == "assistant" or any(one["type"] != "tool_call_response" for one in parts):
        yield f"gen_ai.{role}.message", _body(message)


def _body(message: Span) -> Span:
    parts = message["parts"]
    calls = [
        {
            "id": one["id"],
            "type": "function",
            "function": {"name": one["name"], "arguments": _text(one.get("arguments"))},
        }
        for one in parts
        if one["type"] == "tool_call"
    ]
    text = "".join(_text(one.get("content", "")) for one in parts if one["type"] == "text")
    return {"role": message["role"], "content": text, **({"tool_calls": calls} if calls else {})}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _value(value: Any) -> Span:
    """A value as OTLP wraps it."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": _value(one)} for key, one in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(one) for one in value]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def _attributes(values: Span) -> list[Span]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _spans(records: Records) -> tuple[Records, list[Span]]:
    """A copy of exports, and all spans in it."""
    made = json.loads(json.dumps(records))
    scopes = [scope for record in made for one in record["resourceSpans"] for scope in one["scopeSpans"]]
    return made, [span for scope in scopes for span in scope["spans"]]


def in_attributes(records: Records) -> Any:
    """Events of a span, whose attributes have the message, with its calls as JSON."""
    made, spans = _spans(records)
    for span in spans:
        for name, body in _taken(span):
            flat = {
                key: json.dumps(one) if isinstance(one, dict | list) else one for key, one in body.items()
            }
            span.setdefault("events", []).append({"name": name, "attributes": _attributes(flat)})
    return tempo(made)


def in_one_attribute(records: Records) -> Any:
    """Events of a span with the message as JSON."""
    made, spans = _spans(records)
    for span in spans:
        for name, body in _taken(span):
            given = _attributes({"gen_ai.event.content": json.dumps(body)})
            span.setdefault("events", []).append({"name": name, "attributes": given})
    return tempo(made)


def in_logs(records: Records) -> Records:
    """Log records, before their spans."""
    made, spans = _spans(records)
    logs = [
        {
            "traceId": span["traceId"],
            "spanId": span["spanId"],
            "eventName": name,
            "body": _value(body),
            "attributes": [one for one in span["attributes"] if one["key"] == "gen_ai.conversation.id"],
        }
        for span in spans
        for name, body in _taken(span)
    ]
    return [*({"resourceLogs": [{"scopeLogs": [{"logRecords": [one]}]}]} for one in logs), *made]


def in_snake_case(records: Records) -> Any:
    """Exports with the names that the schema of OTLP has."""
    text = json.dumps(in_logs(records))
    for name, other in SNAKE.items():
        text = text.replace(f'"{name}"', f'"{other}"')
    return json.loads(text)


OLDER: dict[str, Callable[[Records], Any]] = {
    "attributes of events": in_attributes,
    "one attribute of events": in_one_attribute,
    "log records": in_logs,
    "log records, in snake case": in_snake_case,
}
