"""Finds the spans of an export, whatever wrote it, and makes each a flat record.

- OTLP JSON: `resourceSpans`, before 1.0 with `instrumentationLibrarySpans`, and `resourceLogs`, with the
  names of its fields in either case (open-telemetry/opentelemetry-proto,
  `opentelemetry/proto/trace/v1/trace.proto` and `logs/v1/logs.proto`).
- Tempo: `batches`, or `trace` with `resourceSpans` (grafana/tempo, `pkg/tempopb/tempo.proto`).
- Jaeger: `data` with traces of `spans`, or one such trace (jaegertracing/jaeger,
  `internal/uimodel/model.go`).
- Phoenix: `data` with spans, or a table with a column for each attribute (Arize-ai/phoenix,
  `src/phoenix/server/api/routers/v1/spans.py`).
- The SDK for Python: an object for each span (open-telemetry/opentelemetry-python,
  `opentelemetry-sdk/src/opentelemetry/sdk/trace/__init__.py`, `ReadableSpan.to_json`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.audit.importers.span_events import EVENTS, noted
from runlock.conformance.inputs import json_in

Raw = Mapping[str, Any]
Flat = dict[str, Any]

FAILED: Final = frozenset({2, "STATUS_CODE_ERROR", "ERROR"})
LISTS: Final = (
    "resourceSpans", "resource_spans", "resourceLogs", "resource_logs", "batches", "data", "spans",
)  # fmt: skip
"""Names under which an export has its parts."""

SCOPES: Final = (
    "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans", "scopeLogs",
    "scope_logs",
)  # fmt: skip
SNAKE: Final[Mapping[str, str]] = {
    "trace_id": "traceId",
    "span_id": "spanId",
    "parent_span_id": "parentSpanId",
    "instrumentation_library": "instrumentationLibrary",
    "log_records": "logRecords",
    "event_name": "eventName",
}
"""Names of fields of OTLP as its schema has them, by those of its JSON."""
MESSAGES: Final = frozenset({"gen_ai.input.messages", "gen_ai.output.messages"})
COLUMN: Final = "attributes."
"""What the name of the column of an attribute begins with, where each has one."""


def spans_in(record: Any) -> Iterator[Flat]:
    """The spans of a record as flat records; none if it is no export."""
    if not isinstance(record, dict):
        return
    if any(isinstance(record.get(name), list) for name in SCOPES):
        yield from _of_resource(record)
    elif isinstance(record.get("trace"), dict):
        yield from spans_in(record["trace"])
    elif (
        listed := next((record[one] for one in LISTS if isinstance(record.get(one), list)), None)
    ) is not None:
        for part in listed:
            yield from spans_in(part)
    elif "traceID" in record and "operationName" in record:
        yield _of_jaeger(record)
    elif _is_otlp(record):
        yield _of_otlp(_camel(record), {})
    elif (ids := _ids(record)) is not None:
        yield _of_object(record, *ids)


def _of_resource(record: Raw) -> Iterator[Flat]:
    for scope in (_camel(one) for name in SCOPES for one in _listed(record.get(name))):
        named = scope.get("scope") or scope.get("instrumentationLibrary")
        library = named if isinstance(named, dict) else {}
        for raw in _listed(scope.get("spans")):
            yield _of_otlp(_camel(raw), library)
        for raw in _listed(scope.get("logRecords")):
            yield _of_log(_camel(raw), library)


def _camel(raw: Raw) -> Raw:
    """The fields under their names in JSON."""
    return {SNAKE.get(key, key): value for key, value in raw.items()} if raw.keys() & SNAKE else raw


def _is_otlp(record: Raw) -> bool:
    ids = _camel(record).keys() >= {"traceId", "spanId"}
    return ids and isinstance(record.get("attributes"), list)


def _of_log(raw: Raw, library: Raw) -> Flat:
    """A log record with what it says of its span, as a part of that span, without a name."""
    attributes = _pairs(raw.get("attributes"), _plain)
    event = noted(raw.get("eventName"), _plain(raw.get("body")), attributes)
    return _of_otlp({**raw, "name": "", "parentSpanId": "", "status": None, "events": []}, library) | {
        "attributes": event | attributes
    }


def _of_otlp(raw: Raw, library: Raw) -> Flat:
    status = raw.get("status")
    events = [
        (event.get("name"), _pairs(event.get("attributes"), _plain)) for event in _listed(raw.get("events"))
    ]
    return {
        "trace": str(raw.get("traceId", "")),
        "id": str(raw.get("spanId", "")),
        "parent": str(raw.get("parentSpanId") or ""),
        "name": str(raw.get("name", "")),
        "library": str(library.get("name", "")),
        "version": str(library.get("version", "")),
        "is_failed": isinstance(status, dict) and status.get("code") in FAILED,
        "exception": _exception(events),
        "attributes": _content(events) | _pairs(raw.get("attributes"), _plain),
    }


def _pairs(listed: Any, plain: Callable[[Any], Any] = lambda value: value) -> dict[str, Any]:
    """A list of keys with values as an object."""
    return {str(one["key"]): plain(one.get("value")) for one in _listed(listed) if "key" in one}


def _plain(value: Any) -> Any:
    """The value of an attribute, which OTLP wraps in the name of its type."""
    for kind, inner in value.items() if isinstance(value, dict) else ():
        if kind in ("arrayValue", "array_value") and isinstance(inner, dict):
            return [_plain(one) for one in _listed(inner.get("values"))]
        if kind in ("kvlistValue", "kvlist_value") and isinstance(inner, dict):
            return _pairs(inner.get("values"), _plain)
        return int(inner) if kind in ("intValue", "int_value") else inner
    return None


def _of_jaeger(raw: Raw) -> Flat:
    tags = _pairs(raw.get("tags"))
    parents = [one for one in _listed(raw.get("references")) if one.get("refType") == "CHILD_OF"]
    fields = [_pairs(log.get("fields")) for log in _listed(raw.get("logs"))]
    events = [(one.get("event"), one) for one in fields]
    return {
        "trace": str(raw["traceID"]),
        "id": str(raw.get("spanID", "")),
        "parent": str(parents[0].get("spanID", "")) if parents else str(raw.get("parentSpanID") or ""),
        "name": str(raw["operationName"]),
        "library": str(tags.get("otel.scope.name") or tags.get("otel.library.name") or ""),
        "version": str(tags.get("otel.scope.version") or tags.get("otel.library.version") or ""),
        "is_failed": tags.get("error") in (True, "true") or tags.get("otel.status_code") in FAILED,
        "exception": _exception(events),
        "attributes": _content(events) | tags,
    }


def _ids(record: Raw) -> tuple[str, str] | None:
    """The ids of a span of the Python SDK or of Phoenix; None if a record is no such span."""
    context = record.get("context")
    found = (
        context
        if isinstance(context, dict)
        else {one: record.get(f"context.{one}") for one in ("trace_id", "span_id")}
    )
    ids = found.get("trace_id"), found.get("span_id")
    return (str(ids[0]), str(ids[1])) if all(ids) else None


def _of_object(raw: Raw, trace: str, id_: str) -> Flat:
    """A span whose attributes are an object, or have a column each."""
    status = raw.get("status")
    code = status.get("status_code") if isinstance(status, dict) else raw.get("status_code")
    scope = _object(raw.get("instrumentation_scope"))
    columns = {key.removeprefix(COLUMN): value for key, value in raw.items() if key.startswith(COLUMN)}
    given = _object(raw.get("attributes"))
    events = [(one.get("name"), _object(one.get("attributes", one))) for one in _listed(raw.get("events"))]
    kind = {"openinference.span.kind": raw["span_kind"]} if raw.get("span_kind") else {}
    return {
        "trace": trace.removeprefix("0x"),
        "id": id_.removeprefix("0x"),
        "parent": str(raw.get("parent_id") or "").removeprefix("0x"),
        "name": str(raw.get("name", "")),
        "library": str(scope.get("name", "")),
        "version": str(scope.get("version", "")),
        "is_failed": str(code).removeprefix("StatusCode.") in FAILED,
        "exception": _exception(events),
        "attributes": kind | _content(events) | dict(_flattened(columns | given)),
    }


def _object(value: Any) -> dict[str, Any]:
    """An object, or one as JSON text, as tables have it."""
    value = json_in(value)
    return value if isinstance(value, dict) else {}


def _listed(value: Any) -> list[Raw]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _flattened(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The attributes of a span with their whole names; Phoenix nests them by the parts of a name."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flattened(inner, f"{name}.{key}" if name else str(key))
    elif _is_nested(value):
        for number, inner in enumerate(value):
            yield from _flattened(inner, f"{name}.{number}")
    elif value is not None:
        yield name, value if isinstance(value, str | int | float | list) else str(value)


def _is_nested(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and any(isinstance(one, dict) for one in value)
    )


def _content(events: Iterable[tuple[Any, Raw]]) -> dict[str, Any]:
    """The messages of a span that are in its events, `gen_ai.client.inference.operation.details` or older."""
    found = [(noted(name, None, one), one) for name, one in events]
    older = [event for made, _ in found for event in made.get(EVENTS, ())]
    details = {key: value for _, one in found for key, value in one.items() if key in MESSAGES}
    return details | ({EVENTS: older} if older else {})


def _exception(events: Iterable[tuple[Any, Raw]]) -> str:
    """The type of the exception that ended a span, or an empty string."""
    return next((str(one["exception.type"]) for _, one in events if "exception.type" in one), "")
