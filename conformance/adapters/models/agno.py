"""A model for agno that asks the kit, and what it is asked, in the protocol's words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from agno.models.base import Model
from agno.models.message import Message as Said
from agno.models.response import ModelResponse

from runlock.conformance.adapter import Host, Message, ToolCall


class KitModel(Model):
    """A model whose turns are the kit's."""

    def __init__(self, host: Host) -> None:
        super().__init__(id="kit", name="kit", provider="kit")
        self.host = host

    async def ainvoke(self, messages: list[Said], **more: Any) -> ModelResponse:
        turn = await self.host.infer([_seen(one) for one in messages])
        calls = [_asked(call) for call in turn.tool_calls]
        return ModelResponse(role="assistant", content=turn.text or None, tool_calls=calls)

    async def ainvoke_stream(self, messages: list[Said], **more: Any) -> AsyncIterator[ModelResponse]:
        yield await self.ainvoke(messages)

    def _unused(self, *args: Any, **more: Any) -> Any:
        raise TypeError("The agent of this adapter awaits whole turns, and this model has no provider.")

    invoke = invoke_stream = _unused
    _parse_provider_response = _parse_provider_response_delta = _unused


def _asked(call: ToolCall) -> dict[str, Any]:
    args = call.args if isinstance(call.args, str) else json.dumps(call.args)
    function = {"name": call.name, "arguments": args}
    return {"id": call.id, "type": "function", "function": function}


def _args(text: str) -> Any:
    """The arguments of a call as the model gave them: an object, or a text that is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _seen(said: Said) -> Message:
    """A message that the model receives, in the protocol's words."""
    text = said.get_content_string()
    if said.role == "tool":
        return Message(role="tool", call=said.tool_call_id, text=text)  # no provider is sent its status
    calls = [
        ToolCall(id=one["id"], name=one["function"]["name"], args=_args(one["function"]["arguments"]))
        for one in said.tool_calls or ()
    ]
    return Message(role=said.role, text=text, tool_calls=calls)
