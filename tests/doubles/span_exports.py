"""Spans in the forms in which collectors and services export them, made from recordings as OTLP JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from audited import Records

from runlock.conformance.audit.importers.exports import spans_in

Span = dict[str, Any]
KIND = "openinference.span.kind"
MESSAGE = re.compile(r"llm\.(input|output)_messages\.(\d+)\.message\.(.+)")
CALL = re.compile(r"tool_calls\.(\d+)\.tool_call\.(id|function\.name|function\.arguments)")


def flat(records: Records) -> list[Span]:
    """The spans of exports."""
    return [span for record in records for span in spans_in(record)]


# --- collectors ---------------------------------------------------------------------------------


def tempo(records: Records) -> Any:
    """What Tempo answers: the resource spans under another name."""
    return {"batches": [one for record in records for one in record["resourceSpans"]]}


def tempo_again(records: Records) -> Any:
    """What the second version of Tempo's API answers."""
    return {"trace": {"resourceSpans": tempo(records)["batches"]}, "metrics": {}}


def before_scopes(records: Records) -> Any:
    """OTLP before scopes were called so."""
    text = json.dumps({"resourceSpans": tempo(records)["batches"]})
    return json.loads(
        text.replace('"scopeSpans"', '"instrumentationLibrarySpans"').replace(
            '"scope"', '"instrumentationLibrary"'
        )
    )


def _tags(values: Span) -> list[Span]:
    return [
        {"key": key, "type": "string", "value": value if isinstance(value, str) else json.dumps(value)}
        for key, value in values.items()
    ]


def jaeger(records: Records) -> Any:
    """The traces of Jaeger."""
    traces: dict[str, list[Span]] = {}
    for span in flat(records):
        failed = {"error": True} if span["is_failed"] else {}
        raised = {"exception.type": span["exception"]} if span["exception"] else {}
        above = [{"refType": "CHILD_OF", "traceID": span["trace"], "spanID": span["parent"]}]
        scope = {"otel.scope.name": span["library"], "otel.scope.version": span["version"]}
        traces.setdefault(span["trace"], []).append(
            {
                "traceID": span["trace"],
                "spanID": span["id"],
                "operationName": span["name"],
                "references": above if span["parent"] else [],
                "tags": _tags({**span["attributes"], **scope})
                + [{"key": key, "type": "bool", "value": value} for key, value in failed.items()],
                "logs": [{"timestamp": 1, "fields": _tags(raised)}] if raised else [],
                "processID": "p1",
            }
        )
    whole = [
        {"traceID": trace, "spans": spans, "processes": {"p1": {"serviceName": "agent", "tags": []}}}
        for trace, spans in traces.items()
    ]
    return {"data": whole, "total": 0, "errors": None}


def console(records: Records) -> list[Span]:
    """The spans as the SDK for Python prints them."""
    return [
        {
            "name": span["name"],
            "context": {"trace_id": f"0x{span['trace']}", "span_id": f"0x{span['id']}", "trace_state": "[]"},
            "kind": "SpanKind.INTERNAL",
            "parent_id": f"0x{span['parent']}" if span["parent"] else None,
            "status": {"status_code": "ERROR" if span["is_failed"] else "UNSET"},
            "attributes": span["attributes"],
            "events": [{"name": "exception", "attributes": {"exception.type": span["exception"]}}]
            if span["exception"]
            else [],
        }
        for span in flat(records)
    ]


def detailed(records: Records) -> list[Span]:
    """The same, with the messages in events of the span."""
    made = console(records)
    for span in made:
        for name in ("gen_ai.input.messages", "gen_ai.output.messages"):
            if name in span["attributes"]:
                attributes = {name: span["attributes"].pop(name)}
                span["events"].append(
                    {"name": "gen_ai.client.inference.operation.details", "attributes": attributes}
                )
    return made


def _nested(attributes: Span) -> Span:
    """Attributes by the parts of their names, with lists where the parts are numbers."""
    made: Any = {}
    for key, value in attributes.items():
        at = made
        *above, last = key.split(".")
        for part in above:
            at = at.setdefault(part, {})
        at[last] = value
    return dict(_listed(made))


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value and all(key.isdigit() for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)]
    return {key: _listed(inner) for key, inner in value.items()}


