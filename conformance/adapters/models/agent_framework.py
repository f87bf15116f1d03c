"""A chat client for agent-framework that asks the kit, and what it is asked, in the protocol's words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agent_framework import BaseChatClient, ChatResponse, Content, FunctionInvocationLayer
from agent_framework import Message as Said

from runlock.conformance.adapter import Host, Message, ToolCall
from runlock.conformance.adapters.libraries import parts

FINISH: dict[str, Any] = {"length": "length", "refusal": "content_filter"}
"""Why a turn ended, in the words of agent-framework."""


class KitClient(FunctionInvocationLayer, BaseChatClient):
    """A chat client whose turns are the kit's, with the library's layer that runs tools."""

    host: Host

    async def _inner_get_response(self, *, messages: Any, **more: Any) -> ChatResponse:
        turn = await self.host.infer([seen for message in messages for seen in _seen(message)])
        contents = parts(turn, Content.from_text, function_call)
        said = Said(role="assistant", contents=contents)
        return ChatResponse(messages=[said], finish_reason=FINISH.get(turn.stop or ""))


def function_call(call: ToolCall) -> Content:
    """A call as the library has it."""
    return Content.from_function_call(call_id=call.id, name=call.name, arguments=_text(call.args))


def _text(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args)


def arguments_of(call: Content) -> Any:
    """The arguments of a call as the model gave them: an object, or a text that is none."""
    try:
        return json.loads(str(call.arguments or "{}"))
    except ValueError:
        return call.arguments


def _seen(message: Said) -> Iterator[Message]:
    """What the model receives, in the protocol's words: results first."""
    results = [part for part in message.contents if part.type == "function_result"]
    for one in results:  # a refusal is a result like any other there
        status: Any = "error" if one.exception else None
        yield Message(role="tool", call=one.call_id, text=str(one.result), status=status)
    asked = [part for part in message.contents if part.type == "function_call"]
    calls = [ToolCall(id=one.call_id, name=one.name, args=arguments_of(one)) for one in asked]
    text = " ".join(str(part.text) for part in message.contents if part.type == "text")
    if text or calls or not results:
        yield Message(role=message.role, text=text, tool_calls=calls)
