"""A model for openai-agents that asks the kit, and what it is asked, in the protocol's words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import groupby
from typing import Any

from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseIncompleteEvent,
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
)
from openai.types.responses.response import IncompleteDetails

from runlock.conformance.adapter import Host, Message, ToolCall
from runlock.conformance.adapters.libraries import parts


class KitModel(Model):
    """A model whose turns are the kit's."""

    def __init__(self, here: Callable[[], Host]) -> None:
        self.here = here  # the host of the run that asks

    async def get_response(self, *args: Any, input: Any, **more: Any) -> ModelResponse:
        turn = await self.here().infer(list(_seen(input)))
        return ModelResponse(parts(turn, _said, function_call), Usage(), "answer")

    async def stream_response(self, system: Any, given: Any, *args: Any, **more: Any) -> AsyncIterator[Any]:
        turn = await self.here().infer(list(_seen(given)))
        said = _refused if turn.stop == "refusal" else _said
        whole = Response(
            id="answer", created_at=0, model="kit", object="response",
            output=parts(turn, said, function_call),
            tool_choice="auto", tools=[], parallel_tool_calls=True,
        )  # fmt: skip
        if turn.stop == "length":
            whole.status, whole.incomplete_details = (
                "incomplete",
                IncompleteDetails(reason="max_output_tokens"),
            )
            yield ResponseIncompleteEvent(type="response.incomplete", response=whole, sequence_number=0)
        else:
            yield ResponseCompletedEvent(type="response.completed", response=whole, sequence_number=0)


def _said(text: str) -> ResponseOutputMessage:
    content = [ResponseOutputText(type="output_text", text=text, annotations=[])]
    return ResponseOutputMessage(
        id="said", type="message", role="assistant", status="completed", content=content
    )


def _refused(text: str) -> ResponseOutputMessage:
    content = [ResponseOutputRefusal(type="refusal", refusal=text)]
    return ResponseOutputMessage(
        id="said", type="message", role="assistant", status="completed", content=list(content)
    )


def function_call(call: ToolCall) -> ResponseFunctionToolCall:
    """A call as the library has it."""
    args = call.args if isinstance(call.args, str) else json.dumps(call.args)
    return ResponseFunctionToolCall(
        id=f"fc_{call.id}", call_id=call.id, type="function_call", name=call.name, arguments=args
    )


def _seen(given: Any) -> Iterator[Message]:
    """What the model receives, in the protocol's words: the calls of one turn stand together."""
    given = [{"role": "user", "content": given}] if isinstance(given, str) else given
    for are_calls, items in groupby(given, lambda item: item.get("type") == "function_call"):
        if are_calls:
            yield Message(role="assistant", tool_calls=[_asked(item) for item in items])
        else:
            yield from map(_other, items)


def _asked(item: Any) -> ToolCall:
    return ToolCall(id=item["call_id"], name=item["name"], args=arguments_of(item["arguments"]))


def arguments_of(text: str) -> Any:
    """The arguments of a call as the model gave them: an object, or a text that is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _other(item: Any) -> Message:
    if item.get("type") == "function_call_output":
        return Message(role="tool", call=item["call_id"], text=str(item["output"]))
    said = item["content"]
    texts = () if isinstance(said, str) else (part.get("text", part.get("refusal", "")) for part in said)
    text = said if isinstance(said, str) else "".join(texts)
    return Message(role=item["role"], text=text)
