"""Faults that tests plant in recordings of real libraries, and the clause that each of them breaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from audited import Records, changed
from planted_wire_faults import WIRE_FAULTS, Plant, Rows, named

Span = dict[str, Any]


def spans(records: Records, change: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> Records:
    """Exports of spans, with each span replaced by those that `change` makes of it."""
    made = deepcopy(records)
    for record in made:
        for resource in record["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                scope["spans"] = [one for span in scope["spans"] for one in change(span)]
    return made


def in_spans(change: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> Plant:
    """The same, of whatever records."""
    return lambda records: spans(records, change)


def changing(change: Callable[[Any], Any]) -> Plant:
    """Each record as `change` makes it; those for which it gives None are left out."""
    return lambda records: changed(records, change)


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


def without_messages(span: dict[str, Any]) -> list[dict[str, Any]]:
    """A span whose content was not recorded."""
    return [{**span, "attributes": [one for one in span["attributes"] if "messages" not in one["key"]]}]


def shown(at: int, what: str, text: str) -> Plant:
    """Inferences of OpenInference that are shown this text in a message."""

    def made(span: Span) -> list[Span]:
        if value := attribute(span, f"llm.input_messages.{at}.message.{what}"):
            value["stringValue"] = text
        return [span]

    return in_spans(made)


def other_tool(span: dict[str, Any]) -> list[dict[str, Any]]:
    """An execution of OpenInference, of another tool."""
    if is_tool(span):
        attribute(span, "tool.name")["stringValue"] = "delete"
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


def doubled(kind: str, call: str | None = None) -> Plant:
    """Each event of a kind about a call, twice."""

    def is_meant(one: Any) -> bool:
        return one.get("type") == kind and call in (None, one.get("toolCallId"))

    return lambda records: [again for one in records for again in [one] * (1 + is_meant(one))]


def until_call(call: str, last: str) -> Plant:
    """The records up to a result of a call, which is left out, and from there only the last one of a kind."""

    def made(records: Records) -> Records:
        at = next(i for i, one in enumerate(records) if one.get("toolCallId") == call and _is_result(one))
        return [*records[:at], *[one for one in records[at:] if one.get("type") == last][-1:]]

    return made


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


def answering_another(record: Any) -> Any:
    """A record of a transcript in which the result of one call is that of another."""
    (other,) = renamed("toolu_3", "toolu_9")([record])
    return other if "tool_result" in json.dumps(record) else record


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

EXECUTED = {"type": "tool-output-available", "output": "b.txt is deleted"}

# fmt: off
PLANTED: Rows = {
    ("otel", "otel_genai/plain"): (
        ("a result is removed", in_spans(history(without_part)),
         "PAIR-1", "the model was shown call c2 without a result"),
        ("results are swapped", in_spans(history(swapped)), "ROUND-2", "under call"),
        ("a result is another one",
         in_spans(history(lambda text: text.replace('"result":"Oslo: 20', '"result":"Oslo: 30'))),
         "PAIR-4", "the model was not shown that"),
        ("a turn of the model is rewritten", in_spans(history(rewritten)),
         "PAIR-8", "the history that the model was shown has changed: assistant 'Oslo and Rome: 20"),
        ("the model is shown other arguments",
         in_spans(history(lambda t: t.replace('"arguments":{"city":"Oslo"}', '"arguments":{"city":"Bonn"}'))),
         "PAIR-8", "the model is shown other calls than it asked for: c1 of weather, c2 of weather"),
        ("a call is executed twice", in_spans(twice), "ONCE-1", "call c1"),
        ("another tool is executed", in_spans(on_tool("gen_ai.tool.name", "delete")), "CALL-23", "c1"),
        ("other arguments are executed", in_spans(on_tool("gen_ai.tool.call.arguments", '{"city": "Paris"}')),
         "DECIDE-7", "c1"),
        ("a result of no call", in_spans(history(orphaned)), "PAIR-2", "a result for call c9"),
        ("a call has two results", in_spans(history(answered_twice)), "PAIR-3", "two results for call c1"),
        ("one id for two calls", in_spans(same_id), "ROUND-3", "the id c1 was asked for twice"),
        ("a failure costs a sibling its result", lost(history(without_part)),
         "ROUND-1", "call c1 failed, and"),
    ),
    ("openinference", "openinference/plain"): (
        ("a result of no call", shown(2, "tool_call_id", "c9"), "PAIR-2", "a result for call c9"),
        ("a call has two results", shown(3, "tool_call_id", "c1"), "PAIR-3", "two results for call c1"),
        ("a result is another one", shown(2, "content", "snow"), "PAIR-4", "the model was not shown that"),
        ("another tool is executed", in_spans(other_tool), "CALL-23", "yet delete is entered"),
        ("one id for two calls", in_spans(same_id), "ROUND-3", "the id c1 was asked for twice"),
        ("a failure costs a sibling its result", lost(without_message), "ROUND-1", "call c1 failed, and"),
        ("a result is removed", in_spans(without_message),
         "PAIR-1", "the model was shown call c2 without a result"),
        ("results are swapped", in_spans(other_ids), "ROUND-2", "under"),
        ("a turn of the model is rewritten", in_spans(rewritten_message),
         "PAIR-8", "the history that the model was shown has changed: assistant"),
        ("a call is executed twice", in_spans(twice), "ONCE-1", "c1"),
    ),
    ("ag-ui", "ag_ui/plain"): (
        ("a result is removed",
         lambda records: [without_result(one) for one in changed(records, event("TOOL_CALL_RESULT", "c2"))],
         "PAIR-1", "the model was shown call c2 without a result"),
        ("a call has two results", doubled("TOOL_CALL_RESULT", "c1"), "PAIR-3", "two results for call c1"),
        ("a result for no call", changing(event("TOOL_CALL_RESULT", "c1", {"toolCallId": "c9"})),
         "PAIR-2", "a result for call c9"),
        ("a run ends with an open call", until_call("c3", "RUN_FINISHED"), "RUN-3", "asked for 1 calls"),
        ("a run ends twice", doubled("RUN_FINISHED"), "RUN-21", "finished again"),
        ("a run goes on after its end", lambda r: [*r, *TEXT["ag-ui"]],
         "RUN-20", "the run is Done, yet a model gate opened"),
    ),
    ("ag-ui", "ag_ui/approved"): (
        ("a call is named twice", asked_twice, "RUN-23", "it is named 2 times"),
    ),
    ("ai-sdk", "ai_sdk/plain"): (
        ("a run goes on after its end", lambda r: [*r, *TEXT["ai-sdk"]],
         "RUN-20", "the run is Done, yet a model gate opened"),
        ("a run ends twice", doubled("finish"), "RUN-21", "finished again"),
        ("a result for no call", changing(event("tool-output-available", "c1", {"toolCallId": "c9"})),
         "PAIR-2", "a result for call c9"),
        ("a call has two results", doubled("tool-output-available", "c1"),
         "PAIR-3", "two results for call c1"),
        ("one id for two calls", renamed("c2", "c1"), "ROUND-3", "the id c1 was asked for twice"),
        ("a result is removed", changing(event("tool-output-available", "c2")), "PAIR-1", "call c2"),
        ("a call is executed twice", doubled("tool-output-available", "c1"), "ONCE-1", "c1"),
        ("a run ends with an open call", until_call("c3", "finish"), "RUN-3", "asked for 1 calls"),
    ),
    ("ai-sdk", "ai_sdk/approved"): (
        ("a call is named twice", requested_twice, "RUN-23", "it is named 2 times"),
        ("a denied call is executed",
         changing(event("tool-output-denied", "c2", EXECUTED)),
         "GATE-2", "call c2 was cancelled by decision d2, yet it was executed"),
        ("a call is executed unapproved", changing(undecided), "GATE-1", "call c1 needs approval"),
    ),
    ("claude-code", "claude_code/plain"): (
        ("a result of no call",
         changing(answering_another),
         "PAIR-2", "a result for call toolu_9"),
        ("one id for two calls", renamed("toolu_2", "toolu_1"),
         "ROUND-3", "the id toolu_1 was asked for twice"),
        ("a result is removed", transcript("toolu_1", 0), "PAIR-1", "call toolu_1"),
        ("a call has two results", transcript("toolu_1", 2), "PAIR-3", "two results for call toolu_1"),
    ),
}
# fmt: on

FAULTS = named(PLANTED) | named(WIRE_FAULTS)
"""By what was planted: the recording, how it is planted, the clause that breaks, and what is said of it."""

# fmt: off
OF_NO_USE: Rows = {
    ("otel", "otel_genai/plain"): (
        ("a tool without its turn", in_spans(on_tool("gen_ai.tool.call.id", "c9")),
         "no turn asks for call c9"),
        ("no content",
         in_spans(without_messages),
         "content was not recorded"),
    ),
    ("ag-ui", "ag_ui/plain"): (
        ("arguments of no call",
         lambda r: [one for one in changed(r, event("TOOL_CALL_START", "c1")) if "type" in one],
         "arguments of call c1"),
    ),
    ("claude-code", "claude_code/plain"): (
        ("a message without its parent", transcript("toolu_2", 0), "the parent"),
    ),
}
# fmt: on

LEFT_OVER = named(OF_NO_USE)
"""By what was planted: the recording, how it is planted, and why records were left out."""
