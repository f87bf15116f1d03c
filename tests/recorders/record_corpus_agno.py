"""Records agno: the messages that the agent keeps of a conversation, and the events of its AG-UI interface.

It needs agno 3.1 with ag-ui-protocol:

    python tests/recorders/record_corpus_agno.py tests/data/corpus
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from ag_ui.core import RunAgentInput, UserMessage
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.os.interfaces.agui.router import run_entity
from scenarios import SCENARIOS, Runs, Turn, clock, fails, weather


class Scripted(Model):
    """A model that gives the turns of a scenario."""

    def __init__(self, runs: Runs) -> None:
        super().__init__(id="scripted")
        self.left = [turn for _, script in runs for turn in script]

    def invoke(self, *given: Any, **named: Any) -> ModelResponse:
        """The next turn."""
        return response(self.left.pop(0))

    async def ainvoke(self, *given: Any, **named: Any) -> ModelResponse:
        """The next turn."""
        return self.invoke()

    def invoke_stream(self, *given: Any, **named: Any) -> Iterator[ModelResponse]:
        """The next turn, at once."""
        yield self.invoke()

    async def ainvoke_stream(self, *given: Any, **named: Any) -> AsyncIterator[ModelResponse]:
        """The next turn, at once."""
        yield self.invoke()

    def _parse_provider_response(self, given: Any, **named: Any) -> ModelResponse:
        return given

    def _parse_provider_response_delta(self, given: Any) -> ModelResponse:
        return given


def response(turn: Turn) -> ModelResponse:
    """A turn as a model of OpenAI answers it."""
    calls = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for name, id_, args in turn.calls
    ]
    return ModelResponse(role="assistant", content=turn.text or None, tool_calls=calls)


def agent(runs: Runs) -> Agent:
    """An agent whose model gives the turns of a scenario."""
    return Agent(
        model=Scripted(runs), tools=[weather, clock, fails], db=InMemoryDb(), add_history_to_context=True,
        telemetry=False,
    )  # fmt: skip


async def events(name: str, runs: Runs) -> list[str]:
    """The events of AG-UI; the agent keeps the history, so a request has only what is new."""
    one, lines = agent(runs), []
    for number, (text, _) in enumerate(runs):
        said = UserMessage(id=f"u{number}", role="user", content=text)
        request = RunAgentInput(
            thread_id=f"agno-{name}", run_id=f"r{number}", state={}, messages=[said], tools=[], context=[],
            forwarded_props={},
        )  # fmt: skip
        async for event in run_entity(one, request):
            lines.append(event.model_dump_json(by_alias=True, exclude_none=True))
    return lines


def messages(name: str, runs: Runs) -> list[dict[str, Any]]:
    """What the agent would send to the model next."""
    one = agent(runs)
    for text, _ in runs:
        ended = one.run(text, session_id=f"agno-{name}")
    kept = ("role", "content", "tool_calls", "tool_call_id")
    return [{key: getattr(one, key) for key in kept if getattr(one, key)} for one in ended.messages]


if __name__ == "__main__":
    for each, script in SCENARIOS.items():
        folder = Path(sys.argv[1])
        (folder / f"agno-{each}.messages.json").write_text(json.dumps(messages(each, script)))
        lines = "".join(f"{line}\n" for line in asyncio.run(events(each, script)))
        (folder / f"agno-{each}.ag-ui.jsonl").write_text(lines)
