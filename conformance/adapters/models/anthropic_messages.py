"""Messages of the Messages API and of the `anthropic` SDK, and the same in the protocol's words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from anthropic.lib.tools import ToolError

from runlock.conformance.families.tool_runner.adapter import Delta, Message, Outcome, Turn
from runlock.conformance.protocol import ToolCall

Param = Mapping[str, Any]
"""A message, or a block of one, as the API has it."""


def blocks_of(content: Any) -> Sequence[Param]:
    """The blocks of a message; a string is one of them."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def seen(history: Sequence[Param]) -> Iterator[Message]:
    """Messages of the API in the protocol's words: each `tool_result` block is a message."""
    for message in history:
        blocks = blocks_of(message["content"])
        if message["role"] == "system":
            yield Message(role="system", text=json.dumps(blocks))
            continue
        results = [block for block in blocks if block["type"] == "tool_result"]
        yield from map(result_seen, results)
        calls = [
            ToolCall(id=block["id"], name=block["name"], args=block["input"])
            for block in blocks
            if block["type"] == "tool_use"
        ]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        if text or calls or not results:
            yield Message(role=message["role"], text=text, tool_calls=calls)


def result_seen(block: Param) -> Message:
    """A `tool_result` block in the protocol's words."""
    text = "".join(part.get("text", "") for part in blocks_of(block.get("content")))
    status: Any = "error" if block.get("is_error") else "ok"
    return Message(role="tool", call=block["tool_use_id"], text=text, status=status)


def params_of(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Messages of the protocol as the user of the SDK writes them: results that follow each other are one."""
    for are_results, some in groupby(messages, lambda one: one.role == "tool"):
        if are_results:
            yield {"role": "user", "content": [_result(one) for one in some]}
        else:
            yield from map(_param, some)


def _param(message: Message) -> dict[str, Any]:
    if message.role != "assistant":
        return {"role": message.role, "content": message.text}
    text = [{"type": "text", "text": message.text}] if message.text else []
    return {"role": "assistant", "content": [*text, *map(tool_use, message.tool_calls)]}


def _result(message: Message) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": message.call, "content": message.text}
    return {**block, "is_error": True} if message.status == "error" else block


def tool_use(call: ToolCall) -> dict[str, Any]:
    """A call as a block."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.args}


def returned(answer: Outcome) -> Any:
    """The return value of a tool's body."""
    if answer.kind == "error":
        raise ToolError(str(answer.content))
    return answer.content


def piece_of(event: Any) -> Delta | None:
    if event.type == "text":
        return Delta(text=event.text)
    if event.type == "content_block_stop" and event.content_block.type == "tool_use":
        block = event.content_block
        return Delta(tool_call=ToolCall(id=block.id, name=block.name, args=block.input))
    return None


def snapshot_of(stream: Any) -> Any:
    """The message of a stream so far, or None before its first event."""
    try:
        return stream.current_message_snapshot
    except AssertionError:
        return None


def as_sent(messages: Sequence[Any]) -> list[Any]:
    """Messages with the SDK's own blocks in them, as a request holds them."""
    return [
        {
            **message,
            "content": [block if isinstance(block, dict) else block.to_dict() for block in message["content"]]
            if not isinstance(message["content"], str)
            else message["content"],
        }
        for message in messages
    ]


# -- what the API writes


class Reply:
    """One message of the model, whole or in events.

    What a turn adds to its pieces is written as events too: the API has no other way to state a turn.
    """

    def __init__(self, name: str) -> None:
        self.id = name
        self.blocks: list[dict[str, Any]] = []
        self._in_text = False

    def empty(self) -> dict[str, Any]:
        """The message before its first block."""
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": self.id, "type": "message", "role": "assistant", "model": "kit", "content": []}
        return {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}

    def whole(self, turn: Turn) -> dict[str, Any]:
        """The message with all of its blocks."""
        return {**self.empty(), "content": self.blocks, "stop_reason": turn.stop_reason}

    def piece(self, piece: Delta) -> Iterator[bytes]:
        """The events of a piece: some text, or a call."""
        if piece.text is not None:
            yield from self._text(piece.text)
        if piece.tool_call is not None:
            yield from self._call(piece.tool_call)

    def rest(self, turn: Turn) -> Iterator[bytes]:
        """The events of what the whole turn adds to the pieces before it."""
        text = turn.text[sum(len(block.get("text", "")) for block in self.blocks) :]
        if text:
            yield from self._text(text)
        for call in turn.tool_calls[sum(block["type"] == "tool_use" for block in self.blocks) :]:
            yield from self._call(call)

    def end(self, turn: Turn) -> Iterator[bytes]:
        """The last events but one."""
        yield from self._stop_text()
        delta = {"stop_reason": turn.stop_reason, "stop_sequence": None}
        yield sse("message_delta", delta=delta, usage={"output_tokens": 1})

    def _text(self, text: str) -> Iterator[bytes]:
        if not self._in_text:
            self._in_text = True
            yield self._start({"type": "text", "text": ""})
        self.blocks[-1]["text"] += text
        yield self._sse("content_block_delta", delta={"type": "text_delta", "text": text})

    def _call(self, call: ToolCall) -> Iterator[bytes]:
        yield from self._stop_text()
        yield self._start({"type": "tool_use", "id": call.id, "name": call.name, "input": {}})
        self.blocks[-1] = tool_use(call)
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.args)}
        yield self._sse("content_block_delta", delta=delta)
        yield self._sse("content_block_stop")

    def _start(self, block: dict[str, Any]) -> bytes:
        self.blocks.append(block)
        return self._sse("content_block_start", content_block=block)

    def _stop_text(self) -> Iterator[bytes]:
        if self._in_text:
            self._in_text = False
            yield self._sse("content_block_stop")

    def _sse(self, kind: str, **fields: Any) -> bytes:
        return sse(kind, index=len(self.blocks) - 1, **fields)


def sse(kind: str, **fields: Any) -> bytes:
    """A server-sent event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
