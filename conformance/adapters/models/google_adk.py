"""A model for google-adk that asks the kit, and what it is asked, in the protocol's words."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from typing import Any

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from runlock.conformance.adapter import Message, ToolCall
from runlock.conformance.adapters.libraries import arguments, parts

FINISH = {"length": types.FinishReason.MAX_TOKENS, "refusal": types.FinishReason.SAFETY}
"""Why a turn ended, in the words of the API; it states calls whole, so none is malformed."""


class KitModel(BaseLlm):
    """A model whose turns are the kit's."""

    host: Any

    async def generate_content_async(self, request: Any, stream: bool = False) -> AsyncGenerator[Any, None]:
        turn = await self.host.infer([seen for content in request.contents for seen in _seen(content)])
        said = types.Content(role="model", parts=parts(turn, _text, _call))
        yield LlmResponse(content=said, finish_reason=FINISH.get(turn.stop or "", types.FinishReason.STOP))


def _text(text: str) -> types.Part:
    return types.Part(text=text)


def _call(call: ToolCall) -> types.Part:
    asked = types.FunctionCall(id=call.id, name=call.name, args=arguments(call))
    return types.Part(function_call=asked)


def _status(said: dict[str, Any]) -> Any:
    """Of a result; what stands for a call that waits is an error in its form alone."""
    if str(said.get("error", "")).startswith("This tool call requires confirmation"):
        return "pending"
    return "error" if "error" in said else "ok"


def _seen(content: types.Content) -> Iterator[Message]:
    """What the model receives, in the protocol's words: results first."""
    given = content.parts or []
    for answer in (part.function_response for part in given if part.function_response):
        said = answer.response or {}
        yield Message(role="tool", call=answer.id, text=str(said), status=_status(said))
    asked = [part.function_call for part in given if part.function_call]
    calls = [ToolCall(id=one.id, name=one.name, args=one.args or {}) for one in asked]
    text = " ".join(part.text for part in given if part.text)
    if text or calls:
        yield Message(role="assistant" if content.role == "model" else "user", text=text, tool_calls=calls)
