"""Faults that tests plant in recordings of real libraries, and the clause that each of them breaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from audited import Records, changed
from planted_wire_faults import WIRE_FAULTS

Span = dict[str, Any]
Plant = Callable[[Records], Records]


def spans(records: Records, change: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> Records:
    """Exports of spans, with each span replaced by those that `change` makes of it."""
    made = deepcopy(records)
    for record in made:
        for resource in record["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                scope["spans"] = [one for span in scope["spans"] for one in change(span)]
    return made


def attribute(span: dict[str, Any], key: str) -> dict[str, Any]:
    """The value of an attribute of a span, to be changed; an empty one if there is none."""
    return next((one["value"] for one in span["attributes"] if one["key"] == key), {})


def twice(span: dict[str, Any]) -> list[dict[str, Any]]:
    """A span and its copy, if it executes the first call."""
    is_first = "c1" in json.dumps(span["attributes"]) and is_tool(span)
    return [span, {**span, "spanId": span["spanId"][::-1]}] if is_first else [span]


def is_tool(span: dict[str, Any]) -> bool:
    """Whether a span is the execution of a tool."""
    kinds = [
        attribute(span, key).get("stringValue")
        for key in ("gen_ai.operation.name", "openinference.span.kind")
    ]
    return bool({"execute_tool", "TOOL"} & set(kinds))


def history(change: Callable[[str], str]) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    """Change the text of the histories that the model was shown, as the GenAI conventions have them."""

    def made(span: dict[str, Any]) -> list[dict[str, Any]]:
        value = attribute(span, "gen_ai.input.messages")
        if value:
            value["stringValue"] = change(value["stringValue"])
        return [span]

    return made


def without_part(text: str) -> str:
    """A history without the result of call c2."""
    messages = json.loads(text)
    for message in messages:
        message["parts"] = [
            p for p in message["parts"] if (p["type"], p.get("id")) != ("tool_call_response", "c2")
        ]
    return json.dumps(messages)


def swapped(text: str) -> str:
    """A history in which Oslo and Rome have changed places in the results."""
    for one, other in (("Oslo: 20", "?"), ("Rome: 20", "Oslo: 20"), ("?", "Rome: 20")):
        text = text.replace(f'"result":"{one}', f'"result":"{other}')
    return text


def orphaned(text: str) -> str:
    """A history in which the result of c1 is that of another call."""
    return text.replace('"type":"tool_call_response","id":"c1"', '"type":"tool_call_response","id":"c9"')


def answered_twice(text: str) -> str:
    """A history in which the result of c1 stands twice."""
    messages = json.loads(text)
    for message in messages:
        message["parts"] = [
            again
            for part in message["parts"]
            for again in [part] * (1 + ((part["type"], part.get("id")) == ("tool_call_response", "c1")))
        ]
    return json.dumps(messages)


def same_id(span: dict[str, Any]) -> list[dict[str, Any]]:
    """A span in which c2 has the id of c1, wherever it stands."""
    return [json.loads(json.dumps(span).replace('c2"', 'c1"').replace('c2\\"', 'c1\\"'))]


def failing(span: dict[str, Any]) -> list[dict[str, Any]]:
    """The execution of c1 fails."""
    is_first = is_tool(span) and "c1" in json.dumps(span["attributes"])
    return [{**span, "status": {"code": 2}}] if is_first else [span]


def lost(change: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> Plant:
    """The first call fails, and the result of the second one is lost."""
    return lambda records: spans(spans(records, failing), change)


def rewritten(text: str) -> str:
    """The history of the last inference, in which the model said something else before."""
    return text.replace("Rome: 20 degrees each", "Rome: 30 degrees each") if '"c3"' in text else text


def rewritten_message(span: dict[str, Any]) -> list[dict[str, Any]]:
    """The same as OpenInference has it."""
    if attribute(span, "llm.input_messages.7.message.tool_call_id"):
        value = attribute(span, "llm.input_messages.4.message.content")
        value["stringValue"] = value["stringValue"].replace("20", "30")
    return [span]


def on_tool(key: str, value: str) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    """Change an attribute of the execution of c1."""

    def made(span: dict[str, Any]) -> list[dict[str, Any]]:
        if is_tool(span) and attribute(span, "gen_ai.tool.call.id").get("stringValue") == "c1":
            attribute(span, key)["stringValue"] = value
        return [span]

    return made


def without_message(span: dict[str, Any]) -> list[dict[str, Any]]:
    """An inference of OpenInference that is not shown its third message, the result of c2 of two calls."""
    names = tuple(f"llm.input_messages.{number}." for number in (3,))
    span["attributes"] = [one for one in span["attributes"] if not one["key"].startswith(names)]
    return [span]


def renamed_message(span: dict[str, Any]) -> list[dict[str, Any]]:
    """An inference of OpenInference that is shown the result of c1 as that of another call."""
    value = attribute(span, "llm.input_messages.2.message.tool_call_id")
    if value:
        value["stringValue"] = "c9"
    return [span]


def reworded_message(span: dict[str, Any]) -> list[dict[str, Any]]:
    """An inference of OpenInference that is shown another answer of c1."""
    value = attribute(span, "llm.input_messages.2.message.content")
    if value:
        value["stringValue"] = "Oslo: 30 degrees"
    return [span]


def other_tool(span: dict[str, Any]) -> list[dict[str, Any]]:
    """An execution of OpenInference, of another tool."""
    if is_tool(span):
        attribute(span, "tool.name")["stringValue"] = "delete"
    return [span]


def doubled_message(span: dict[str, Any]) -> list[dict[str, Any]]:
    """An inference of OpenInference that is shown the result of c2 as a second one of c1."""
    value = attribute(span, "llm.input_messages.3.message.tool_call_id")
    if value:
        value["stringValue"] = "c1"
    return [span]


def other_ids(span: dict[str, Any]) -> list[dict[str, Any]]:
    """An inference of OpenInference that is shown the results of c1 and c2 under each other's id."""
    for number, id_ in ((2, "c2"), (3, "c1")):
        value = attribute(span, f"llm.input_messages.{number}.message.tool_call_id")
        if value and len(value["stringValue"]) == 2 and value["stringValue"] != "c3":
            value["stringValue"] = id_
    return [span]


