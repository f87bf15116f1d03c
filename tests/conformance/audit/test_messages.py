"""Lists of messages: each format in each form of file, with its right verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from audited import audited, broken, put, verdicts
from recorded_events import (
    PERSON,
    REPLY,
    begins,
    chat_result,
    chat_turn,
    ends,
    inner,
    item,
    output,
    results,
    says,
    turn,
)
from wrong_lists import HERE, LISTS, MESSAGE, STEP, WRONG_LISTS, kept, used

from runlock.conformance.audit.formats import importer_named

THOUGHT = {"type": "reasoning", "summary": []}
OLD = {"role": "assistant", "content": None, "function_call": {"name": "lookup", "arguments": "{}"}}


def uses(call: str) -> dict[str, Any]:
    """A call of Converse."""
    return {"toolUse": {"toolUseId": call, "name": "lookup", "input": {}}}


def used_by(call: str) -> dict[str, Any]:
    """A call of pydantic-ai."""
    return {"part_kind": "tool-call", "tool_name": "lookup", "args": {}, "tool_call_id": call}


def gave(call: str) -> dict[str, Any]:
    """Its result, which is JSON."""
    return {"toolResult": {"toolUseId": call, "status": "success", "content": [{"json": {"found": 1}}]}}


RIGHT: dict[str, list[Any]] = {
    "chat, in any order": [PERSON, chat_turn("a", "b"), chat_result("b"), chat_result("a"), REPLY],
    "chat, an id that comes again": [PERSON, *[chat_turn("a"), chat_result("a"), REPLY, PERSON] * 2, REPLY],
    "chat, before there were ids": [
        PERSON, OLD, {"role": "function", "name": "lookup", "content": "found"}, REPLY
    ],
    "responses, one turn of several items": [
        PERSON, THOUGHT, item("a"), item("b"), output("a"), output("b"), MESSAGE
    ],
    "anthropic, results in two messages": [
        PERSON, inner(turn("m", "a", "b")), inner(results("a")), inner(results("b")), REPLY
    ],
    "converse, results in another order": [
        {"role": "user", "content": [{"text": "Find both."}]},
        {"role": "assistant", "content": [{"text": "I look."}, uses("a"), uses("b")]},
        {"role": "user", "content": [gave("b"), gave("a")]},
        {"role": "assistant", "content": [{"text": "Found."}]},
    ],
    "vercel, a call that waited for a person, and one of the provider": [
        PERSON,
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "a", "toolName": "lookup", "input": {}},
                {"type": "tool-approval-request", "approvalId": "p", "toolCallId": "a"},
                {"type": "tool-call", "toolCallId": "w", "toolName": "search", "providerExecuted": True},
                {"type": "tool-result", "toolCallId": "w", "toolName": "search", "output": {}},
            ],
        },
        {"role": "tool", "content": [{"type": "tool-approval-response", "approvalId": "p"}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "a", "output": {"value": 1}}]},
        REPLY,
    ],
    "pydantic, a call that is tried again": [
        {"kind": "request", "parts": [{"part_kind": "system-prompt", "content": "You look things up."}]},
        {"kind": "response", "parts": [used_by("a")]},
        {
            "kind": "request",
            "parts": [
                {"part_kind": "retry-prompt", "tool_name": "lookup", "tool_call_id": "a", "content": "again"}
            ],
        },
        {"kind": "response", "parts": [used_by("b")]},
        {
            "kind": "request",
            "parts": [{"part_kind": "tool-return", "tool_name": "lookup", "tool_call_id": "b", "content": 1}],
        },
        {"kind": "response", "parts": [{"part_kind": "text", "content": "Here."}]},
    ],
    "page, two steps, a refused call, and one of the provider": [
        kept("user", HERE),
        kept("assistant", STEP, used("a"), used("b", "output-denied"), STEP, used("c"), STEP, HERE),
        kept("user", HERE),
        kept("assistant", STEP, used("d", "input-streaming"), {**used("e", ""), "providerExecuted": True}),
        kept("user", HERE),
        kept("assistant", HERE),
    ],
    "anthropic, a turn in two messages": [
        PERSON, inner(turn("m", "a")), inner(turn("m", "b")), inner(results("b", "a")), REPLY
    ],
}  # fmt: skip


def lines(values: list[Any]) -> str:
    """JSON Lines."""
    return "".join(json.dumps(one) + "\n" for one in values)


FORMS: dict[str, tuple[str, Callable[[list[Any]], str]]] = {
    "an array": ("a.json", json.dumps),
    "an array over many lines": ("a.log", lambda found: json.dumps(found, indent=2)),
    "an array with a message on each line": (
        "a.txt", lambda found: "[\n" + lines(found).replace("}\n{", "},\n{") + "]"
    ),
    "an object": ("a.json", lambda found: json.dumps({"messages": found})),
    "the body of a request": ("a.json", lambda found: json.dumps({"model": "m", "input": found}, indent=1)),
    "a message on each line": ("a.jsonl", lines),
    "a list as text": ("a.json", lambda found: json.dumps({"id": 1, "messages": json.dumps(found)})),
    "lists over many lines, one after the other": (
        "a.json", lambda found: "\n".join(json.dumps(one, indent=2) for one in [{"messages": found}] * 2)
    ),
    "a logged request": (
        "a.jsonl", lambda found: lines([{"status": 400, "request": {"model": "m", "messages": found}}] * 2)
    ),
    "a request of a batch": ("a.jsonl", lambda found: lines([{"custom_id": "1", "body": {"input": found}}])),
    "a list on each line": ("a.jsonl", lambda found: lines([{"messages": found}, {"messages": found}])),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_list_is_held(name: str, tmp_path: Path) -> None:
    """What its API takes breaks nothing."""
    found = audited(put(tmp_path / "a.json", json.dumps(RIGHT[name])))

    assert (broken(found), found.result.troubles) == ({}, [])
    shown = {"PAIR-1", "PAIR-2", "PAIR-3"} & importer_named(LISTS[name.partition(",")[0]]).clauses
    assert {verdicts(found)[one] for one in shown} == {"held"}
    assert found.sources[0]["format"] == LISTS[name.partition(",")[0]]


@pytest.mark.parametrize("name", WRONG_LISTS)
def test_a_wrong_list_is_broken(name: str, tmp_path: Path) -> None:
    """The clause that says what its API refuses."""
    records, clause = WRONG_LISTS[name]
    found = audited(put(tmp_path / "a.json", json.dumps(records)))

    assert (clause in broken(found), found.sources[0]["format"]) == (True, LISTS[name.partition(",")[0]])


@pytest.mark.parametrize(
    "messages",
    [
        [PERSON, chat_turn("a"), {"role": "tool", "tool_name": "lookup", "content": "found"}, REPLY],
        [PERSON, {"role": "assistant", "tool_calls": [{"function": {"name": "lookup"}}]}, PERSON, REPLY],
        [
            PERSON,
            {"role": "assistant", "content": [{"type": "tool-call", "toolName": "lookup"}]},
            PERSON,
            REPLY,
        ],
        [{"kind": "response", "parts": [used_by("")]}, {"kind": "response", "parts": []}],
    ],
)
def test_calls_without_ids_are_not_observable(messages: list[Any], tmp_path: Path) -> None:
    """Nothing says which result is that of which call."""
    found = audited(put(tmp_path / "a.json", json.dumps(messages)))

    assert (broken(found), found.result.troubles) == ({}, [])
    assert {verdicts(found)[one] for one in ("PAIR-1", "PAIR-2", "PAIR-3")} == {"untested"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["chat, an open call", "responses, an open call", "anthropic, an open call"])
def test_a_list_is_read_in_any_form(form: str, name: str, tmp_path: Path) -> None:
    """By what is in the file, and not by its name or its first record."""
    file, write = FORMS[form]
    found = audited(put(tmp_path / file, write(WRONG_LISTS[name][0])))

    assert (set(broken(found)), found.result.troubles) == ({"PAIR-1"}, [])


def test_the_end_of_a_list_is_judged_if_it_was_sent(tmp_path: Path) -> None:
    """A list that ends with results may go on; the body of a request, and a word of the user, do not."""
    waiting = [PERSON, chat_turn("a", "b"), chat_result("a")]
    (tmp_path / "kept.json").write_text(json.dumps({"messages": waiting}))
    (tmp_path / "sent.json").write_text(json.dumps({"model": "m", "messages": waiting}))

    (tmp_path / "said.json").write_text(json.dumps([*waiting, PERSON]))

    assert broken(audited(tmp_path / "kept.json")) == {}
    assert set(broken(audited(tmp_path / "said.json"))) == {"PAIR-1"}
    assert set(broken(audited(tmp_path / "sent.json"))) == {"PAIR-1"}


OTHER_CALL = {"type": "invocation", "invocationId": "a", "name": "lookup", "input": {}}
FOREIGN = {
    "parts without a type": [
        {"role": "user", "content": [{"text": "Hi"}]}, {"role": "assistant", "content": [{"uses": "lookup"}]}
    ],
    "parts of another kind": [
        PERSON, chat_turn("b"), chat_result("b"), {"role": "assistant", "content": [OTHER_CALL]}, REPLY
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("form", FORMS)
def test_messages_of_another_api_hold_nothing(name: str, form: str, tmp_path: Path) -> None:
    """Their calls stand elsewhere, so that they are refused, or show nothing."""
    file, write = FORMS[form]
    found = audited(put(tmp_path / file, write(FOREIGN[name])))

    assert broken(found) == {}
    assert "held" not in verdicts(found).values()


def test_the_model_of_a_message_is_no_request(tmp_path: Path) -> None:
    """A log with a message on each line, some with the model that said it, may go on."""
    said = {**chat_turn("a", "b"), "model": "m"}
    assert broken(audited(put(tmp_path / "a.jsonl", lines([PERSON, said, chat_result("a")])))) == {}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_may_hold_the_events_of_a_stream(indent: int | None, tmp_path: Path) -> None:
    """An object with its records under one name."""
    pytest.importorskip("duckdb")
    events = [begins(), *says(), ends(), ends()]
    dump = put(tmp_path / "a.dump", json.dumps({"session": 4, "events": events}, indent=indent))

    assert set(broken(audited(dump))) == {"RUN-21", "PRODUCER-3"}
