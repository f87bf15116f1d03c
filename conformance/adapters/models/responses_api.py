"""The streamed Responses API for a message loop: requests in the protocol's words, and turns as events.

A result has no status there.  A call is written when all of it has come: the API lets a client wait for
the end of each item.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.adapters.models.http import Answered
from runlock.conformance.adapters.models.names import Names
from runlock.conformance.families.message_loop.adapter import Delta, Message, ModelFault, Request, Turn
from runlock.conformance.families.message_loop.messages import ToolCall

ENVIRONMENT: Final = "<environment_context>"
OUTPUT: Final = "Output:"
"""After this, and after how long it took, Codex gives the result of a tool."""


def request_of(body: Mapping[str, Any], names: Names) -> Request:
    """A request of the API in the protocol's words, without the tools and the texts of the agent."""
    spaces = [tool for tool in body.get("tools") or () if tool.get("name") == names.prefix]
    return Request(
        messages=list(_messages(body["input"], names)),
        tools=[tool["name"] for space in spaces for tool in space["tools"]],
    )


def _messages(items: Sequence[Mapping[str, Any]], names: Names) -> Iterator[Message]:
    """The messages: text of the assistant and the calls after it are one."""
    text, calls = "", list[ToolCall]()
    for item in items:
        if item["type"] == "function_call":
            calls.append(_call(item))
        elif item["type"] == "message" and item["role"] == "assistant":
            text += _text(item["content"])
        else:
            if text or calls:
                yield Message(role="assistant", text=text, tool_calls=calls)
            text, calls = "", []
            yield from _other(item)
    if text or calls:
        yield Message(role="assistant", text=text, tool_calls=calls)


def _other(item: Mapping[str, Any]) -> Iterator[Message]:
    if item["type"] == "function_call_output":
        yield Message(role="tool", call=item["call_id"], text=_result(item["output"]))
    elif item["type"] == "message" and item["role"] == "user":
        text = _text(item["content"])
        if not text.startswith(ENVIRONMENT):
            yield Message(role="user", text=text)


def _call(item: Mapping[str, Any]) -> ToolCall:
    try:
        args = json.loads(item["arguments"])
    except ValueError:
        args = item["arguments"]
    return ToolCall(id=item["call_id"], name=item["name"], args=args)


def _result(output: Any) -> str:
    if isinstance(output, str):
        return output
    texts = [part.get("text", "") for part in output]
    return "".join(texts[1:] if texts and texts[0].rstrip().endswith(OUTPUT) else texts)


def _text(content: Any) -> str:
    return "".join(part.get("text", "") for part in content)


async def answer_of(pieces: AsyncGenerator[Delta | Turn, None], number: int, names: Names) -> Answered:
    """A response as server-sent events, or an error if the model breaks before its first piece."""
    try:
        first = await anext(pieces)
    except ModelFault as fault:
        return Answered({"error": {"message": str(fault), "type": "invalid_request_error"}}, status=400)
    return Answered(events=_events(first, pieces, number, names))


async def _events(
    piece: Delta | Turn, pieces: AsyncGenerator[Delta | Turn, None], number: int, names: Names
) -> AsyncGenerator[bytes, None]:
    reply = Reply(number, names)
    yield _sse("response.created", response={"id": f"resp_{number}"})
    try:
        while isinstance(piece, Delta):
            yield b"".join(reply.piece(piece))
            piece = await anext(pieces)
        yield b"".join(reply.turn(piece))
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        yield _sse("response.completed", response={"id": f"resp_{number}", "usage": usage})
    finally:
        await pieces.aclose()


class Reply:
    """The items of one response."""

    def __init__(self, number: int, names: Names) -> None:
        self._id = f"msg_{number}"
        self._names = names
        self._index = -1
        self._text = ""  # of the message that is open
        self._written = 0  # characters of text
        self._ended: set[str] = set()  # the calls that were written before the turn was whole

    def piece(self, piece: Delta) -> Iterator[bytes]:
        """The events of a piece; a part of a call is written with the whole of it."""
        if piece.text:
            yield from self._more(piece.text)
        if (whole := piece.whole_call) is not None:
            self._ended.add(whole.id)
            yield from self._call(whole)

    def turn(self, turn: Turn) -> Iterator[bytes]:
        """The events of everything that is still to be written."""
        if rest := turn.text[self._written :]:
            yield from self._more(rest)
        yield from self._end()
        for call in turn.tool_calls:
            if call.id not in self._ended:
                yield from self._call(call)

    def _more(self, text: str) -> Iterator[bytes]:
        if not self._text:
            self._index += 1
            yield _sse("response.output_item.added", output_index=self._index, item=self._message())
        self._text += text
        self._written += len(text)
        where = {"item_id": f"{self._id}_{self._index}", "output_index": self._index, "content_index": 0}
        yield _sse("response.output_text.delta", **where, delta=text)

    def _end(self) -> Iterator[bytes]:
        if self._text:
            whole = self._message({"type": "output_text", "text": self._text})
            self._text = ""
            yield _sse("response.output_item.done", output_index=self._index, item=whole)

    def _call(self, call: ToolCall) -> Iterator[bytes]:
        yield from self._end()
        self._index += 1
        yield _sse("response.output_item.done", output_index=self._index, item=_item(call, self._names))

    def _message(self, *content: Mapping[str, Any]) -> dict[str, Any]:
        item_id = f"{self._id}_{self._index}"
        return {"type": "message", "id": item_id, "role": "assistant", "content": list(content)}


def _item(call: ToolCall, names: Names) -> dict[str, Any]:
    args = call.args if isinstance(call.args, str) else json.dumps(call.args)
    space = {"namespace": names.prefix} if call.name in names.tools else {}
    item = {"type": "function_call", "id": f"fc_{call.id}", "call_id": call.id, "name": call.name}
    return {**item, **space, "arguments": args}


def _sse(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
