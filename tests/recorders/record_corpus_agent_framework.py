"""Records the adapter of Agent Framework for AG-UI: the events of each run of a scenario.

It needs agent-framework-ag-ui 1.7:

    python tests/recorders/record_corpus_agent_framework.py tests/data/corpus
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
    ResponseStream,
)
from agent_framework_ag_ui import AgentFrameworkAgent
from scenarios import SCENARIOS, Runs, Turn, clock, fails, weather


def contents(turn: Turn) -> list[Content]:
    """A turn as the parts of a message."""
    calls = [
        Content.from_function_call(call_id=id_, name=name, arguments=json.dumps(args))
        for name, id_, args in turn.calls
    ]
    return [*([Content.from_text(turn.text)] if turn.text else []), *calls]


class Turns(BaseChatClient):
    """A client that streams the turns of a scenario."""

    left: list[Turn]

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **more: Any) -> Any:
        turn = self.left.pop(0)

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(contents=contents(turn), role="assistant")

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message(role="assistant", contents=contents(turn))])

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates) if stream else whole()


class Scripted(FunctionInvocationLayer, Turns):
    """The same, with the layer of the library that executes tools."""

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self.left = [turn for _, script in runs for turn in script]


async def record(name: str, runs: Runs) -> list[str]:
    """The events of each run; a page sends the messages of the last snapshot back."""
    tools = [
        FunctionTool(name=one.__name__, description=one.__name__, func=one) for one in (weather, clock, fails)
    ]
    one = AgentFrameworkAgent(Agent(Scripted(runs), tools=tools))
    lines, messages = [], []
    for number, (text, _) in enumerate(runs):
        messages = [*messages, {"id": f"u{number}", "role": "user", "content": text}]
        request = {
            "threadId": f"framework-{name}",
            "runId": f"r{number}",
            "messages": messages,
            "tools": [],
            "state": {},
        }
        lines.append(json.dumps(request))
        async for event in one.run(request):
            line = event.model_dump_json(by_alias=True, exclude_none=True)
            lines.append(line)
            messages = json.loads(line).get("messages", messages)
    return lines


if __name__ == "__main__":
    for each, script in SCENARIOS.items():
        text = "".join(f"{line}\n" for line in asyncio.run(record(each, script)))
        (Path(sys.argv[1]) / f"framework-{each}.ag-ui.jsonl").write_text(text)
