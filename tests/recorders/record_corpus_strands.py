"""Records the adapter of Strands for AG-UI: the requests of a page and the events that answer them.

It needs ag_ui_strands 1.0 with strands-agents 1.62:

    python tests/recorders/record_corpus_strands.py tests/data/corpus
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from ag_ui.core import RunAgentInput, UserMessage
from ag_ui_strands import StrandsAgent
from scenarios import SCENARIOS, Runs, Turn, clock, fails, weather
from strands import Agent, tool
from strands.models.model import Model


class Scripted(Model):
    """A model that gives the turns of a scenario."""

    def __init__(self, runs: Runs) -> None:
        self.left = [turn for _, script in runs for turn in script]

    def update_config(self, **more: Any) -> None:
        """Nothing can be configured."""

    def get_config(self) -> dict[str, Any]:
        """Nothing is configured."""
        return {}

    def structured_output(self, *given: Any, **named: Any) -> Any:
        """No scenario asks for it."""
        raise NotImplementedError

    async def stream(self, messages: Any, *given: Any, **named: Any) -> AsyncIterator[Any]:
        """The next turn."""
        turn = self.left.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        for event in blocks(turn):
            yield event
        yield {"messageStop": {"stopReason": "tool_use" if turn.calls else "end_turn"}}


def blocks(turn: Turn) -> list[dict[str, Any]]:
    """A turn as the blocks that a model streams."""
    made = []
    if turn.text:
        made += block({}, {"text": turn.text})
    for name, id_, args in turn.calls:
        made += block({"toolUse": {"name": name, "toolUseId": id_}}, {"toolUse": {"input": json.dumps(args)}})
    return made


def block(start: dict[str, Any], delta: dict[str, Any]) -> list[dict[str, Any]]:
    """A block with its start and its end."""
    return [
        {"contentBlockStart": {"start": start}},
        {"contentBlockDelta": {"delta": delta}},
        {"contentBlockStop": {}},
    ]


async def record(name: str, runs: Runs) -> list[str]:
    """The events of each run; the agent keeps the history, so a request has only what is new."""
    tools = [tool(one) for one in (weather, clock, fails)]
    one = StrandsAgent(Agent(model=Scripted(runs), tools=tools, callback_handler=None), name="agent")
    lines = []
    for number, (text, _) in enumerate(runs):
        said = UserMessage(id=f"u{number}", role="user", content=text)
        request = RunAgentInput(
            thread_id=f"strands-{name}", run_id=f"r{number}", state={}, messages=[said], tools=[], context=[],
            forwarded_props={},
        )  # fmt: skip
        async for event in one.run(request):
            lines.append(event.model_dump_json(by_alias=True, exclude_none=True))
    return lines


if __name__ == "__main__":
    for each, script in SCENARIOS.items():
        text = "".join(f"{line}\n" for line in asyncio.run(record(each, script)))
        (Path(sys.argv[1]) / f"strands-{each}.ag-ui.jsonl").write_text(text)
