"""Imports OpenTelemetry spans of the GenAI semantic conventions, from any export of spans.

An `invoke_agent` span is a segment of a run, a `chat` span an inference, an `execute_tool` span an execution.
The older spelling is read too: messages as `gen_ai.prompt.N.*` and `gen_ai.completion.N.*`, and the kinds of
OpenLLMetry (traceloop/openllmetry, `packages/opentelemetry-semantic-conventions-ai`, `SpanAttributes` and
`TraceloopSpanKindValues`), whose tools have no ids of calls; and the events of older conventions (see
`span_events`), where log records are joined with the span that they name.
A call that was refused leaves no span, so decisions are not shown; nor is whether a run that ends with an
open call waits for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from runlock.conformance.audit.importers import otlp
from runlock.conformance.audit.importers.builder import handshake
from runlock.conformance.audit.importers.histories import assistant, call, object_of, result, text_of, user
from runlock.conformance.audit.importers.otlp import Span
from runlock.conformance.audit.importers.span_events import EVENTS, executed, told
from runlock.conformance.audit.importers.spans import Chat, Spans, Tool, recording_of
from runlock.conformance.audit.importers.spoken import indexed
from runlock.conformance.audit.recording import Grade, Recording, Row
from runlock.conformance.inputs import json_in

OPERATION: Final = "gen_ai.operation.name"
CHATS: Final = ("chat", "generate_content", "text_completion")
AGENT: Final = "invoke_agent"
TOOL: Final = "execute_tool"
READ: Final = (*CHATS, AGENT, TOOL)
OLDER: Final = "traceloop.span.kind"
KINDS: Final = {"workflow": AGENT, "agent": AGENT, "tool": TOOL}
"""The kinds of OpenLLMetry by the operations of the conventions; a task is none of them."""

MESSAGES: Final = ("gen_ai.input.messages", "gen_ai.output.messages")
ASKED: Final = ("gen_ai.prompt.0.role", "gen_ai.prompt.0.content", "gen_ai.completion.0.role")

SPANS_SHOW: Final = frozenset(
    {
        "PAIR-1", "PAIR-2", "PAIR-3", "PAIR-4", "PAIR-8", "ROUND-1", "ROUND-2", "ROUND-3", "ONCE-1",
        "CALL-23", "DECIDE-7",
    }
)  # fmt: skip


class OtelGenAi:
    """Spans of the GenAI semantic conventions."""

    name = "otel-genai"
    says = "OpenTelemetry spans of the GenAI conventions, as OTLP JSON"
    clauses = SPANS_SHOW
    is_scattered = True

    def grade(self, claims: Mapping[str, Any]) -> Grade:
        """What the spans show."""
        return Grade("not shown", "not shown", "shown", "in part", "in part")

    def recognises(self, record: Any) -> bool:
        """Whether its spans have attributes of the conventions."""
        return otlp.has_attribute(record, OPERATION, OLDER, EVENTS, *MESSAGES, *ASKED)

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """The spans by conversation, or by trace where there is none."""
        return otlp.keyed(records, source, _thread)

    def recordings(self, thread: str, records: Sequence[Any]) -> Iterator[Recording]:
        """One recording for each agent; an agent that another one calls as a tool has its own."""
        yield from otlp.left_over(thread, records)
        spans = _joined(otlp.span_of(one) for one in records if otlp.is_span(one))
        for name, of_agent in _by_agent(spans).items():
            yield recording_of(f"{thread}/{name}" if name else thread, _read(of_agent), _claims(of_agent))


def _joined(spans: Iterable[Span]) -> list[Span]:
    """The spans, each with the log records that name it; records whose span is missing are one too."""
    found: dict[tuple[str, str], list[Span]] = {}
    for span in spans:
        parts = found.setdefault((span.trace, span.id), [])
        if span.name and any(one.name for one in parts):
            found[span.trace, f"{span.id} {len(found)}"] = [span]  # one that was exported twice
        else:
            parts.append(span)
    return [_whole(parts) for parts in found.values()]


def _whole(parts: Sequence[Span]) -> Span:
    span = next((one for one in parts if one.name), parts[0])
    if len(parts) == 1:
        return span
    attributes = {key: value for one in parts for key, value in one.attributes.items()}
    events = [event for one in parts for event in one.attributes.get(EVENTS, ())]
    return replace(span, attributes=attributes | dict(span.attributes) | ({EVENTS: events} if events else {}))


def _operation(span: Span) -> str:
    """The operation of a span, also if it is in the older spelling, or only its log records are known."""
    if not span.attributes.keys().isdisjoint(ASKED) or (not span.name and _has_messages(span)):
        return CHATS[0]
    return span.get(OPERATION) or KINDS.get(span.get(OLDER), "")


def _has_messages(span: Span) -> bool:
    return not span.attributes.keys().isdisjoint((EVENTS, *MESSAGES))


def _thread(span: Span) -> str | None:
    if _operation(span) not in READ:
        return None
    return span.get("gen_ai.conversation.id") or span.trace


def _claims(spans: Sequence[Span]) -> dict[str, Any]:
    library = spans[0]
    return handshake(
        library.library or "unknown",
        library.version or "?",
        gates=["model", "tool"],
        observes=["run.finished"],
    )


def _by_agent(spans: Sequence[Span]) -> dict[str, list[Span]]:
    """The spans of each agent; the agent that others do not call has the empty name."""
    known = {span.id: span for span in spans}
    found: dict[str, list[Span]] = {}
    for span in spans:
        found.setdefault(_agent_of(span, known), []).append(span)
    return found


def _agent_of(span: Span, known: Mapping[str, Span]) -> str:
    """The outermost span of an agent that another span called, or an empty name."""
    inner = span
    for above in _above(span, known):
        is_called = _operation(inner) == AGENT and _operation(above) in (AGENT, TOOL)
        if is_called:
            return inner.id
        inner = above
    return ""


def _above(span: Span, known: Mapping[str, Span]) -> Iterator[Span]:
    """The spans around a span, from the inside; a broken recording may have them in a circle."""
    seen = {span.id}
    while (parent := known.get(span.parent)) is not None and parent.id not in seen:
        seen.add(parent.id)
        yield parent
        span = parent


def _read(spans: Sequence[Span]) -> Spans:
    known = {span.id: span for span in spans}
    read = Spans()
    for span in spans:
        operation, segment = _operation(span), _segment(span, known)
        if operation in CHATS:
            read.chats.append(_chat(span, segment))
        elif operation == TOOL:
            read.tools.append(_tool(span, segment))
        else:
            read.ended[segment] = not span.is_failed
    return read


def _segment(span: Span, known: Mapping[str, Span]) -> str:
    """What a span is a part of: one invocation of its agent."""
    around = (one for one in (span, *_above(span, known)) if _operation(one) == AGENT)
    agent = next(around, None)
    named = span.get("gen_ai.agent.call.id")
    return named or (agent.id if agent is not None else span.parent or span.trace)


def _chat(span: Span, segment: str) -> Chat:
    if not span.attributes.keys().isdisjoint(ASKED):
        return _older_chat(span, segment)
    if EVENTS in span.attributes:
        return _chat_of(*told(span.attributes[EVENTS]), span, segment)
    shown, answered = (_json(span.attributes.get(side)) for side in MESSAGES)
    messages = None if shown is None else [one for raw in shown for one in _messages(raw)]
    if answered is None:
        return Chat(segment, messages, error=span.exception if span.is_failed else "")
    turns = [one for raw in answered for one in _messages(raw) if one["role"] == "assistant"]
    calls = [one for turn in turns for one in turn["tool_calls"]]
    return Chat(segment, messages, "".join(turn["text"] for turn in turns), calls)


def _older_chat(span: Span, segment: str) -> Chat:
    """An inference whose messages are attributes of their own."""
    shown, answered = (indexed(span.attributes, side) for side in ("prompt", "completion"))
    return _chat_of(shown, answered or (), span, segment)


def _chat_of(
    shown: list[dict[str, Any]] | None, answered: Iterable[Mapping[str, Any]], span: Span, segment: str
) -> Chat:
    """An inference with this history; one without a turn failed, or its content was not recorded."""
    turns = [one for one in answered if one["role"] == "assistant"]
    if not turns:
        return Chat(segment, shown, error=span.exception if span.is_failed else "")
    calls = [one for turn in turns for one in turn["tool_calls"]]
    return Chat(segment, shown, "".join(turn["text"] for turn in turns), calls)


def _json(value: Any) -> list[dict[str, Any]] | None:
    """The list of an attribute, which is JSON text in a span."""
    value = json_in(value)
    return value if isinstance(value, list) else None


def _messages(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A message of the conventions; each result of a call in it is a message of its own."""
    parts = raw.get("parts", ())
    for part in parts:
        if part.get("type") == "tool_call_response":
            answer = part.get("result", part.get("response"))
            yield result(str(part.get("id")), text_of(answer))
    text = "".join(str(part.get("content", "")) for part in parts if part.get("type") == "text")
    calls = [call(str(p.get("id")), str(p.get("name")), p.get("arguments")) for p in parts if _asks(p)]
    if raw.get("role") == "assistant":
        yield assistant(text, calls)
    elif raw.get("role") == "user" and any(part.get("type") != "tool_call_response" for part in parts):
        yield user(text)


def _asks(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "tool_call"


def _tool(span: Span, segment: str) -> Tool:
    attributes = span.attributes
    answer = attributes.get("gen_ai.tool.call.result", attributes.get("traceloop.entity.output"))
    given = attributes.get("gen_ai.tool.call.arguments")
    args, text = executed(attributes.get(EVENTS, ()))
    return Tool(
        segment,
        span.get("gen_ai.tool.call.id") or None,
        span.get("gen_ai.tool.name") or span.get("traceloop.entity.name"),
        args if given is None else object_of(given),
        "error" if span.is_failed else "ok",
        text if answer is None else text_of(answer),
    )


IMPORTER: Final = OtelGenAi()
