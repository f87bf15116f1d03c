"""A model for strands-agents that asks the kit, and what it is asked, in the protocol's words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from strands.models.model import Model
from strands.types.exceptions import ContextWindowOverflowException

from runlock.conformance.adapter import Host, Message, ToolCall
from runlock.conformance.adapters.libraries import parts

STOPS: Final[dict[str, Any]] = {"length": "max_tokens", "refusal": "content_filtered"}
"""Why a turn ended, in the words of strands-agents."""


class Offline(Model):
    """A model without settings, which is never asked for structured output."""

    def update_config(self, **more: Any) -> None: ...

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *args: Any, **more: Any) -> Any:
        raise TypeError("The agent of this adapter is never asked for structured output.")


class KitModel(Offline):
    """A model whose turns are the kit's; with a limit, it refuses a longer thread once."""

    def __init__(self, host: Host, most: int | None = None) -> None:
        self.host = host
        self.most = most
        self.refused = False

    async def stream(self, messages: Any, *args: Any, **more: Any) -> AsyncIterator[Any]:
        shown = [one for message in messages for one in seen(message)]
        self.refused = self.most is not None and len(shown) > self.most and not self.refused
        if self.refused:
            raise ContextWindowOverflowException(f"{len(shown)} messages are too many")
        turn = await self.host.infer(shown)
        yield {"messageStart": {"role": "assistant"}}
        for start, delta in parts(turn, _text, _call):
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        done = "tool_use" if turn.tool_calls else "end_turn"
        yield {"messageStop": {"stopReason": STOPS.get(turn.stop or "", done)}}


class Summaries(Offline):
    """A model that writes the same summary of anything."""

    async def stream(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": "a summary"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def _text(text: str) -> tuple[Any, Any]:
    """How its block begins, and what stands in it."""
    return {}, {"text": text}


def _call(call: ToolCall) -> tuple[Any, Any]:
    start = {"toolUse": {"name": call.name, "toolUseId": call.id}}
    args = call.args if isinstance(call.args, str) else json.dumps(call.args)
    return start, {"toolUse": {"input": args}}


def seen(message: Any) -> Iterator[Message]:
    """What the model receives, in the protocol's words: results first."""
    content = message["content"]
    for one in (part["toolResult"] for part in content if "toolResult" in part):
        text = " ".join(part.get("text", "") for part in one["content"])
        status: Any = "error" if one["status"] == "error" else "ok"
        yield Message(role="tool", call=one["toolUseId"], text=text, status=status)
    asked = [part["toolUse"] for part in content if "toolUse" in part]
    calls = [ToolCall(id=one["toolUseId"], name=one["name"], args=one["input"]) for one in asked]
    text = " ".join(part["text"] for part in content if "text" in part)
    if text or calls:
        yield Message(role=message["role"], text=text, tool_calls=calls)
