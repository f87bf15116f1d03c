"""Records the events that the SDK of OpenHands keeps of a conversation, one JSON object a line.

It needs openhands-sdk 1.58 (Python 3.12); a conversation keeps each event in a file of its own:

    LITELLM_LOCAL_MODEL_COST_MAP=True python tests/recorders/record_corpus_openhands.py tests/data/corpus
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openhands.sdk import Action, Agent, Conversation, Observation, Tool, ToolDefinition, register_tool
from openhands.sdk.llm import Message, MessageToolCall, TextContent
from openhands.sdk.testing import TestLLM
from openhands.sdk.tool import ToolExecutor
from scenarios import SCENARIOS, Runs, Turn, clock, fails, weather

DROPPED = ("system_prompt", "tools", "dynamic_context")
"""Long fields of the prompt of the system, which an importer does not read."""


class WeatherAction(Action):
    """The arguments of `weather`."""

    city: str
    unit: str = "C"


class EmptyAction(Action):
    """No arguments."""


class Said(Observation):
    """What a tool said."""


class Calls(ToolExecutor[Any, Said]):
    """Calls a function with the arguments of an action."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, action: Any, conversation: Any = None) -> Said:
        return Said.from_text(text=self.function(**action.model_dump(exclude={"kind"})))


def _definition(function: Any, action: type[Action]) -> type[ToolDefinition[Any, Said]]:
    """The tool of a function."""

    def create(cls: Any, conv_state: Any = None, **params: Any) -> Sequence[Any]:
        made = {"description": function.__doc__, "action_type": action, "observation_type": Said}
        return [cls(**made, executor=Calls(function))]

    return type(
        f"{function.__name__.title()}Tool",
        (ToolDefinition,),
        {"create": classmethod(create), "name": function.__name__, "__module__": __name__},
    )


def _message(turn: Turn) -> Message:
    calls = [
        MessageToolCall(id=id_, name=name, arguments=json.dumps(args), origin="completion")
        for name, id_, args in turn.calls
    ]
    return Message(role="assistant", content=[TextContent(text=turn.text)], tool_calls=calls or None)


def record(runs: Runs) -> list[dict[str, Any]]:
    """The events of a conversation, in the order of their files."""
    model = TestLLM.from_messages([_message(turn) for _, script in runs for turn in script])
    agent = Agent(llm=model, tools=[Tool(name=one) for one in ("weather", "clock", "fails")])
    with tempfile.TemporaryDirectory() as folder:
        talk = Conversation(agent=agent, workspace=folder, persistence_dir=folder, visualizer=None)
        for text, _ in runs:
            talk.send_message(text)
            talk.run()
        talk.close()
        files = sorted(Path(folder).glob("**/events/event-*.json"))
        return [json.loads(file.read_text()) for file in files]


def main(folder: Path) -> None:
    """Write one file for each scenario."""
    for function, action in ((weather, WeatherAction), (clock, EmptyAction), (fails, EmptyAction)):
        register_tool(function.__name__, _definition(function, action))
    for name, runs in SCENARIOS.items():
        kept = [{key: one[key] for key in one if key not in DROPPED} for one in record(runs)]
        lines = [json.dumps(one) for one in kept if one["kind"] != "ConversationStateUpdateEvent"]
        (folder / f"openhands-{name}.events.jsonl").write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
