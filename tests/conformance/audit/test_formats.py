"""Recordings of real libraries: right runs give no alarm, and faults planted in them are found.

`tests/recorders` has the scripts that made the recordings, each with the real library and a scripted model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from audited import RECORDINGS, Records, audited, broken, changed, records_in, verdicts, written

pytest.importorskip("duckdb", reason="the records of these formats are brought together by DuckDB")

HELD = {
    "otel_genai": "PAIR-1 PAIR-2 PAIR-3 PAIR-4 ROUND-2 ONCE-1 CALL-23 DECIDE-7",
    "openinference": "PAIR-1 PAIR-2 PAIR-3 PAIR-4 ROUND-1 ROUND-2 ONCE-1 CALL-23",
    "ag_ui": "PAIR-1 PAIR-2 PAIR-3 RUN-3 RUN-20 RUN-21 RUN-23",
    "ai_sdk": "PAIR-1 PAIR-2 PAIR-3 RUN-3 RUN-20 RUN-21 RUN-23 GATE-1 DECIDE-1 ONCE-1",
    "claude_code": "PAIR-1 PAIR-2 PAIR-3",
}
THREADS = {"otel_genai": 4, "openinference": 3, "ag_ui": 2, "ai_sdk": 3, "claude_code": 2}


@pytest.mark.parametrize("name", HELD)
def test_right_recordings_hold_what_their_format_shows(name: str) -> None:
    """Nothing is broken, left over or unknown; what is held is what the format shows, and no more."""
    found = audited(*sorted((RECORDINGS / name).glob("*.jsonl")))
    held = {clause for clause, verdict in verdicts(found).items() if verdict == "held"}

    assert (broken(found), found.result.troubles, dict(found.unknown)) == ({}, [], {})
    assert (found.threads, held) == (THREADS[name], set(HELD[name].split()))


@pytest.mark.parametrize("name", HELD)
def test_a_recording_that_is_cut_gives_no_alarm(name: str, tmp_path: Path) -> None:
    """Wherever a right recording ends, what is missing breaks nothing."""
    records = records_in(f"{name}/plain")
    for length in range(len(records) // 4, len(records), max(1, len(records) // 5)):
        assert broken(audited(written(tmp_path / "cut.jsonl", records[:length]))) == {}


# --- planted faults -----------------------------------------------------------------------------


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
    """A transcript in which the message with the result of a call stands so many times."""

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


FAULTS: dict[str, tuple[str, Callable[[Records], Records], str, str]] = {
    "otel: a result is removed": (
        "otel_genai/plain",
        lambda records: spans(records, history(without_part)),
        "PAIR-1",
        "the model was shown call c2 without a result",
    ),
    "otel: results are swapped": ("otel_genai/plain", lambda r: spans(r, history(swapped)), "ROUND-2", "under call"),
    "otel: a result is another one": (
        "otel_genai/plain",
        lambda r: spans(r, history(lambda text: text.replace('"result":"Oslo: 20', '"result":"Oslo: 30'))),
        "PAIR-4",
        "the model was not shown that",
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
    "openinference: a result is removed": (
        "openinference/plain",
        lambda records: spans(records, without_message),
        "PAIR-1",
        "the model was shown call c2 without a result",
    ),
    "openinference: results are swapped": ("openinference/plain", lambda r: spans(r, other_ids), "ROUND-2", "under"),
    "openinference: a call is executed twice": ("openinference/plain", lambda r: spans(r, twice), "ONCE-1", "c1"),
    "ag-ui: a result is removed": (
        "ag_ui/plain",
        lambda records: [
            {**one, "messages": [m for m in one["messages"] if m.get("toolCallId") != "c2"]} if "messages" in one else one
            for one in changed(records, event("TOOL_CALL_RESULT", "c2"))
        ],
        "PAIR-1",
        "the model was shown call c2 without a result",
    ),
    "ag-ui: a call has two results": (
        "ag_ui/plain", lambda r: doubled(r, "TOOL_CALL_RESULT", "c1"), "PAIR-3", "two results for call c1",
    ),
    "ag-ui: a result for no call": (
        "ag_ui/plain",
        lambda r: changed(r, event("TOOL_CALL_RESULT", "c1", {"toolCallId": "c9"})),
        "PAIR-2",
        "a result for call c9",
    ),
    "ag-ui: a run ends with an open call": (
        "ag_ui/plain", lambda r: until_call(r, "c3", "RUN_FINISHED"), "RUN-3", "asked for 1 calls",
    ),
    "ag-ui: a run ends twice": ("ag_ui/plain", lambda r: doubled(r, "RUN_FINISHED"), "RUN-21", "finished again"),
    "ai-sdk: a result is removed": (
        "ai_sdk/plain", lambda r: changed(r, event("tool-output-available", "c2")), "PAIR-1", "call c2",
    ),
    "ai-sdk: a denied call is executed": (
        "ai_sdk/approved",
        lambda r: changed(
            r, event("tool-output-denied", "c2", {"type": "tool-output-available", "output": "b.txt is deleted"})
        ),
        "GATE-2",
        "call c2 was cancelled by decision d2, yet it was executed",
    ),
    "ai-sdk: a call is executed unapproved": (
        "ai_sdk/approved", lambda r: changed(r, undecided), "GATE-1", "call c1 needs approval",
    ),
    "ai-sdk: a call is executed twice": (
        "ai_sdk/plain", lambda r: doubled(r, "tool-output-available", "c1"), "ONCE-1", "c1",
    ),
    "ai-sdk: a run ends with an open call": (
        "ai_sdk/plain", lambda r: until_call(r, "c3", "finish"), "RUN-3", "asked for 1 calls",
    ),
    "claude-code: a result is removed": ("claude_code/plain", transcript("toolu_1", 0), "PAIR-1", "call toolu_1"),
    "claude-code: a call has two results": (
        "claude_code/plain", transcript("toolu_1", 2), "PAIR-3", "two results for call toolu_1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str, tmp_path: Path) -> None:
    """The clause that a fault breaks is broken, with the reason, and the right part of the file stays right."""
    recording, plant, clause, says = FAULTS[name]
    found = broken(audited(written(tmp_path / "wrong.jsonl", plant(records_in(recording)))))

    assert clause in found
    assert says in found[clause]


LEFT_OVER: dict[str, tuple[str, Callable[[Records], Records], str]] = {
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
        "ag_ui/plain", lambda r: changed(r, event("TOOL_CALL_START", "c1")), "arguments of call c1",
    ),
    "claude-code: a message without its parent": (
        "claude_code/plain", transcript("toolu_2", 0), "the parent",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT_OVER)
def test_records_that_nothing_explains_are_an_error(name: str, tmp_path: Path) -> None:
    """A thread with left-over records is not judged, and the audit is undecided."""
    recording, plant, says = LEFT_OVER[name]
    found = audited(written(tmp_path / "left.jsonl", plant(records_in(recording))))

    assert [says in one.what for one in found.result.troubles] == [True]
    assert found.result.exit_code() == 3


def test_segments_of_one_run_are_rejoined(tmp_path: Path) -> None:
    """The spans of a thread may lie in two files, in any order."""
    records = records_in("otel_genai/approved")
    one, other = written(tmp_path / "b.jsonl", records[:3]), written(tmp_path / "a.jsonl", records[3:])
    found = audited(one, other)

    assert (found.threads, broken(found), verdicts(found)["PAIR-4"]) == (1, {}, "held")


def test_the_order_of_spans_comes_from_their_histories(tmp_path: Path) -> None:
    """Spans that arrive backwards, with clocks that run backwards, are put in order."""
    backwards = spans(records_in("otel_genai/plain")[::-1], lambda span: [{**span, "startTimeUnixNano": "1"}])
    found = audited(written(tmp_path / "backwards.jsonl", backwards))

    assert broken(found) == {}
    assert set(HELD["otel_genai"].split()) - {"ROUND-1"} <= {
        clause for clause, verdict in verdicts(found).items() if verdict == "held"
    }


def test_records_of_unknown_kinds_are_counted(tmp_path: Path) -> None:
    """An event that an importer does not know is counted and shown; it breaks nothing."""
    records = [*records_in("ag_ui/plain"), {"type": "TELEPATHY"}]
    found = audited(written(tmp_path / "odd.jsonl", records))

    assert (dict(found.unknown), broken(found)) == ({"ag-ui: TELEPATHY": 1}, {})
