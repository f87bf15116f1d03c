"""A chat model for LangGraph that asks the kit, and what it is asked, in the protocol's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from runlock.conformance.adapter import Message, ToolCall


class KitModel(BaseChatModel):
    """A chat model whose turns are the kit's."""

    host: Any

    @property
    def _llm_type(self) -> str:
        return "kit"

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return self

    def _generate(self, *args: Any, **more: Any) -> Any:
        raise TypeError("The turns of this model are awaited: the adapter runs its graphs with `ainvoke`.")

    async def _agenerate(self, messages: Sequence[BaseMessage], *args: Any, **more: Any) -> ChatResult:
        turn = await self.host.infer([seen(message) for message in messages])
        calls = [{"id": call.id, "name": call.name, "args": dict(call.args)} for call in turn.tool_calls]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(turn.text, tool_calls=calls))])


def seen(message: BaseMessage) -> Message:
    """What the model receives, in the protocol's words."""
    text = str(message.content)
    if isinstance(message, AIMessage):
        calls = [ToolCall(id=one["id"], name=one["name"], args=one["args"]) for one in message.tool_calls]
        return Message(role="assistant", text=text, tool_calls=calls)
    if isinstance(message, ToolMessage):
        status: Any = "error" if message.status == "error" else "ok"
        return Message(role="tool", call=message.tool_call_id, text=text, status=status)
    return Message(role="user", text=text)
