"""Records pydantic-ai's adapters for AG-UI and for the AI SDK, and the messages that it keeps.

It needs pydantic-ai 2.68 with ag-ui-protocol:

    python tests/recorders/record_corpus_pydantic_ai.py tests/data/corpus
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from ag_ui.core import RunAgentInput, UserMessage
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from pydantic_ai.ui.vercel_ai.request_types import SubmitMessage
from scenarios import SCENARIOS, Runs, Turn, clock, weather


def parts(turn: Turn) -> Iterator[Any]:
    """A turn as the model streams it."""
    if turn.text:
        yield turn.text
    calls = enumerate(turn.calls)
    if turn.calls:
        yield {at: DeltaToolCall(name, json.dumps(args), tool_call_id=id_) for at, (name, id_, args) in calls}


def agent(runs: Runs) -> Agent[None, str]:
    """An agent whose model gives the turns of a scenario."""
    left = [turn for _, script in runs for turn in script]

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for part in parts(left.pop(0)):
            yield part

    made: Agent[None, str] = Agent(FunctionModel(stream_function=stream))
    made.tool_plain(weather)
    made.tool_plain(clock)

    @made.tool_plain(retries=3)
    def fails() -> str:
        raise ModelRetry("the service is down")

    return made


async def ag_ui(name: str, runs: Runs) -> list[str]:
    """The events of AG-UI; the history stays with the agent, so a request has only what is new."""
    one, history, lines = agent(runs), [], []
    for number, (text, _) in enumerate(runs):
        said = UserMessage(id=f"u{number}", role="user", content=text)
        request = RunAgentInput(
            thread_id=f"pydantic-{name}", run_id=f"r{number}", state=None, messages=[said], tools=[],
            context=[], forwarded_props=None,
        )  # fmt: skip
        done: list[Any] = []
        adapter = AGUIAdapter(one, request)
        async for event in adapter.run_stream(message_history=history, on_complete=done.append):
            lines.append(event.model_dump_json(by_alias=True, exclude_none=True))
        history = done[0].all_messages()
    return lines


async def ai_sdk(name: str, runs: Runs) -> list[str]:
    """The chunks of the AI SDK."""
    one, history, lines = agent(runs), [], []
    for number, (text, _) in enumerate(runs):
        said = {"id": f"u{number}", "role": "user", "parts": [{"type": "text", "text": text}]}
        request = SubmitMessage(trigger="submit-message", id=f"pydantic-{name}", messages=[said])
        done: list[Any] = []
        adapter = VercelAIAdapter(one, request)
        async for chunk in adapter.run_stream(message_history=history, on_complete=done.append):
            if chunk.type != "done":  # on the wire it is no JSON
                lines.append(json.dumps(chunk.model_dump(by_alias=True, exclude_none=True, mode="json")))
        history = done[0].all_messages()
    return lines


async def kept(runs: Runs) -> str:
    """The messages, which are the history of the next run."""
    one, history = agent(runs), b"[]"

    async def streamed(_: Any, events: Any) -> None:
        async for _ in events:
            pass

    for text, _ in runs:
        before = ModelMessagesTypeAdapter.validate_json(history)
        history = (
            await one.run(text, message_history=before, event_stream_handler=streamed)
        ).all_messages_json()
    return history.decode()


def main(folder: Path) -> None:
    """Write one file for each scenario and protocol, and one with its messages."""
    for name, runs in SCENARIOS.items():
        (folder / f"pydantic-{name}.messages.json").write_text(asyncio.run(kept(runs)))
        for protocol, record in (("ag-ui", ag_ui), ("ai-sdk", ai_sdk)):
            lines = asyncio.run(record(name, runs))
            (folder / f"pydantic-{name}.{protocol}.jsonl").write_text("".join(f"{one}\n" for one in lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
