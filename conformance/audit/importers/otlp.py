"""Reads exports of spans: each span as a flat object, with the thread that an importer gives it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.audit.importers.exports import spans_in
from runlock.conformance.audit.recording import Recording, Row, Unreadable
from runlock.conformance.trace.trace import Trace

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


def has_attribute(record: Any, *names: str) -> bool:
    """Whether a span of an export has one of these attributes."""
    return any(not one["attributes"].keys().isdisjoint(names) for one in spans_in(record))


def keyed(records: Iterable[Any], source: str, thread_of: Callable[[Span], str | None]) -> Iterator[Row]:
    """The spans that `thread_of` gives a thread, as flat records; the others are counted by their library."""
    left = Counter[str]()
    for record in records:
        if isinstance(record, Unreadable):
            yield Row(source, record)
        else:
            is_export = False
            for flat in spans_in(record):
                is_export = True
                thread = thread_of(span_of(flat))
                if thread is None:
                    left[f"a span of {flat['library'] or 'an unnamed library'}"] += 1
                else:
                    yield Row(thread, flat)
            left["a record that is no export of spans"] += not is_export
    left = +left
    if left:
        yield Row(source, {LEFT: dict(left)})


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
