"""Streamed chat completions for a message loop: requests in the protocol's words, and turns as chunks.

A result has no status there, so a result says nothing of whether its call succeeded.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any

from runlock.conformance.adapters.models.http import Answered
from runlock.conformance.adapters.models.names import Names
from runlock.conformance.families.message_loop.adapter import Delta, Message, ModelFault, Request, Turn
from runlock.conformance.families.message_loop.messages import CallPiece, ToolCall


def request_of(body: Mapping[str, Any], names: Names) -> Request:
    """A request of the API in the protocol's words, without the tools and the prompt of the agent."""
    offered = [tool["function"]["name"] for tool in body.get("tools") or ()]
    messages = [_message(one, names) for one in body["messages"] if one["role"] != "system"]
    return Request(messages=messages, tools=[names.short(name) for name in offered if names.is_ours(name)])


def _message(message: Mapping[str, Any], names: Names) -> Message:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    if message["role"] == "tool":
        return Message(role="tool", call=message["tool_call_id"], text=text)
    calls = [_call(one, names) for one in message.get("tool_calls") or ()]
    return Message(role=message["role"], text=text, tool_calls=calls)


def _call(call: Mapping[str, Any], names: Names) -> ToolCall:
    written = call["function"]["arguments"]
    try:
        args = json.loads(written)
    except ValueError:
        args = written
    return ToolCall(id=call["id"], name=names.short(call["function"]["name"]), args=args)


async def answer_of(pieces: AsyncGenerator[Delta | Turn, None], names: Names) -> Answered:
    """A response in chunks, or an error if the model breaks before its first piece."""
    try:
        first = await anext(pieces)
    except ModelFault as fault:
        return Answered({"error": {"message": str(fault), "type": "invalid_request_error"}}, status=400)
    return Answered(events=_chunks(first, pieces, Reply(names)))


async def _chunks(
    piece: Delta | Turn, pieces: AsyncGenerator[Delta | Turn, None], reply: Reply
) -> AsyncGenerator[bytes, None]:
    try:
        while isinstance(piece, Delta):
            for delta in reply.piece(piece):
                yield _chunk(delta)
            piece = await anext(pieces)
        for delta in reply.turn(piece):
            yield _chunk(delta)
        yield _chunk({}, "tool_calls" if piece.tool_calls else "stop")
        yield b"data: [DONE]\n\n"
    finally:
        await pieces.aclose()


def plain_answer(text: str) -> Answered:
    """A response that is text alone."""

    async def chunks() -> AsyncGenerator[bytes, None]:
        yield _chunk({"role": "assistant", "content": text})
        yield _chunk({}, "stop")
        yield b"data: [DONE]\n\n"

    return Answered(events=chunks())


class Reply:
    """What was written of one response."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._text = 0  # characters
        self._calls: dict[str, int] = {}  # how much of the arguments of each call

    def piece(self, piece: Delta) -> Iterator[dict[str, Any]]:
        """The deltas of a piece."""
        if piece.text:
            self._text += len(piece.text)
            yield {"role": "assistant", "content": piece.text}
        if piece.tool_call is not None:
            yield self._begin(piece.tool_call)

    def turn(self, turn: Turn) -> Iterator[dict[str, Any]]:
        """The deltas of everything that is still to be written."""
        if rest := turn.text[self._text :]:
            yield {"role": "assistant", "content": rest}
        for call in turn.tool_calls:
            args = call.args if isinstance(call.args, str) else json.dumps(call.args)
            if call.id in self._calls:
                if rest := args[self._calls[call.id] :]:
                    yield self._more(call.id, rest)
            else:
                yield self._begin(CallPiece(id=call.id, name=call.name, args_text=args))

    def _begin(self, piece: CallPiece) -> dict[str, Any]:
        index = len(self._calls)
        self._calls[piece.id] = len(piece.args_text)
        named = {"name": self._names.long(piece.name or ""), "arguments": piece.args_text}
        return {"tool_calls": [{"index": index, "id": piece.id, "type": "function", "function": named}]}

    def _more(self, call: str, text: str) -> dict[str, Any]:
        index = list(self._calls).index(call)
        return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}


def _chunk(delta: Mapping[str, Any], ended: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": ended}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2} if ended else None
    chunk = {"id": "kit", "object": "chat.completion.chunk", "created": 1, "model": "kit"}
    return f"data: {json.dumps({**chunk, 'choices': [choice], 'usage': usage})}\n\n".encode()
