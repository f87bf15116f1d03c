"""Imports OpenInference spans, from any export of spans; recorded with the instrumentation of LangChain.

A span of kind LLM is an inference, one of kind TOOL an execution.  The outermost span of a trace is a segment
of a run.  The id of the call is in what the tool answered, a message as JSON; without it a tool is known by
its name, where that leaves no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.audit.importers import otlp
from runlock.conformance.audit.importers.builder import handshake
from runlock.conformance.audit.importers.histories import assistant, call, result, text_of, user
from runlock.conformance.audit.importers.otel_genai import SPANS_SHOW
from runlock.conformance.audit.importers.otlp import Span
from runlock.conformance.audit.importers.spans import Chat, Spans, Tool, recording_of
from runlock.conformance.audit.recording import Grade, Recording, Row
from runlock.conformance.inputs import json_in

KIND: Final = "openinference.span.kind"
INTERRUPTED: Final = "GraphInterrupt"
STATUSES: Final = {"success": "ok", "error": "error"}
INDEXED: Final = re.compile(r"llm\.(input|output)_messages\.(\d+)\.message\.(.+)")
CALLED: Final = re.compile(r"tool_calls\.(\d+)\.tool_call\.(id|function\.name|function\.arguments)")


class OpenInference:
    """Spans of OpenInference."""

    name = "openinference"
    says = "OpenInference spans"
    clauses = SPANS_SHOW - {"DECIDE-7"}  # a tool's arguments are written in a form of each library
    is_scattered = True

    def grade(self, claims: Mapping[str, Any]) -> Grade:
        """What the spans show."""
        return Grade("not shown", "not shown", "shown", "in part", "in part")

    def recognises(self, record: Any) -> bool:
        """Whether its spans have a kind of OpenInference."""
        return otlp.has_attribute(record, KIND)

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """The spans by session, or by trace where there is none."""
        return otlp.keyed(records, source, _thread)

    def recordings(self, thread: str, records: Sequence[Any]) -> Iterator[Recording]:
        """The trace of a session."""
        yield from otlp.left_over(thread, records)
        spans = [otlp.span_of(one) for one in records if otlp.is_span(one)]
        if spans:
            yield recording_of(thread, _read(spans), _claims(spans))


def _thread(span: Span) -> str | None:
    return (span.get("session.id") or span.trace) if span.get(KIND) else None


def _claims(spans: Sequence[Span]) -> dict[str, Any]:
    library, version = spans[0].library or "unknown", spans[0].version or "?"
    return handshake(library, version, gates=["model", "tool"], observes=["run.finished"])


def _read(spans: Sequence[Span]) -> Spans:
    read = Spans()
    for span in spans:
        if span.get(KIND) == "LLM":
            read.chats.append(_chat(span))
        elif span.get(KIND) == "TOOL":
            read.tools.append(_tool(span))
        elif not span.parent:
            read.ended[span.trace] = not span.is_failed
    return read


def _chat(span: Span) -> Chat:
    sides: dict[str, dict[int, dict[str, Any]]] = {"input": {}, "output": {}}
    for key, value in span.attributes.items():
        if (found := INDEXED.fullmatch(key)) is not None:
            sides[found[1]].setdefault(int(found[2]), {})[found[3]] = value
    shown, answered = ([_message(raw) for _, raw in sorted(one.items())] for one in sides.values())
    messages = [one for one in shown if one is not None] or None
    turns = [one for one in answered if one is not None and one["role"] == "assistant"]
    if not turns:
        return Chat(span.trace, messages, error=span.exception if span.is_failed else "")
    calls = [one for turn in turns for one in turn["tool_calls"]]
    return Chat(span.trace, messages, "".join(turn["text"] for turn in turns), calls)


def _message(raw: Mapping[str, Any]) -> dict[str, Any] | None:
    text, role = str(raw.get("content", "")), raw.get("role")
    if role == "tool":
        return result(str(raw.get("tool_call_id")), text_of(text))
    if role == "assistant":
        return assistant(text, _calls(raw))
    return user(text) if role == "user" else None


def _calls(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    parts: dict[int, dict[str, Any]] = {}
    for key, value in raw.items():
        if (found := CALLED.fullmatch(key)) is not None:
            parts.setdefault(int(found[1]), {})[found[2]] = value
    for _, one in sorted(parts.items()):
        yield call(str(one.get("id")), str(one.get("function.name")), one.get("function.arguments"))


def _tool(span: Span) -> Tool:
    """An execution; an interrupt ends it without an answer, and it is executed again later."""
    answer = _answer(span.get("output.value"))
    name, id_ = span.get("tool.name") or span.name, answer.get("tool_call_id") or span.get("tool_call.id")
    if span.exception.endswith(INTERRUPTED):
        return Tool(span.trace, id_ or None, name, None, "pending", None)
    kind = "error" if span.is_failed else STATUSES.get(str(answer.get("status")), "ok")
    content = answer.get("content")
    return Tool(span.trace, id_ or None, name, None, kind, None if content is None else text_of(content))


def _answer(text: str) -> Mapping[str, Any]:
    """The message that a tool answered, as LangChain writes it; empty if it is none."""
    value = json_in(text)
    data = value.get("data", value) if isinstance(value, dict) else {}
    return data if isinstance(data, dict) else {}


IMPORTER: Final = OpenInference()
