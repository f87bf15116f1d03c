"""Imports what LangSmith and Langfuse export: runs and observations, each as one JSON object.

A run of LangSmith is a `RunBase` with `trace_id` and `dotted_order` (langchain-ai/langsmith-sdk,
`python/langsmith/schemas.py`); an observation of Langfuse is an `Observation`, alone or in the `observations`
of its trace (langfuse/langfuse, `fern/apis/server/definition/commons.yml`).  A run of type `llm`, and an
observation of type `GENERATION`, is an inference; one of type `tool` an execution; one without a parent a
segment of a run.  Where what the model was shown is text, or names no calls, its history is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.audit.importers import otlp
from runlock.conformance.audit.importers.builder import handshake
from runlock.conformance.audit.importers.otel_genai import SPANS_SHOW
from runlock.conformance.audit.importers.spans import Chat, Spans, Tool, recording_of
from runlock.conformance.audit.importers.spoken import answer_of, messages_of
from runlock.conformance.audit.recording import Grade, Recording, Row, Unreadable
from runlock.conformance.inputs import json_in

Raw = Mapping[str, Any]
Found = list[dict[str, Any]] | None

WHOLE: Final = ("observations", "runs", "child_runs", "data")
THREADS: Final = ("thread_id", "session_id", "conversation_id", "langfuse_session_id")
"""Metadata that say which traces are one conversation."""


TABLES: Final[Mapping[str, str]] = {
    "trace_id": "traceId",
    "parent_observation_id": "parentObservationId",
    "session_id": "sessionId",
    "status_message": "statusMessage",
}
"""Names in the exports of tables of Langfuse, by those in its API."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a service calls the parts of a span."""

    kind: str
    chat: str
    tool: str
    trace: str
    parent: str
    own: frozenset[str]  # keys that only its spans have


class Service:
    """The spans of one service; `shown` and `said` find the messages of an inference."""

    clauses = SPANS_SHOW - {"DECIDE-7"}  # a tool's arguments are written in a form of each library
    is_scattered = True

    def __init__(
        self, name: str, says: str, words: Words, shown: Callable[[Raw], Any], said: Callable[[Raw], Found]
    ) -> None:
        self.name, self.says = name, says
        self._words, self._shown, self._said = words, shown, said
        self._names = TABLES if "traceId" in words.own else {}

    def grade(self, claims: Mapping[str, Any]) -> Grade:
        """What the spans show."""
        return Grade("not shown", "not shown", "shown", "in part", "in part")

    def recognises(self, record: Any) -> bool:
        """Whether it is such a span, or an object with a list of them."""
        return any(True for _ in self._spans(record))

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """The spans by conversation, or by trace where there is none."""
        left = Counter[str]()
        for record in records:
            if isinstance(record, Unreadable):
                yield Row(source, record)
                continue
            spans = list(self._spans(record))
            yield from (Row(self._thread(span), span) for span in spans)
            left["a record that is no span"] += not spans
        if left := +left:
            yield Row(source, {otlp.LEFT: dict(left)})

    def _spans(self, record: Any) -> Iterator[Raw]:
        if not isinstance(record, dict):
            return
        record = {self._names.get(key, key): value for key, value in record.items()}
        if self._words.own <= record.keys():
            yield record
        for name in WHOLE:
            listed = record.get(name)
            named = {"sessionId": record["sessionId"]} if record.get("sessionId") else {}
            for one in listed if isinstance(listed, list) else ():
                yield from self._spans({**named, **one} if isinstance(one, dict) else one)

    def _thread(self, span: Raw) -> str:
        extra = span.get("extra") or {}
        metadata = extra.get("metadata") or json_in(span.get("metadata")) or {}
        known = metadata if isinstance(metadata, dict) else {}
        named = span.get("sessionId") or next((known[one] for one in THREADS if known.get(one)), None)
        return str(named or span.get(self._words.trace))

    def recordings(self, thread: str, records: Sequence[Any]) -> Iterator[Recording]:
        """The trace of a conversation."""
        yield from otlp.left_over(thread, records)
        spans = [one for one in records if otlp.is_span(one)]
        if spans:
            claims = handshake(self.name, "?", gates=["model", "tool"], observes=["run.finished"])
            yield recording_of(thread, self._read(spans), claims)

    def _read(self, spans: Sequence[Raw]) -> Spans:
        read, words = Spans(), self._words
        for span in sorted(spans, key=lambda one: str(one.get("dotted_order", ""))):
            kind, segment = str(span.get(words.kind)).lower(), str(span.get(words.trace))
            if kind == words.chat:
                read.chats.append(self._chat(span, segment))
            elif kind == words.tool:
                read.tools.append(_tool(span, segment))
            elif not span.get(words.parent):
                read.ended[segment] = not _failed(span)
        return read

    def _chat(self, span: Raw, segment: str) -> Chat:
        messages = messages_of(json_in(self._shown(span)))
        turns = [one for one in self._said(span) or () if one["role"] == "assistant"]
        if not turns:
            return Chat(segment, messages, error=_failed(span))
        calls = [one for turn in turns for one in turn["tool_calls"]]
        return Chat(segment, messages, "".join(turn["text"] for turn in turns), calls)


def _failed(span: Raw) -> str:
    """Why a span failed; empty if it did not."""
    level = span.get("statusMessage") or "an error" if span.get("level") == "ERROR" else ""
    return str(span.get("error") or level)


def _tool(span: Raw, segment: str) -> Tool:
    given = span.get("outputs", span.get("output")) or None
    call, text, kind = answer_of(given)
    failed = _failed(span)
    if "GraphInterrupt" in failed or (given is None and not failed):
        return Tool(segment, call, str(span.get("name")), None, "pending", None)
    return Tool(segment, call, str(span.get("name")), None, "error" if failed else kind, text)


def _smith_said(span: Raw) -> Found:
    """The turn of a run of LangSmith: a generation of LangChain, or what an API answered."""
    outputs = span.get("outputs") or {}
    listed = outputs.get("generations")
    if isinstance(listed, list) and listed:
        first = listed[0][0] if isinstance(listed[0], list) and listed[0] else listed[0]
        return messages_of([first["message"]]) if isinstance(first, dict) and "message" in first else None
    choices = outputs.get("choices")
    if isinstance(choices, list):
        return messages_of(
            [one["message"] for one in choices[:1] if isinstance(one, dict) and "message" in one]
        )
    return messages_of([outputs]) if outputs.get("role") == "assistant" else messages_of(outputs)


def _fuse_said(span: Raw) -> Found:
    """The output of a generation of Langfuse: a text, a message, or several."""
    output = json_in(span.get("output"))
    if isinstance(output, str):
        return [{"role": "assistant", "text": output, "tool_calls": []}]
    if isinstance(output, dict) and not isinstance(output.get("messages"), list):
        return messages_of([{"role": "assistant", **output}])
    return messages_of(output)


LANGSMITH: Final = Service(
    "langsmith",
    "runs of LangSmith",
    Words("run_type", "llm", "tool", "trace_id", "parent_run_id", frozenset({"run_type", "trace_id"})),
    lambda span: span.get("inputs"),
    _smith_said,
)
LANGFUSE: Final = Service(
    "langfuse",
    "observations of Langfuse",
    Words(
        "type",
        "generation",
        "tool",
        "traceId",
        "parentObservationId",
        frozenset({"traceId", "type", "level"}),
    ),
    lambda span: span.get("input"),
    _fuse_said,
)
IMPORTERS: Final = (LANGSMITH, LANGFUSE)
