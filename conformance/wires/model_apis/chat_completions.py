"""Chat Completions of OpenAI.  A result has no status there, and a stream states a call in two pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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

PATH: Final = "/v1/chat/completions"
_USAGE: Final = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
_HEAD: Final = {"created": 1, "model": "kit"}


def asked(body: Mapping[str, Any]) -> ModelRequest:
    """Read a request; what the application says of itself is no message of the thread."""
    said = [one for one in body["messages"] if one["role"] not in ("system", "developer")]
    tools = [tool["function"]["name"] for tool in body.get("tools") or ()]
    return ModelRequest([_message(one) for one in said], tools, bool(body.get("stream")))


def _message(one: Mapping[str, Any]) -> Message:
    text = text_of(one.get("content"))
    if one["role"] == "tool":
        return Message(role="tool", call=one["tool_call_id"], text=text)
    return Message(role=one["role"], text=text, tool_calls=[_call(c) for c in one.get("tool_calls") or ()])


def _call(one: Mapping[str, Any]) -> ToolCall:
    made = one["function"]
    return ToolCall(id=one["id"], name=made["name"], args=arguments_of(made["arguments"]))


def whole(turn: Turn) -> dict[str, Any]:
    """A turn as one completion."""
    calls = {"tool_calls": [_made(call, written(call)) for call in turn.tool_calls]}
    said = {"role": "assistant", "content": turn.text or None, **(calls if turn.tool_calls else {})}
    choice = {"index": 0, "message": said, "finish_reason": _reason(turn)}
    head = {"id": new_id("chatcmpl"), **_HEAD}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": _USAGE}


def events(turn: Turn) -> Iterator[bytes]:
    """A turn as chunks: its text, the name and the arguments of each call, and its end."""
    head = {"id": new_id("chatcmpl"), **_HEAD, "object": "chat.completion.chunk"}
    for delta in _deltas(turn):
        yield event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _reason(turn)}]})
    yield event({**head, "choices": [], "usage": _USAGE})
    yield b"data: [DONE]\n\n"


def fault(why: str) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"message": why, "type": "invalid_request_error", "param": None, "code": None}}


def _deltas(turn: Turn) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": turn.text}
    for index, call in enumerate(turn.tool_calls):
        yield {"tool_calls": [{"index": index, **_made(call, "")}]}
        yield {"tool_calls": [{"index": index, "function": {"arguments": written(call)}}]}


def _made(call: ToolCall, arguments: str) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _reason(turn: Turn) -> str:
    return "tool_calls" if turn.tool_calls else "stop"
