"""The streamed Messages API for a message loop: requests in the protocol's words, and turns as events.

The API writes one block after another.  A call of which a part came stays open until the turn is whole, and
nothing else is written meanwhile; one that came whole is ended at once.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from typing import Any

from runlock.conformance.adapters.models.http import Answered
from runlock.conformance.adapters.models.names import Names
from runlock.conformance.families.message_loop.adapter import Delta, Message, ModelFault, Request, Turn
from runlock.conformance.families.message_loop.messages import CallPiece, ToolCall


def request_of(body: Mapping[str, Any], names: Names, aborted: Collection[str]) -> Request:
    """A request of the API in the protocol's words, without what the agent adds of its own."""
    messages = [one for message in body["messages"] for one in _messages(message, names, aborted)]
    tools = [names.short(tool["name"]) for tool in body.get("tools") or ()]
    return Request(messages=messages, tools=tools)


def _messages(message: Mapping[str, Any], names: Names, aborted: Collection[str]) -> Iterator[Message]:
    if message["role"] == "system":
        return  # the agent's description of its environment
    blocks = _blocks(message["content"])
    results = [_result(block, aborted) for block in blocks if block["type"] == "tool_result"]
    yield from results
    calls = [
        ToolCall(id=one["id"], name=names.short(one["name"]), args=one["input"])
        for one in blocks
        if one["type"] == "tool_use"
    ]
    text = "".join(one["text"] for one in blocks if one["type"] == "text")
    if text or calls or not results:
        yield Message(role=message["role"], text=text, tool_calls=calls)


def _result(block: Mapping[str, Any], aborted: Collection[str]) -> Message:
    text = "".join(part.get("text", "") for part in _blocks(block.get("content")))
    bad = "cancelled" if block["tool_use_id"] in aborted else "error"
    status: Any = bad if block.get("is_error") else "ok"
    return Message(role="tool", call=block["tool_use_id"], text=text, status=status)


def _blocks(content: Any) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


async def answer_of(pieces: AsyncGenerator[Delta | Turn, None], number: int, names: Names) -> Answered:
    """A response as server-sent events, or an error if the model breaks before its first piece."""
    try:
        first = await anext(pieces)
    except ModelFault as fault:
        return Answered({"type": "error", "error": _error(fault)}, status=500)
    return Answered(events=_events(first, pieces, number, Reply(names)))


async def _events(
    piece: Delta | Turn, pieces: AsyncGenerator[Delta | Turn, None], number: int, reply: Reply
) -> AsyncGenerator[bytes, None]:
    yield _sse("message_start", message=_empty(number))
    try:
        while isinstance(piece, Delta):
            yield b"".join(reply.piece(piece))
            piece = await anext(pieces)
        yield b"".join(reply.turn(piece))
    except ModelFault as fault:
        yield _sse("error", error=_error(fault))
    finally:
        await pieces.aclose()


def _error(fault: ModelFault) -> dict[str, str]:
    return {"type": "api_error", "message": str(fault)}


def _empty(number: int) -> dict[str, Any]:
    """A message before its first block."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "kit", "content": []}
    return {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}


class Reply:
    """The blocks of one response."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._index = -1
        self._open: str | None = None  # "text", or the id of a call
        self._written = 0  # characters of text
        self._begun: dict[str, str] = {}  # what was written of the arguments of each call
        self._ended: set[str] = set()  # the calls that were written whole

    def piece(self, piece: Delta) -> Iterator[bytes]:
        """The events of a piece, unless a call is open."""
        if self._open not in (None, "text"):
            return
        if piece.text:
            yield from self._text(piece.text)
        if piece.tool_call is not None:
            yield from self._begin_call(piece.tool_call)
        if (whole := piece.whole_call) is not None:
            self._ended.add(whole.id)
            yield from self._stop()

    def turn(self, turn: Turn) -> Iterator[bytes]:
        """The events of everything that is still to be written, and of the end."""
        calls = sorted(turn.tool_calls, key=lambda call: call.id not in self._begun)
        for call in calls[: len(self._begun)]:
            if call.id not in self._ended:
                yield from self._call(call)
        if rest := turn.text[self._written :]:
            yield from self._text(rest)
        for call in calls[len(self._begun) :]:
            yield from self._call(call)
        yield from self._stop()
        reason = "tool_use" if calls else "end_turn"
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield _sse("message_delta", delta=delta, usage={"output_tokens": 1})
        yield _sse("message_stop")

    def _text(self, text: str) -> Iterator[bytes]:
        if self._open != "text":
            yield from self._start("text", {"type": "text", "text": ""})
        self._written += len(text)
        yield self._delta({"type": "text_delta", "text": text})

    def _begin_call(self, piece: CallPiece) -> Iterator[bytes]:
        block = {"type": "tool_use", "id": piece.id, "name": self._names.long(piece.name or ""), "input": {}}
        yield from self._start(piece.id, block)
        self._begun[piece.id] = piece.args_text
        yield self._delta({"type": "input_json_delta", "partial_json": piece.args_text})

    def _call(self, call: ToolCall) -> Iterator[bytes]:
        args = call.args if isinstance(call.args, str) else json.dumps(call.args)
        written = self._begun.get(call.id)
        if written is None:
            block = {"type": "tool_use", "id": call.id, "name": self._names.long(call.name), "input": {}}
            yield from self._start(call.id, block)
        yield self._delta({"type": "input_json_delta", "partial_json": args[len(written or "") :]})
        yield from self._stop()

    def _start(self, what: str, block: dict[str, Any]) -> Iterator[bytes]:
        yield from self._stop()
        self._index, self._open = self._index + 1, what
        yield _sse("content_block_start", index=self._index, content_block=block)

    def _stop(self) -> Iterator[bytes]:
        if self._open is not None:
            self._open = None
            yield _sse("content_block_stop", index=self._index)

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return _sse("content_block_delta", index=self._index, delta=delta)


def _sse(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
