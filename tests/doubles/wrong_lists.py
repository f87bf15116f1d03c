"""Lists of messages that an API refuses, each with the clause that says so."""

from __future__ import annotations

from typing import Any

from recorded_events import (
    PERSON,
    REPLY,
    block,
    chat_result,
    chat_turn,
    inner,
    item,
    output,
    results,
    turn,
)

MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Here."}]}
TEXT_FIRST = {
    "role": "user",
    "content": [block("text", text="And?"), block("tool_result", tool_use_id="a", content="found")],
}

WRONG_LISTS: dict[str, tuple[list[Any], str]] = {
    "chat, an open call": ([PERSON, chat_turn("a"), PERSON, REPLY], "PAIR-1"),
    "chat, a result too late": ([PERSON, chat_turn("a"), PERSON, chat_result("a"), REPLY], "PAIR-2"),
    "chat, a result of no call": ([PERSON, chat_result("a"), REPLY], "PAIR-2"),
    "chat, two results": ([PERSON, chat_turn("a"), chat_result("a"), chat_result("a"), REPLY], "PAIR-3"),
    "chat, one id for two calls": (
        [PERSON, chat_turn("a", "a"), chat_result("a"), chat_result("a"), REPLY],
        "ROUND-3",
    ),
    "responses, an open call": ([PERSON, item("a"), item("b"), output("b"), MESSAGE], "PAIR-1"),
    "responses, a result of no call": ([PERSON, output("a"), MESSAGE], "PAIR-2"),
    "responses, two results": ([PERSON, item("a"), output("a"), output("a"), MESSAGE], "PAIR-3"),
    "responses, one id for two calls": (
        [PERSON, item("a"), item("a"), output("a"), output("a"), MESSAGE],
        "ROUND-3",
    ),
    "anthropic, an open call": ([PERSON, inner(turn("m", "a", "b")), inner(results("b")), REPLY], "PAIR-1"),
    "anthropic, a text before a result": ([PERSON, inner(turn("m", "a")), TEXT_FIRST, REPLY], "PAIR-2"),
    "anthropic, two results": ([PERSON, inner(turn("m", "a")), inner(results("a", "a")), REPLY], "PAIR-3"),
    "anthropic, one id for two calls": (
        [PERSON, inner(turn("m", "a", "a")), inner(results("a", "a")), REPLY],
        "ROUND-3",
    ),
}


def _langchain(message: dict[str, Any]) -> dict[str, Any]:
    """A message of Chat Completions as LangChain dumps it."""
    kinds = {"user": "human", "assistant": "ai", "tool": "tool"}
    calls = [
        {"id": one["id"], "name": one["function"]["name"], "args": {}, "type": "tool_call"}
        for one in message.get("tool_calls", ())
    ]
    made = {"type": kinds[message["role"]], "content": message["content"] or "", "additional_kwargs": {}}
    made |= {"tool_calls": calls} if message["role"] == "assistant" else {}
    return made | ({"tool_call_id": message["tool_call_id"]} if message["role"] == "tool" else {})


WRONG_LISTS |= {
    name.replace("chat", "langchain"): ([_langchain(one) for one in messages], clause)
    for name, (messages, clause) in list(WRONG_LISTS.items())
    if name.startswith("chat, ")
}


def _converse(message: dict[str, Any]) -> dict[str, Any]:
    """A message of Anthropic as Converse has it."""
    kinds = {
        "text": lambda part: {"text": part["text"]},
        "tool_use": lambda part: {
            "toolUse": {"toolUseId": part["id"], "name": part["name"], "input": part["input"]}
        },
        "tool_result": lambda part: {
            "toolResult": {"toolUseId": part["tool_use_id"], "content": [{"text": str(part["content"])}]}
        },
    }
    content = message["content"]
    parts = [block("text", text=content)] if isinstance(content, str) else content
    return {"role": message["role"], "content": [kinds[part["type"]](part) for part in parts]}


WRONG_LISTS |= {
    name.replace("anthropic", "converse"): ([_converse(one) for one in messages], clause)
    for name, (messages, clause) in list(WRONG_LISTS.items())
    if name.startswith("anthropic, ")
}


def _vercel(message: dict[str, Any]) -> dict[str, Any]:
    """A message of Chat Completions as the AI SDK has it."""
    calls = [
        {"type": "tool-call", "toolCallId": one["id"], "toolName": one["function"]["name"], "input": {}}
        for one in message.get("tool_calls", ())
    ]
    if message["role"] == "tool":
        found = {"type": "tool-result", "toolCallId": message["tool_call_id"], "toolName": "lookup"}
        return {"role": "tool", "content": [{**found, "output": {"type": "text", "value": "found"}}]}
    return {"role": message["role"], "content": calls or message["content"] or ""}


def _pydantic(message: dict[str, Any]) -> dict[str, Any]:
    """A message of Chat Completions as pydantic-ai has it."""
    about = {"tool_name": "lookup", "tool_call_id": message.get("tool_call_id")}
    calls = [
        {"part_kind": "tool-call", "tool_name": "lookup", "args": "{}", "tool_call_id": one["id"]}
        for one in message.get("tool_calls", ())
    ]
    parts = {
        "user": [{"part_kind": "user-prompt", "content": message["content"]}],
        "assistant": calls or [{"part_kind": "text", "content": message["content"]}],
        "tool": [{"part_kind": "tool-return", "content": "found", **about}],
    }
    kind = "response" if message["role"] == "assistant" else "request"
    return {"kind": kind, "parts": parts[message["role"]]}


WRONG_LISTS |= {
    name.replace("chat", library): ([form(one) for one in messages], clause)
    for name, (messages, clause) in list(WRONG_LISTS.items())
    if name.startswith("chat, ")
    for library, form in (("vercel", _vercel), ("pydantic", _pydantic))
}


def kept(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    """A message of a page of the AI SDK."""
    return {"id": "m", "role": role, "parts": list(parts)}


def used(call: str, state: str = "output-available") -> dict[str, Any]:
    """A call with its result, unless its state has none."""
    made = {"type": "tool-lookup", "toolCallId": call, "state": state, "input": {}}
    return made | ({"output": "found"} if state == "output-available" else {})


STEP, HERE = {"type": "step-start"}, {"type": "text", "text": "Here."}
WRONG_LISTS |= {
    "page, an open call": (
        [
            kept("user", HERE),
            kept("assistant", STEP, used("a"), used("b", "input-available")),
            kept("user", HERE),
            kept("assistant", STEP, HERE),
        ],
        "PAIR-1",
    ),
    "page, an open call in a step": (
        [kept("user", HERE), kept("assistant", STEP, used("a", "approval-responded"), STEP, HERE)],
        "PAIR-1",
    ),
    "page, one id for two calls": (
        [kept("user", HERE), kept("assistant", STEP, used("a"), used("a"), STEP, HERE)],
        "ROUND-3",
    ),
}

LISTS = {
    "page": "ai-sdk-page",
    "vercel": "ai-sdk-messages",
    "pydantic": "pydantic-ai-messages",
    "converse": "bedrock-converse",
    "langchain": "langchain-messages",
    "chat": "openai-chat",
    "responses": "openai-responses",
    "anthropic": "anthropic-messages",
}
