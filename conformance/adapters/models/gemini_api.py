"""The streamed Gemini API for a message loop: its requests in the protocol's words, and a turn as its events.

A call has no pieces there, so one of which the kit gives a part is written with the whole turn.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
from typing import Any, Final

from runlock.conformance.adapters.models.http import Answered
from runlock.conformance.adapters.models.names import Names
from runlock.conformance.families.message_loop.adapter import Delta, Message, ModelFault, Request, Turn
from runlock.conformance.families.message_loop.messages import ToolCall

CONTEXT: Final = "<session_context>"
UNTRUSTED: Final = ("<untrusted_context>\n", "\n</untrusted_context>")
"""What gemini-cli puts around the results of a tool server."""


def request_of(body: Mapping[str, Any], names: Names, aborted: Collection[str]) -> Request:
    """A request of the API in the protocol's words, without the tools and the context of the agent."""
    declared = [
        one["name"] for tool in body.get("tools") or () for one in tool.get("functionDeclarations", ())
    ]
    messages = [one for content in body["contents"] for one in _messages(content, names, aborted)]
    return Request(messages=messages, tools=[names.short(name) for name in declared if names.is_ours(name)])


def _messages(content: Mapping[str, Any], names: Names, aborted: Collection[str]) -> Iterator[Message]:
    parts = content["parts"]
    results = [_result(part["functionResponse"], aborted) for part in parts if "functionResponse" in part]
    yield from results
    calls = [_call(part["functionCall"], names) for part in parts if "functionCall" in part]
    texts = [part["text"] for part in parts if part.get("text") and not part["text"].startswith(CONTEXT)]
    role: Any = "assistant" if content["role"] == "model" else "user"
    if texts or calls or (role == "assistant" and not results):
        yield Message(role=role, text="".join(texts), tool_calls=calls)


def _call(call: Mapping[str, Any], names: Names) -> ToolCall:
    return ToolCall(id=call.get("id") or "", name=names.short(call["name"]), args=call.get("args") or {})


def _result(result: Mapping[str, Any], aborted: Collection[str]) -> Message:
    response = result["response"]
    status: Any = "error" if "error" in response else "ok"
    text = str(response.get("error") if status == "error" else response.get("output"))
    if status == "error" and result.get("id") in aborted:
        status = "cancelled"
    bare = text.removeprefix(UNTRUSTED[0]).removesuffix(UNTRUSTED[1])
    return Message(role="tool", call=result.get("id"), text=bare, status=status)


async def answer_of(pieces: AsyncGenerator[Delta | Turn, None], names: Names) -> Answered:
    """A response as server-sent events, or an error if the model breaks before its first piece."""
    try:
        first = await anext(pieces)
    except ModelFault as fault:
        error = {"code": 400, "message": str(fault), "status": "INVALID_ARGUMENT"}
        return Answered({"error": error}, status=400)
    return Answered(events=_events(first, pieces, names))


async def _events(
    piece: Delta | Turn, pieces: AsyncGenerator[Delta | Turn, None], names: Names
) -> AsyncGenerator[bytes, None]:
    written = 0
    ended: set[str] = set()
    try:
        while isinstance(piece, Delta):
            if piece.text:
                written += len(piece.text)
                yield _sse([{"text": piece.text}])
            if (whole := piece.whole_call) is not None:
                ended.add(whole.id)
                yield _sse([{"functionCall": _written(whole, names)}])
            piece = await anext(pieces)
        text = [{"text": piece.text[written:]}] if piece.text[written:] else []
        calls = [{"functionCall": _written(call, names)} for call in piece.tool_calls if call.id not in ended]
        yield _sse([*text, *calls], finishReason="STOP")
    finally:
        await pieces.aclose()


def _written(call: ToolCall, names: Names) -> dict[str, Any]:
    return {"id": call.id, "name": names.long(call.name), "args": call.args}


def _sse(parts: list[dict[str, Any]], **more: Any) -> bytes:
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **more}
    return f"data: {json.dumps({'candidates': [candidate], 'usageMetadata': usage})}\r\n\r\n".encode()