def event(kind: str, call: str | None = None, becomes: dict[str, Any] | None = None) -> Callable[[Any], Any]:
    """Leave out, or change, the events of a kind about a call."""

    def made(record: Any) -> Any:
        is_meant = record.get("type") == kind and call in (None, record.get("toolCallId"))
        return record if not is_meant else None if becomes is None else {**record, **becomes}

    return made


def without_result(record: Any) -> Any:
    """A request of AG-UI without the result of c2."""
    if "messages" not in record:
        return record
    return {**record, "messages": [one for one in record["messages"] if one.get("toolCallId") != "c2"]}


def doubled(records: Records, kind: str, call: str | None = None) -> Records:
    """Each event of a kind about a call, twice."""
    meant = [one for one in records if one.get("type") == kind and call in (None, one.get("toolCallId"))]
    return [again for one in records for again in ([one, one] if one in meant else [one])]


def until_call(records: Records, call: str, last: str) -> Records:
    """The records up to a result of a call, which is left out, and from there only the last one of a kind."""
    at = next(i for i, one in enumerate(records) if one.get("toolCallId") == call and _is_result(one))
    return [*records[:at], *[one for one in records[at:] if one.get("type") == last][-1:]]


def _is_result(record: Any) -> bool:
    return record.get("type") in ("TOOL_CALL_RESULT", "tool-output-available")


def undecided(record: Any) -> Any:
    """A request of the AI SDK in which the approval of c1 has no answer."""
    made = deepcopy(record)
    for message in made.get("messages", ()):
        for part in message["parts"]:
            if part.get("toolCallId") == "c1" and "approval" in part:
                part["approval"].pop("approved", None)
    return made


