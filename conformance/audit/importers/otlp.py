"""Reads OTLP JSON: the spans of a request as flat objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.audit.recording import Recording, Row, Unreadable
from runlock.conformance.trace.trace import Trace

FAILED: Final = (2, "STATUS_CODE_ERROR")
LEFT: Final = "unknown"
"""The key of a record that counts what an importer leaves out of a file; its thread is the file."""


@dataclass(frozen=True, slots=True)
class Span:
    """One span, as far as an importer reads it."""

    trace: str
    id: str
    parent: str
    name: str
    library: str
    version: str
    is_failed: bool
    exception: str
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def get(self, key: str) -> str:
        """An attribute as text; empty if there is none."""
        return str(self.attributes.get(key, ""))


def is_otlp(record: Any) -> bool:
    """Whether a record is an export of spans."""
    return isinstance(record, dict) and isinstance(record.get("resourceSpans"), list)


def attribute_names(record: Mapping[str, Any]) -> Iterator[str]:
    """The names of the attributes of all spans of an export."""
    for scope in _scopes(record):
        for raw in scope.get("spans", ()):
            yield from (str(one.get("key")) for one in raw.get("attributes", ()))


def _scopes(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in record.get("resourceSpans", ()):
        yield from resource.get("scopeSpans", ())


def keyed(records: Iterable[Any], source: str, thread_of: Callable[[Span], str | None]) -> Iterator[Row]:
    """The spans that `thread_of` gives a thread, as flat records; the others are counted by their library."""
    left = Counter[str]()
    for record in records:
        if isinstance(record, Unreadable):
            yield Row(source, record)
        elif not is_otlp(record):
            left["a record that is no export of spans"] += 1
        else:
            for flat in _flat(record):
                thread = thread_of(span_of(flat))
                if thread is None:
                    left[f"a span of {flat['library'] or 'an unnamed library'}"] += 1
                else:
                    yield Row(thread, flat)
    if left:
        yield Row(source, {LEFT: dict(left)})


def _flat(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for scope in _scopes(record):
        library = scope.get("scope", {})
        for raw in scope.get("spans", ()):
            yield {
                "trace": str(raw.get("traceId", "")),
                "id": str(raw.get("spanId", "")),
                "parent": str(raw.get("parentSpanId") or ""),
                "name": str(raw.get("name", "")),
                "library": str(library.get("name", "")),
                "version": str(library.get("version", "")),
                "is_failed": raw.get("status", {}).get("code") in FAILED,
                "exception": _exception(raw),
                "attributes": {one["key"]: _plain(one.get("value", {})) for one in raw.get("attributes", ())},
            }


def span_of(flat: Mapping[str, Any]) -> Span:
    """A flat record as a span."""
    return Span(**flat)


def is_span(record: Any) -> bool:
    """Whether a record is a flat span, and not something that was left over."""
    return not isinstance(record, Unreadable) and LEFT not in record


def left_over(thread: str, records: Iterable[Any]) -> Iterator[Recording]:
    """What was left over of a file: lines that are no JSON, and the numbers of other spans."""
    for record in records:
        if isinstance(record, Unreadable):
            yield Recording(thread, Trace(), unexplained=[record.sentence])
        elif LEFT in record:
            yield Recording(thread, Trace(), unknown=Counter(record[LEFT]))


def _exception(raw: Mapping[str, Any]) -> str:
    """The type of the exception that ended a span, or an empty string."""
    for event in raw.get("events", ()):
        for one in event.get("attributes", ()):
            if one.get("key") == "exception.type":
                return str(_plain(one.get("value", {})))
    return ""


def _plain(value: Mapping[str, Any]) -> Any:
    """The value of an attribute, which OTLP wraps in the name of its type."""
    for kind, inner in value.items():
        if kind == "arrayValue":
            return [_plain(one) for one in inner.get("values", ())]
        if kind == "kvlistValue":
            return {one["key"]: _plain(one.get("value", {})) for one in inner.get("values", ())}
        return int(inner) if kind == "intValue" else inner
    return None
