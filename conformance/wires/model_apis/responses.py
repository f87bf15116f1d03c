"""Responses of OpenAI.  The items of one turn stand next to each other, and a result has no status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from runlock.conformance.protocol import Message, ToolCall, Turn
from runlock.conformance.wires.model_apis.api import (
    ModelRequest,
    arguments_of,
    event,
    new_id,
    text_of,
    written,
)

PATH: Final = "/v1/responses"
SPACE: Final = "/"
"""What stands between the name of a namespace and that of its function, in the kit's words."""

_OF_TURNS: Final = ("function_call", "reasoning")
_USAGE: Final = {
    "input_tokens": 1,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 1,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 2,
}


def asked(body: Mapping[str, Any]) -> ModelRequest:
    """Read a request; the input is a text, or a list of items."""
    given = body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    tools = [name for tool in body.get("tools") or () for name in _names(tool)]
    return ModelRequest(list(_messages(items)), tools, bool(body.get("stream")))


def _names(tool: Mapping[str, Any]) -> Iterator[str]:
    """The name of a function; those of a namespace have its name before their own."""
    if tool.get("type") == "function":
        yield tool["name"]
    elif tool.get("type") == "namespace":
        yield from (f"{tool['name']}{SPACE}{one['name']}" for one in tool.get("tools") or ())


def _messages(items: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    """The messages: text of the assistant and the calls around it are one turn."""
    text, calls = "", list[ToolCall]()
    for item in items:
        if item.get("type") == "function_call":
            calls.append(_call(item))
        elif item.get("role") == "assistant":
            text += text_of(item["content"])
        elif item.get("type") not in _OF_TURNS:
            if text or calls:
                yield Message(role="assistant", text=text, tool_calls=calls)
            text, calls = "", []
            yield from _other(item)
    if text or calls:
        yield Message(role="assistant", text=text, tool_calls=calls)


def _call(item: Mapping[str, Any]) -> ToolCall:
    space = f"{item['namespace']}{SPACE}" if item.get("namespace") else ""
    return ToolCall(id=item["call_id"], name=f"{space}{item['name']}", args=arguments_of(item["arguments"]))


def _other(item: Mapping[str, Any]) -> Iterator[Message]:
    if item.get("type") == "function_call_output":
        yield Message(role="tool", call=item["call_id"], text=text_of(item["output"]))
    elif item.get("role") == "user":
        yield Message(role="user", text=text_of(item["content"]))


def whole(turn: Turn) -> dict[str, Any]:
    """A turn as one response."""
    return _response(new_id("resp"), "completed", list(_items(turn)))


def events(turn: Turn) -> Iterator[bytes]:
    """A turn as events: each item with its content, and the response at both ends."""
    numbers, name, items = count(), new_id("resp"), list(_items(turn))
    yield _event(numbers, "response.created", response=_response(name, "in_progress", []))
    for index, item in enumerate(items):
        yield from _shown(numbers, index, item)
    yield _event(numbers, "response.completed", response=_response(name, "completed", items))


def fault(why: str) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"message": why, "type": "invalid_request_error", "param": None, "code": None}}


def _shown(numbers: Iterator[int], index: int, item: Mapping[str, Any]) -> Iterator[bytes]:
    place = {"output_index": index, "item_id": item["id"]}
    if item["type"] == "message":
        text, opened, part = item["content"][0]["text"], {**item, "content": []}, {"content_index": 0}
        yield _event(numbers, "response.output_item.added", output_index=index, item=opened)
        empty = {**item["content"][0], "text": ""}
        yield _event(numbers, "response.content_part.added", **place, **part, part=empty)
        yield _event(numbers, "response.output_text.delta", **place, **part, delta=text, logprobs=[])
        yield _event(numbers, "response.output_text.done", **place, **part, text=text, logprobs=[])
        yield _event(numbers, "response.content_part.done", **place, **part, part=item["content"][0])
    else:
        arguments, opened = item["arguments"], {**item, "arguments": ""}
        yield _event(numbers, "response.output_item.added", output_index=index, item=opened)
        yield _event(numbers, "response.function_call_arguments.delta", **place, delta=arguments)
        yield _event(numbers, "response.function_call_arguments.done", **place, arguments=arguments)
    yield _event(numbers, "response.output_item.done", output_index=index, item=item)


def _event(numbers: Iterator[int], kind: str, **fields: Any) -> bytes:
    return event({"type": kind, "sequence_number": next(numbers), **fields}, kind)


def _items(turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.text or not turn.tool_calls:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        said = {"type": "message", "role": "assistant", "status": "completed", "content": content}
        yield {"id": new_id("msg"), **said}
    for call in turn.tool_calls:
        space, split, name = call.name.rpartition(SPACE)
        made = {"type": "function_call", "call_id": call.id, "name": name, "status": "completed"}
        within = {"namespace": space} if split else {}
        yield {"id": f"fc_{call.id}", **made, **within, "arguments": written(call)}


def _response(name: str, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    fixed = {"id": name, "object": "response", "created_at": 1, "model": "kit", "error": None}
    loose = {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True, "incomplete_details": None}
    return {**fixed, **loose, "status": status, "output": output, "usage": _USAGE}
