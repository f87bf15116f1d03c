"""A model for pydantic-ai that asks the kit, and what it is asked, in the protocol's words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Final

import pydantic_ai as ai
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from runlock.conformance.adapter import Host, Message, ToolCall, Turn
from runlock.conformance.adapters.libraries import parts

STATUS: Final[dict[str, Any]] = {"success": "ok", "denied": "cancelled", "interrupted": "cancelled"}
"""The status of a tool's result by pydantic-ai's outcome; any other outcome is an error."""

FINISH: Final[dict[str, Any]] = {"length": "length", "refusal": "content_filter"}
"""Why a turn ended, in the words of pydantic-ai."""


def kit_model(host: Host, before: Callable[[Sequence[ModelMessage]], None]) -> FunctionModel:
    """A model whose turns are the kit's; `before` receives the messages of each request first.

    Streamed or not, it answers with the same turn.
    """

    async def ask(messages: list[ModelMessage]) -> Turn:
        before(messages)
        return await host.infer([seen for message in messages for seen in _seen(message)])

    async def infer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = await ask(messages)
        return ModelResponse(parts=parts(turn, ai.TextPart, _call), finish_reason=FINISH.get(turn.stop or ""))

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        turn = await ask(messages)
        if turn.text:
            yield turn.text
        yield dict(enumerate(map(_delta, turn.tool_calls)))

    return FunctionModel(infer, stream_function=stream)


def _call(call: ToolCall) -> ai.ToolCallPart:
    return ai.ToolCallPart(call.name, call.args, call.id)


def args_of(part: ai.ToolCallPart) -> Any:
    """The arguments of a call as the model gave them: an object, or a text that is none."""
    try:
        return part.args_as_dict(raise_if_invalid=True)
    except (AssertionError, ValueError):
        return part.args


def _delta(call: ToolCall) -> DeltaToolCall:
    args = call.args if isinstance(call.args, str) else json.dumps(call.args)
    return DeltaToolCall(call.name, args, tool_call_id=call.id)


def _seen(message: ModelMessage) -> Iterator[Message]:
    """What the model receives, in the protocol's words: results first, as pydantic-ai sends them."""
    if isinstance(message, ModelResponse):
        asked = message.tool_calls
        calls = [ToolCall(id=one.tool_call_id, name=one.tool_name, args=args_of(one)) for one in asked]
        yield Message(role="assistant", text=message.text or "", tool_calls=calls)
        return
    for part in message.parts:
        if part.part_kind == "tool-return":
            status = STATUS.get(part.outcome, "error")
            yield Message(role="tool", call=part.tool_call_id, text=str(part.content), status=status)
        elif part.part_kind == "retry-prompt" and part.tool_name:
            yield Message(role="tool", call=part.tool_call_id, text=part.model_response(), status="error")
        else:
            yield Message(role="user", text=str(getattr(part, "content", "")))
