"""Messages of Anthropic.  Results are blocks of a message of the user, and say whether they are errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.protocol import Message, ToolCall, Turn
from runlock.conformance.wires.model_apis.api import ModelRequest, event, new_id, text_of, written

PATH: Final = "/v1/messages"


def asked(body: Mapping[str, Any]) -> ModelRequest:
    """Read a request."""
    messages = [found for one in body["messages"] for found in _messages(one)]
    tools = [tool["name"] for tool in body.get("tools") or ()]
    return ModelRequest(messages, tools, bool(body.get("stream")))


def _messages(one: Mapping[str, Any]) -> Iterator[Message]:
    """The results of a message, and then the rest of it."""
    blocks = _blocks(one["content"])
    results = [_result(block) for block in blocks if block["type"] == "tool_result"]
    yield from results
    calls = [
        ToolCall(id=block["id"], name=block["name"], args=block["input"])
        for block in blocks
        if block["type"] == "tool_use"
    ]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    if text or calls or not results:
        yield Message(role=one["role"], text=text, tool_calls=calls)


def _result(block: Mapping[str, Any]) -> Message:
    text = text_of(block.get("content"))
    return Message(
        role="tool", call=block["tool_use_id"], text=text, status="error" if block.get("is_error") else "ok"
    )


def _blocks(content: Any) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def whole(turn: Turn) -> dict[str, Any]:
    """A turn as one message."""
    blocks = [{"type": "text", "text": turn.text}] if turn.text or not turn.tool_calls else []
    blocks += [_use(call, call.args) for call in turn.tool_calls]
    return {**_empty(), "content": blocks, "stop_reason": _reason(turn)}


def events(turn: Turn) -> Iterator[bytes]:
    """A turn as events: one block after the other, and its end."""
    yield _event("message_start", message=_empty())
    for index, (block, delta) in enumerate(_streamed(turn)):
        yield _event("content_block_start", index=index, content_block=block)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ended = {"stop_reason": _reason(turn), "stop_sequence": None}
    yield _event("message_delta", delta=ended, usage={"output_tokens": 1})
    yield _event("message_stop")


def fault(why: str) -> dict[str, Any]:
    """The body of an error."""
    return {"type": "error", "error": {"type": "invalid_request_error", "message": why}}


def _streamed(turn: Turn) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each block as it begins, and what is added to it."""
    if turn.text:
        yield {"type": "text", "text": ""}, {"type": "text_delta", "text": turn.text}
    for call in turn.tool_calls:
        yield _use(call, {}), {"type": "input_json_delta", "partial_json": written(call)}


def _use(call: ToolCall, args: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": args}


def _event(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)


def _empty() -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": "kit",
        "content": [],
    }
    return {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}


def _reason(turn: Turn) -> str:
    return "tool_use" if turn.tool_calls else "end_turn"
