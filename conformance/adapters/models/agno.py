"""A model for agno that asks the kit, and what it is asked, in the protocol's words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
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
        turn = await self.host.infer([seen(one) for one in messages])
        calls = [_asked(call) for call in turn.tool_calls]
        return ModelResponse(role="assistant", content=turn.text or None, tool_calls=calls)

    async def ainvoke_stream(self, messages: list[Said], **more: Any) -> AsyncIterator[ModelResponse]:
        yield await self.ainvoke(messages, **more)

    def invoke(self, *args: Any, **more: Any) -> ModelResponse:
        raise TypeError("The agent of this adapter is never run in a blocking way.")

    def invoke_stream(self, *args: Any, **more: Any) -> Iterator[ModelResponse]:
        raise TypeError("The agent of this adapter is never run in a blocking way.")

    def _parse_provider_response(self, response: Any, **more: Any) -> ModelResponse:
        raise TypeError("The model has no provider.")

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        raise TypeError("The model has no provider.")


def _asked(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.args)}
    return {"id": call.id, "type": "function", "function": function}


def seen(said: Said) -> Message:
    """A message that the model receives, in the protocol's words."""
    text = said.get_content_string()
    if said.role == "tool":
        return Message(role="tool", call=said.tool_call_id, text=text)  # no provider is sent its status
    calls = [
        ToolCall(id=one["id"], name=one["function"]["name"], args=json.loads(one["function"]["arguments"]))
        for one in said.tool_calls or ()
    ]
    return Message(role="assistant" if said.role == "assistant" else "user", text=text, tool_calls=calls)