def phoenix(records: Records) -> Any:
    """What the API of Phoenix answers."""
    return {"data": [_of_phoenix(span) for span in flat(records)], "next_cursor": None}


def _of_phoenix(span: Span) -> Span:
    attributes = dict(span["attributes"])
    return {
        "id": f"span-{span['id']}",
        "name": span["name"],
        "context": {"trace_id": span["trace"], "span_id": span["id"]},
        "span_kind": attributes.pop(KIND, "UNKNOWN"),
        "parent_id": span["parent"] or None,
        "status_code": "ERROR" if span["is_failed"] else "OK",
        "attributes": _nested(attributes),
        "events": [{"name": "exception", "attributes": {"exception.type": span["exception"]}}]
        if span["exception"]
        else [],
    }


def phoenix_table(records: Records) -> list[Span]:
    """The rows of the table in which Phoenix exports spans: a column for each attribute."""
    return [
        {
            "name": span["name"],
            "context.trace_id": span["trace"],
            "context.span_id": span["id"],
            "parent_id": span["parent"] or None,
            "status_code": "ERROR" if span["is_failed"] else "OK",
            "events": _of_phoenix(span)["events"],
            **{f"attributes.{key}": value for key, value in span["attributes"].items()},
        }
        for span in flat(records)
    ]


EXPORTS: dict[str, Callable[[Records], Any]] = {
    "tempo": tempo,
    "tempo 2": tempo_again,
    "before scopes": before_scopes,
    "jaeger": jaeger,
    "console": console,
    "details": detailed,
    "phoenix": phoenix,
    "a table of phoenix": phoenix_table,
}

# --- services -----------------------------------------------------------------------------------


def _sides(span: Span) -> tuple[list[Span], list[Span]]:
    """The messages of an inference of OpenInference: those that were shown, and the answer."""
    found: dict[str, dict[int, Span]] = {"input": {}, "output": {}}
    for key, value in span["attributes"].items():
        if (named := MESSAGE.fullmatch(key)) is not None:
            found[named[1]].setdefault(int(named[2]), {})[named[3]] = value
    shown, said = ([_chat(raw) for _, raw in sorted(one.items())] for one in found.values())
    return shown, said


def _chat(raw: Span) -> Span:
    """A message as Chat Completions has it."""
    calls: dict[str, Span] = {}
    for key, value in raw.items():
        if (named := CALL.fullmatch(key)) is not None:
            calls.setdefault(named[1], {})[named[2].rpartition(".")[2]] = value
    made = {"role": raw["role"], "content": raw.get("content", "")}
    if calls:
        made["tool_calls"] = [
            {
                "id": one.get("id"),
                "type": "function",
                "function": {"name": one["name"], "arguments": one["arguments"]},
            }
            for one in calls.values()
        ]
    return made | ({"tool_call_id": raw["tool_call_id"]} if "tool_call_id" in raw else {})


def _serialised(message: Span) -> Span:
    """A message as LangChain serialises it."""
    names = {
        "user": "HumanMessage",
        "assistant": "AIMessage",
        "tool": "ToolMessage",
        "system": "SystemMessage",
    }
    fields = {key: message[key] for key in ("content", "tool_call_id") if key in message}
    calls = [
        {
            "id": one["id"],
            "name": one["function"]["name"],
            "args": json.loads(one["function"]["arguments"]),
            "type": "tool_call",
        }
        for one in message.get("tool_calls", ())
    ]
    name = names[message["role"]]
    kwargs = fields | ({"tool_calls": calls} if message["role"] == "assistant" else {})
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


def langsmith(records: Records) -> list[Span]:
    """Runs of LangSmith."""
    return [_run(span, number) for number, span in enumerate(flat(records))]


