"""Reads messages that an export of spans holds, in whichever API they were written.

The forms are those of Chat Completions, Anthropic and Responses (see `messages`), the message objects of
LangChain, plain or serialised (langchain-ai/langchain, `libs/core/langchain_core/load/serializable.py` and
`messages/tool.py`), and the attributes `gen_ai.prompt.N.*` and `gen_ai.completion.N.*`, which
traceloop/openllmetry writes (`packages/opentelemetry-instrumentation-ollama/.../span_utils.py` is one place).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from runlock.conformance.audit.importers.histories import assistant, call, text_of
from runlock.conformance.audit.importers.messages import (
    ITEMS,
    is_anthropic,
    is_converse,
    lacks_ids,
    of_anthropic,
    of_chat,
    of_converse,
    of_responses,
)
from runlock.conformance.inputs import json_in

Raw = Mapping[str, Any]
Message = dict[str, Any]

NAMES: Final = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "model": "assistant"}
"""What other libraries call the roles."""

CLASSES: Final = {
    "HumanMessage": "user", "AIMessage": "assistant", "AIMessageChunk": "assistant", "ToolMessage": "tool",
    "SystemMessage": "system",
}  # fmt: skip
INDEXED: Final = re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(.+)")
CALLED: Final = re.compile(r"tool_calls\.(\d+)\.(?:function\.)?(id|name|arguments)")


class Unknown(ValueError):
    """A message without the ids that pair calls and results, so that nothing can be said of its history."""


def messages_of(value: Any) -> list[Message] | None:
    """The messages of a list, or of an object with one; None if they do not pair calls with results."""
    if isinstance(value, Mapping) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        (value,) = value  # LangChain asks with several lists at once, of which an agent has one
    if not isinstance(value, list):
        return None
    try:
        return [one for raw in value for one in message_of(raw)]
    except Unknown:
        return None


def message_of(raw: Any) -> Iterator[Message]:
    """The messages that one message is: itself, or each result in it; `Unknown` if its ids are missing."""
    if isinstance(raw, list | tuple) and len(raw) == 2:
        raw = {"role": raw[0], "content": raw[1]}
    if not isinstance(raw, Mapping):
        raise Unknown
    if raw.get("type") == "constructor":
        role = CLASSES.get(str((raw.get("id") or [""])[-1]), "")
        raw = {**(raw.get("kwargs") or {}), "role": role}
    elif "data" in raw and "role" not in raw:
        raw = {**raw["data"], "role": raw.get("type")}
    role = str(raw.get("role") or raw.get("type"))
    role = NAMES.get(role, role)
    if raw.get("type") in ITEMS and "role" not in raw:
        yield from of_responses(raw)
    elif is_anthropic({**raw, "role": role}):
        yield from of_anthropic({**raw, "role": role})
    elif is_converse(raw):
        yield from of_converse({**raw, "role": role})
    elif lacks_ids({**raw, "role": role, "type": None}):
        raise Unknown
    elif role == "assistant" and any("args" in one for one in raw.get("tool_calls") or ()):
        calls = [call(str(one.get("id")), str(one.get("name")), one.get("args")) for one in raw["tool_calls"]]
        yield assistant(text_in(raw), calls)
    else:
        yield from of_chat({**raw, "role": role})


def text_in(raw: Raw) -> str:
    """The text of a message, which may have it in parts."""
    content = parts_text(raw.get("content"))
    return content if isinstance(content, str) else ""


def parts_text(content: Any) -> Any:
    """The text of a list of parts; any other content as it is."""
    if isinstance(content, list) and all(isinstance(one, Mapping) for one in content):
        return "".join(str(one.get("text") or "") for one in content)
    return content


def indexed(attributes: Raw, side: str) -> list[Message] | None:
    """The messages of `gen_ai.prompt.N.*` or `gen_ai.completion.N.*`; None as of `messages_of`."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if (named := INDEXED.fullmatch(key)) is not None and named[1] == side:
            found.setdefault(int(named[2]), {})[named[3]] = value
    try:
        return messages_of([_whole(raw, side) for _, raw in sorted(found.items())]) if found else None
    except Unknown:
        return None


def _whole(raw: Raw, side: str) -> Raw:
    """The message of the attributes of one number."""
    role = str(raw.get("role") or ("assistant" if side == "completion" else "user"))
    calls = list(_calls(raw)) or [one for one in _json(raw.get("tool_calls")) if isinstance(one, dict)]
    content = raw.get("content")
    parts = [one for one in _json(content) if isinstance(one, dict)]
    if any("function_response" in one or "functionResponse" in one for one in parts):
        raise Unknown
    kinds = {one.get("type") for one in parts}
    said = parts if kinds & {"tool_use", "tool_result"} and not calls else content
    return {"role": role, "content": said, "tool_calls": calls, "tool_call_id": raw.get("tool_call_id")}


def _calls(raw: Raw) -> Iterator[Raw]:
    parts: dict[int, dict[str, Any]] = {}
    for key, value in raw.items():
        if (named := CALLED.fullmatch(key)) is not None:
            parts.setdefault(int(named[1]), {})[named[2]] = value
    for _, one in sorted(parts.items()):
        yield {"id": one.get("id"), "function": {"name": one.get("name"), "arguments": one.get("arguments")}}


def _json(value: Any) -> list[Any]:
    value = json_in(value)
    return value if isinstance(value, list) else []


def answer_of(value: Any) -> tuple[str | None, str | None, str]:
    """What a tool gave: the id of the call, its text, and whether it is an error, as far as it is shown."""
    if isinstance(value, Mapping) and set(value) == {"output"}:
        value = value["output"]
    if isinstance(value, str):
        parsed = json_in(value)
        value = parsed if isinstance(parsed, Mapping) and "tool_call_id" in parsed else value
    raw = value.get("kwargs", value) if isinstance(value, Mapping) else {}
    if "tool_call_id" not in raw:
        return None, None if value is None else text_of(value), "ok"
    return (
        str(raw["tool_call_id"]),
        text_of(raw.get("content")),
        "error" if raw.get("status") == "error" else "ok",
    )
