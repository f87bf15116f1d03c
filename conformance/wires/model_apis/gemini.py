"""The API of Gemini.  A call is stated whole, and what is asked of a model stands in its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from runlock.conformance.protocol import Message, ToolCall, Turn
from runlock.conformance.wires.model_apis.api import ModelRequest, event

PATH: Final = "/v1beta/models/{call}"
STREAMS: Final = ":streamGenerateContent"
WHOLE: Final = ":generateContent"

UNTRUSTED: Final = ("<untrusted_context>\n", "\n</untrusted_context>")
"""What gemini-cli puts around the results of a tool server."""


def asked(body: Mapping[str, Any]) -> ModelRequest:
    """Read a request; its path is `call`."""
    call = str(body["call"])
    if not call.endswith((STREAMS, WHOLE)):
        raise ValueError(f"the kit has no {call}")
    declared = [tool for one in body.get("tools") or () for tool in one.get("functionDeclarations") or ()]
    messages = [found for one in body["contents"] for found in _messages(one)]
    return ModelRequest(messages, [tool["name"] for tool in declared], call.endswith(STREAMS))


def _messages(content: Mapping[str, Any]) -> Iterator[Message]:
    """The results of a message, and then the rest of it."""
    parts = content["parts"]
    results = [_result(part["functionResponse"]) for part in parts if "functionResponse" in part]
    yield from results
    calls = [_call(part["functionCall"]) for part in parts if "functionCall" in part]
    text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
    if text or calls or not results:
        yield Message(
            role="assistant" if content.get("role") == "model" else "user", text=text, tool_calls=calls
        )


def _call(call: Mapping[str, Any]) -> ToolCall:
    return ToolCall(id=call.get("id") or call["name"], name=call["name"], args=call.get("args") or {})


def _result(result: Mapping[str, Any]) -> Message:
    response = result.get("response") or {}
    status: Any = "error" if "error" in response else "ok"
    text = str(response["error"] if status == "error" else response.get("output", response))
    bare = text.removeprefix(UNTRUSTED[0]).removesuffix(UNTRUSTED[1])
    return Message(role="tool", call=result.get("id") or result["name"], text=bare, status=status)


def whole(turn: Turn) -> dict[str, Any]:
    """A turn as one response."""
    parts = [{"text": turn.text}] if turn.text or not turn.tool_calls else []
    calls = [{"id": call.id, "name": call.name, "args": call.args} for call in turn.tool_calls]
    content = {"role": "model", "parts": [*parts, *({"functionCall": call} for call in calls)]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {
        "candidates": [{"content": content, "index": 0, "finishReason": "STOP"}],
        "usageMetadata": usage,
    }


def events(turn: Turn) -> Iterator[bytes]:
    """A turn as one event."""
    yield event(whole(turn))


def fault(why: str) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"code": 400, "message": why, "status": "INVALID_ARGUMENT"}}
