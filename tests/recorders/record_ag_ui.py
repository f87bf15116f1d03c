"""Records AG-UI, both directions, with pydantic-ai's adapter, offline, with scripted models.

It needs the extra `pydantic-ai` and ag-ui-protocol:

    python tests/recorders/record_ag_ui.py tests/data/recordings/ag_ui
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from ag_ui.core import (
    AssistantMessage,
    FunctionCall,
    ResumeEntry,
    RunAgentInput,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter

Turn = dict[int, DeltaToolCall] | str


def scripted(*turns: Turn) -> FunctionModel:
    """A model that streams these turns, one after the other."""
    left = list(turns)

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Turn]:
        yield left.pop(0)

    return FunctionModel(stream_function=stream)


def calls(*asked: tuple[str, str, dict[str, Any]]) -> Turn:
    """A turn that asks for calls, each a name, an id and arguments."""
    return {
        index: DeltaToolCall(name, json.dumps(args), tool_call_id=id_)
        for index, (name, id_, args) in enumerate(asked)
    }


def agent(model: FunctionModel) -> Agent[None, Any]:
    """An agent with a tool that works, and one that needs approval."""
    made: Agent[None, Any] = Agent(model, output_type=[str, DeferredToolRequests])

    @made.tool_plain
    def weather(city: str) -> str:
        return f"{city}: 20 degrees"

    @made.tool_plain(requires_approval=True)
    def delete(file: str) -> str:
        return f"{file} is deleted"

    return made


class Recorder:
    """A client of one thread that writes every request and every event to a file."""

    def __init__(self, file: Path, one: Agent[None, Any], thread: str) -> None:
        self.file, self.agent, self.thread = file, one, thread
        self.messages: list[Any] = []
        self.runs = 0
        file.write_text("")

    async def run(self, text: str = "", resume: Sequence[ResumeEntry] = ()) -> list[dict[str, Any]]:
        """Send a request, and keep what comes back as the messages of the thread."""
        self.runs += 1
        if text:
            self.messages.append(UserMessage(id=f"u{self.runs}", role="user", content=text))
        request = RunAgentInput(
            thread_id=self.thread,
            run_id=f"run-{self.runs}",
            state=None,
            messages=list(self.messages),
            tools=[],
            context=[],
            forwarded_props=None,
            resume=list(resume) or None,
        )
        self._write(request)
        events = []
        async for event in AGUIAdapter(self.agent, request).run_stream():
            events.append(json.loads(self._write(event)))
        self._keep(events)
        return events

    def _write(self, record: Any) -> str:
        line: str = record.model_dump_json(by_alias=True, exclude_none=True)
        with self.file.open("a") as stream:
            stream.write(line + "\n")
        return line

    def _keep(self, events: Sequence[dict[str, Any]]) -> None:
        """What a client makes of the events: a turn with its text and calls, and the results."""
        turn: AssistantMessage | None = None
        for event in events:
            kind = event["type"]
            if kind in ("TEXT_MESSAGE_START", "TOOL_CALL_START") and turn is None:
                turn = AssistantMessage(
                    id=f"a{len(self.messages)}", role="assistant", content="", tool_calls=[]
                )
                self.messages.append(turn)
            if kind == "TEXT_MESSAGE_CONTENT":
                turn.content += event["delta"]
            elif kind == "TOOL_CALL_START":
                made = FunctionCall(name=event["toolCallName"], arguments="")
                turn.tool_calls.append(ToolCall(id=event["toolCallId"], type="function", function=made))
            elif kind == "TOOL_CALL_ARGS":
                turn.tool_calls[-1].function.arguments += event["delta"]
            elif kind == "TOOL_CALL_RESULT":
                turn = None
                self.messages.append(
                    ToolMessage(
                        id=event["messageId"],
                        role="tool",
                        content=event["content"],
                        tool_call_id=event["toolCallId"],
                    )
                )


async def plain(file: Path) -> None:
    """Two calls in one turn, then an answer; then a second run of the same thread."""
    model = scripted(
        calls(("weather", "c1", {"city": "Oslo"}), ("weather", "c2", {"city": "Rome"})),
        "Oslo and Rome: 20 degrees each.",
        calls(("weather", "c3", {"city": "Lima"})),
        "Lima: 20 degrees.",
    )
    client = Recorder(file, agent(model), "thread-plain")
    await client.run("How is the weather in Oslo and Rome?")
    await client.run("And in Lima?")


async def approved(file: Path) -> None:
    """Two calls that need approval: one is approved, the other one denied."""
    model = scripted(
        calls(("delete", "c1", {"file": "a.txt"}), ("delete", "c2", {"file": "b.txt"})),
        "a.txt is deleted, b.txt is kept.",
    )
    client = Recorder(file, agent(model), "thread-approved")
    ended = (await client.run("Delete a.txt and b.txt."))[-1]
    ids = [one["id"] for one in ended["outcome"]["interrupts"]]
    answers = [{"approved": True}, {"approved": False}]
    await client.run(
        resume=[
            ResumeEntry(interrupt_id=id_, status="resolved", payload=answer)
            for id_, answer in zip(ids, answers, strict=True)
        ]
    )


def main(folder: Path) -> None:
    """Write one file for each scenario."""
    folder.mkdir(parents=True, exist_ok=True)
    for scenario in (plain, approved):
        asyncio.run(scenario(folder / f"{scenario.__name__}.jsonl"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