def transcript(call: str, copies: int) -> Callable[[Records], Records]:
    """A transcript in which the message with the result of a call stands this number of times."""

    def made(records: Records) -> Records:
        kept: Records = []
        for record in records:
            is_meant = call in json.dumps(record.get("message", {})) and "tool_result" in json.dumps(record)
            times = copies if is_meant else 1
            kept += [
                {**record, "uuid": f"{record.get('uuid')}{'+' * n}"} if n else record for n in range(times)
            ]
        return kept

    return made


def renamed(one: str, other: str) -> Plant:
    """Records in which one id is another one, wherever it stands."""
    return lambda records: [
        json.loads(json.dumps(record).replace(f'"{one}"', f'"{other}"')) for record in records
    ]


def asked_twice(records: Records) -> Records:
    """Each segment that waits names its first call twice, under two ids."""

    def made(record: Any) -> Any:
        outcome = record.get("outcome") or {}
        listed = outcome.get("interrupts")
        again = [{**one, "id": f"{one['id']}+"} for one in (listed or ())[:1]]
        return {**record, "outcome": {**outcome, "interrupts": [*listed, *again]}} if listed else record

    return [made(record) for record in records]


def requested_twice(records: Records) -> Records:
    """Each call that waits for a person is submitted twice."""
    kind = "tool-approval-request"
    again = [{**one, "approvalId": f"{one['approvalId']}+"} for one in records if one.get("type") == kind]
    at = next(place for place, one in enumerate(records) if one.get("type") == "finish-step")
    return [*records[:at], *again, *records[at:]]


TEXT: dict[str, list[dict[str, Any]]] = {
    "ag-ui": [{"type": "TEXT_MESSAGE_CHUNK", "messageId": "late", "delta": "One more thing."}],
    "ai-sdk": [{"type": "start-step"}, {"type": "text-delta", "id": "t", "delta": "One more thing."}],
}