def _run(span: Span, number: int) -> Span:
    kind = {"LLM": "llm", "TOOL": "tool"}.get(span["attributes"].get(KIND), "chain")
    made = {
        "id": span["id"],
        "name": span["attributes"].get("tool.name", span["name"]),
        "run_type": kind,
        "trace_id": span["trace"],
        "parent_run_id": span["parent"] or None,
        "dotted_order": f"{number:08}",
        "error": span["exception"] or ("failed" if span["is_failed"] else None),
        "inputs": {},
        "outputs": None,
        "extra": {"metadata": {"thread_id": span["attributes"].get("session.id")}},
    }
    if kind == "llm":
        shown, said = _sides(span)
        made["inputs"] = {"messages": [[_serialised(one) for one in shown]]}
        made["outputs"] = {"generations": [[{"text": "", "message": _serialised(one)} for one in said]]}
    elif kind == "tool":
        made["outputs"] = {"output": _answer(span)}
    return made


def _answer(span: Span) -> Any:
    """What a tool gave, a message of LangChain as an object."""
    try:
        value = json.loads(span["attributes"].get("output.value", "null"))
    except ValueError:
        return None
    return value.get("data", value) if isinstance(value, dict) else value


def langfuse(records: Records) -> Any:
    """What the API of Langfuse answers: observations."""
    return {"data": [_observation(span) for span in flat(records)], "meta": {"page": 1}}


def _observation(span: Span) -> Span:
    kind = {"LLM": "GENERATION", "TOOL": "TOOL"}.get(span["attributes"].get(KIND), "CHAIN")
    made = {
        "id": span["id"],
        "traceId": span["trace"],
        "type": kind,
        "name": span["attributes"].get("tool.name", span["name"]),
        "parentObservationId": span["parent"] or None,
        "level": "ERROR" if span["is_failed"] else "DEFAULT",
        "statusMessage": span["exception"] or None,
        "input": None,
        "output": None,
        "metadata": {"session_id": span["attributes"].get("session.id")},
    }
    if kind == "GENERATION":
        shown, said = _sides(span)
        made |= {"input": {"messages": shown, "tools": []}, "output": said[0] if said else None}
    elif kind == "TOOL":
        made["output"] = _answer(span)
    return made


def _values(whole: Any) -> Records:
    return whole if isinstance(whole, list) else [whole]


def tables(records: Records) -> Records:
    """Observations of Langfuse as the export of its tables has them."""
    names = {
        "traceId": "trace_id",
        "parentObservationId": "parent_observation_id",
        "statusMessage": "status_message",
        "sessionId": "session_id",
    }
    return [
        {
            names.get(key, key): json.dumps(value) if isinstance(value, dict | list) else value
            for key, value in one.items()
        }
        for one in langfuse(records)["data"]
    ]


SERVICES: dict[str, Callable[[Records], Records]] = {
    "langsmith": langsmith,
    "langfuse": lambda records: _values(langfuse(records)),
}


# --- the older spelling -------------------------------------------------------------------------


def older(records: Records) -> list[Span]:
    """Spans of OpenInference in the spelling of OpenLLMetry, as the SDK prints them."""
    made = console(records)
    for span, raw in zip(made, flat(records), strict=True):
        kind = raw["attributes"].get(KIND)
        if kind == "LLM":
            shown, said = _sides(raw)
            span["attributes"] = (
                {"llm.request.type": "chat"} | _indexed("prompt", shown) | _indexed("completion", said)
            )
        elif kind == "TOOL":
            name = raw["attributes"].get("tool.name", raw["name"])
            span["attributes"] = {"traceloop.span.kind": "tool", "traceloop.entity.name": name}
        else:
            span["attributes"] = {"traceloop.span.kind": "task" if raw["parent"] else "workflow"}
    return made


def _indexed(side: str, messages: list[Span]) -> Span:
    made: Span = {}
    for number, one in enumerate(messages):
        at = f"gen_ai.{side}.{number}"
        made |= {f"{at}.{key}": one[key] for key in ("role", "content", "tool_call_id") if key in one}
        for place, call in enumerate(one.get("tool_calls", ())):
            made[f"{at}.tool_calls.{place}.id"] = call["id"]
            made |= {f"{at}.tool_calls.{place}.{key}": value for key, value in call["function"].items()}
    return made
