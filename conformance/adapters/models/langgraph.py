"""A chat model for LangGraph that asks the kit, and what it is asked, in the protocol's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from runlock.conformance.adapter import Message, ToolCall

FINISH: Final = {"length": "length", "refusal": "content_filter"}
"""Why a turn ended, in the words that most models of the library use."""


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
        sorted_out = [_parsed(call) for call in turn.tool_calls]
        said = AIMessage(
            turn.text,
            tool_calls=[one for one in sorted_out if one["type"] == "tool_call"],
            invalid_tool_calls=[one for one in sorted_out if one["type"] == "invalid_tool_call"],
            response_metadata={"finish_reason": FINISH.get(turn.stop or "", "stop")},
        )
        return ChatResult(generations=[ChatGeneration(message=said)])


def _parsed(call: ToolCall) -> Any:
    """A call as the library's own models give it: one whose arguments do not parse is invalid."""
    about = {"id": call.id, "name": call.name, "args": call.args}
    if isinstance(call.args, str):
        return {**about, "type": "invalid_tool_call", "error": "the arguments are not JSON"}
    return {**about, "args": dict(call.args), "type": "tool_call"}


def seen(message: BaseMessage) -> Message:
    """What the model receives, in the protocol's words."""
    text = str(message.content)
    if isinstance(message, AIMessage):
        asked = [*message.tool_calls, *message.invalid_tool_calls]
        calls = [ToolCall(id=str(one["id"]), name=str(one["name"]), args=one["args"] or "") for one in asked]
        return Message(role="assistant", text=text, tool_calls=calls)
    if isinstance(message, ToolMessage):
        status: Any = "error" if message.status == "error" else "ok"
        return Message(role="tool", call=message.tool_call_id, text=text, status=status)
    return Message(role="user", text=text)