FAULTS: dict[str, tuple[str, Plant, str, str]] = {
    "otel: a result is removed": (
        "otel_genai/plain",
        lambda records: spans(records, history(without_part)),
        "PAIR-1",
        "the model was shown call c2 without a result",
    ),
    "otel: results are swapped": (
        "otel_genai/plain",
        lambda r: spans(r, history(swapped)),
        "ROUND-2",
        "under call",
    ),
    "otel: a result is another one": (
        "otel_genai/plain",
        lambda r: spans(r, history(lambda text: text.replace('"result":"Oslo: 20', '"result":"Oslo: 30'))),
        "PAIR-4",
        "the model was not shown that",
    ),
    "otel: a turn of the model is rewritten": (
        "otel_genai/plain",
        lambda r: spans(r, history(rewritten)),
        "PAIR-8",
        "the history that the model was shown has changed: assistant 'Oslo and Rome: 20",
    ),
    "otel: the model is shown other arguments": (
        "otel_genai/plain",
        lambda r: spans(
            r, history(lambda t: t.replace('"arguments":{"city":"Oslo"}', '"arguments":{"city":"Bonn"}'))
        ),
        "PAIR-8",
        "the model is shown other calls than it asked for: c1 of weather, c2 of weather",
    ),
    "otel: a call is executed twice": ("otel_genai/plain", lambda r: spans(r, twice), "ONCE-1", "call c1"),
    "otel: another tool is executed": (
        "otel_genai/plain",
        lambda records: spans(records, on_tool("gen_ai.tool.name", "delete")),
        "CALL-23",
        "c1",
    ),
    "otel: other arguments are executed": (
        "otel_genai/plain",
        lambda records: spans(records, on_tool("gen_ai.tool.call.arguments", '{"city": "Paris"}')),
        "DECIDE-7",
        "c1",
    ),
    "otel: a result of no call": (
        "otel_genai/plain",
        lambda r: spans(r, history(orphaned)),
        "PAIR-2",
        "a result for call c9",
    ),
    "otel: a call has two results": (
        "otel_genai/plain",
        lambda r: spans(r, history(answered_twice)),
        "PAIR-3",
        "two results for call c1",
    ),
    "otel: one id for two calls": (
        "otel_genai/plain",
        lambda r: spans(r, same_id),
        "ROUND-3",
        "the id c1 was asked for twice",
    ),
    "otel: a failure costs a sibling its result": (
        "otel_genai/plain",
        lost(history(without_part)),
        "ROUND-1",
        "call c1 failed, and",
    ),
    "openinference: a result of no call": (
        "openinference/plain",
        lambda r: spans(r, renamed_message),
        "PAIR-2",
        "a result for call c9",
    ),
    "openinference: a call has two results": (
        "openinference/plain",
        lambda r: spans(r, doubled_message),
        "PAIR-3",
        "two results for call c1",
    ),
    "openinference: a result is another one": (
        "openinference/plain",
        lambda r: spans(r, reworded_message),
        "PAIR-4",
        "the model was not shown that",
    ),
    "openinference: another tool is executed": (
        "openinference/plain",
        lambda r: spans(r, other_tool),
        "CALL-23",
        "yet delete is entered",
    ),
    "openinference: one id for two calls": (
        "openinference/plain",
        lambda r: spans(r, same_id),
        "ROUND-3",
        "the id c1 was asked for twice",
    ),
    "openinference: a failure costs a sibling its result": (
        "openinference/plain",
        lost(without_message),
        "ROUND-1",
        "call c1 failed, and",
    ),
    "openinference: a result is removed": (
        "openinference/plain",
        lambda records: spans(records, without_message),
        "PAIR-1",
        "the model was shown call c2 without a result",
    ),
    "openinference: results are swapped": (
        "openinference/plain",
        lambda r: spans(r, other_ids),
        "ROUND-2",
        "under",
    ),
    "openinference: a turn of the model is rewritten": (
        "openinference/plain",
        lambda r: spans(r, rewritten_message),
        "PAIR-8",
        "the history that the model was shown has changed: assistant",
    ),
    "openinference: a call is executed twice": (
        "openinference/plain",
        lambda r: spans(r, twice),
        "ONCE-1",
        "c1",
    ),
    "ag-ui: a result is removed": (
        "ag_ui/plain",
        lambda records: [without_result(one) for one in changed(records, event("TOOL_CALL_RESULT", "c2"))],
        "PAIR-1",
        "the model was shown call c2 without a result",
    ),
    "ag-ui: a call has two results": (
        "ag_ui/plain",
        lambda r: doubled(r, "TOOL_CALL_RESULT", "c1"),
        "PAIR-3",
        "two results for call c1",
    ),
    "ag-ui: a result for no call": (
        "ag_ui/plain",
        lambda r: changed(r, event("TOOL_CALL_RESULT", "c1", {"toolCallId": "c9"})),
        "PAIR-2",
        "a result for call c9",
    ),
    "ag-ui: a run ends with an open call": (
        "ag_ui/plain",
        lambda r: until_call(r, "c3", "RUN_FINISHED"),
        "RUN-3",
        "asked for 1 calls",
    ),
    "ag-ui: a run ends twice": (
        "ag_ui/plain",
        lambda r: doubled(r, "RUN_FINISHED"),
        "RUN-21",
        "finished again",
    ),
    "ag-ui: a run goes on after its end": (
        "ag_ui/plain",
        lambda r: [*r, *TEXT["ag-ui"]],
        "RUN-20",
        "the run is Done, yet a model gate opened",
    ),
    "ag-ui: a call is named twice": ("ag_ui/approved", asked_twice, "RUN-23", "it is named 2 times"),
    "ai-sdk: a run goes on after its end": (
        "ai_sdk/plain",
        lambda r: [*r, *TEXT["ai-sdk"]],
        "RUN-20",
        "the run is Done, yet a model gate opened",
    ),
    "ai-sdk: a run ends twice": ("ai_sdk/plain", lambda r: doubled(r, "finish"), "RUN-21", "finished again"),
    "ai-sdk: a call is named twice": ("ai_sdk/approved", requested_twice, "RUN-23", "it is named 2 times"),
    "ai-sdk: a result for no call": (
        "ai_sdk/plain",
        lambda r: changed(r, event("tool-output-available", "c1", {"toolCallId": "c9"})),
        "PAIR-2",
        "a result for call c9",
    ),
    "ai-sdk: a call has two results": (
        "ai_sdk/plain",
        lambda r: doubled(r, "tool-output-available", "c1"),
        "PAIR-3",
        "two results for call c1",
    ),
    "ai-sdk: one id for two calls": (
        "ai_sdk/plain",
        renamed("c2", "c1"),
        "ROUND-3",
        "the id c1 was asked for twice",
    ),
    "claude-code: a result of no call": (
        "claude_code/plain",
        lambda r: [
            one if "tool_result" not in json.dumps(one) else renamed("toolu_3", "toolu_9")([one])[0]
            for one in r
        ],
        "PAIR-2",
        "a result for call toolu_9",
    ),
    "claude-code: one id for two calls": (
        "claude_code/plain",
        renamed("toolu_2", "toolu_1"),
        "ROUND-3",
        "the id toolu_1 was asked for twice",
    ),
    "ai-sdk: a result is removed": (
        "ai_sdk/plain",
        lambda r: changed(r, event("tool-output-available", "c2")),
        "PAIR-1",
        "call c2",
    ),
    "ai-sdk: a denied call is executed": (
        "ai_sdk/approved",
        lambda r: changed(
            r,
            event(
                "tool-output-denied", "c2", {"type": "tool-output-available", "output": "b.txt is deleted"}
            ),
        ),
        "GATE-2",
        "call c2 was cancelled by decision d2, yet it was executed",
    ),
    "ai-sdk: a call is executed unapproved": (
        "ai_sdk/approved",
        lambda r: changed(r, undecided),
        "GATE-1",
        "call c1 needs approval",
    ),
    "ai-sdk: a call is executed twice": (
        "ai_sdk/plain",
        lambda r: doubled(r, "tool-output-available", "c1"),
        "ONCE-1",
        "c1",
    ),
    "ai-sdk: a run ends with an open call": (
        "ai_sdk/plain",
        lambda r: until_call(r, "c3", "finish"),
        "RUN-3",
        "asked for 1 calls",
    ),
    "claude-code: a result is removed": (
        "claude_code/plain",
        transcript("toolu_1", 0),
        "PAIR-1",
        "call toolu_1",
    ),
    "claude-code: a call has two results": (
        "claude_code/plain",
        transcript("toolu_1", 2),
        "PAIR-3",
        "two results for call toolu_1",
    ),
}


FAULTS |= WIRE_FAULTS

LEFT_OVER: dict[str, tuple[str, Plant, str]] = {
    "otel: a tool without its turn": (
        "otel_genai/plain",
        lambda r: spans(r, on_tool("gen_ai.tool.call.id", "c9")),
        "no turn asks for call c9",
    ),
    "otel: no content": (
        "otel_genai/plain",
        lambda r: spans(
            r, lambda s: [{**s, "attributes": [a for a in s["attributes"] if "messages" not in a["key"]]}]
        ),
        "content was not recorded",
    ),
    "ag-ui: arguments of no call": (
        "ag_ui/plain",
        lambda r: [one for one in changed(r, event("TOOL_CALL_START", "c1")) if "type" in one],
        "arguments of call c1",
    ),
    "claude-code: a message without its parent": (
        "claude_code/plain",
        transcript("toolu_2", 0),
        "the parent",
    ),
}
