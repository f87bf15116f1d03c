"""What agno does, with a scripted model.

A name on the command line shows one bug.

pip install agno==3.1.10
"""

import asyncio
import inspect
import logging
import sys

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.response import ModelResponse, ToolExecution
from agno.run.requirement import RunRequirement
from agno.tools import tool

logging.getLogger("agno").setLevel(logging.CRITICAL)


class Scripted(Model):
    """Gives its turns one after the other: text, or the ids and names of calls."""

    def __init__(self, *turns):
        super().__init__(id="scripted")
        self.turns, self.shown = list(turns), []

    async def ainvoke(self, messages, **more):
        self.shown = [(one.role, one.tool_call_id or one.content) for one in messages]
        await self.before()
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            return ModelResponse(role="assistant", content=turn)
        calls = [
            {"id": call, "type": "function", "function": {"name": name, "arguments": "{}"}}
            for call, name in turn
        ]
        return ModelResponse(role="assistant", tool_calls=calls)

    async def before(self):
        """Done before each answer."""

    def results(self):
        """The calls whose results it was shown last."""
        return [said for role, said in self.shown if role == "tool"]

    invoke = invoke_stream = ainvoke_stream = None
    _parse_provider_response = _parse_provider_response_delta = None


RAN = []


@tool
async def read(fc):
    RAN.append(fc.call_id)
    return "read"


@tool(requires_confirmation=True)
async def write(fc):
    RAN.append(fc.call_id)
    return "written"


def agent_of(model):
    """An agent with both tools and a session."""
    RAN.clear()
    return Agent(model=model, tools=[read, write], db=InMemoryDb(), session_id="s", telemetry=False)


async def undecided_is_rejected():
    """A call without yes or no counts as rejected when the run is continued, if only for an unknown call.

    expected: c2 still waits in the first case, and c1 in the second; or the decisions are refused.
    it hurts: a call that the user has not decided about is reported to the model as rejected by the user.
    """
    model = Scripted([("c1", "write"), ("c2", "write")], "done")
    agent = agent_of(model)
    waiting = await agent.arun("write both")
    waiting.requirements[0].confirm()
    end = await agent.acontinue_run(run_id=waiting.run_id, requirements=waiting.requirements)
    print("actual: confirmed: c1; ran:", RAN, "- results shown:", model.results(), "-", end.status.value)
    is_rejected = RAN == ["c1"] and model.results() == ["c1", "c2"]

    model = Scripted([("c1", "write")], "done")
    agent = agent_of(model)
    waiting = await agent.arun("write it")
    unknown = RunRequirement(ToolExecution(tool_call_id="c9", tool_name="write", requires_confirmation=True))
    unknown.confirm()
    end = await agent.acontinue_run(run_id=waiting.run_id, requirements=[*waiting.requirements, unknown])
    print("actual: confirmed: c9; ran:", RAN, "- results shown:", model.results(), "-", end.status.value)
    return is_rejected and model.results() == ["c1"] and not RAN


async def cancel_before_the_tools():
    """A run that is cancelled while the model answers executes the calls of that answer.

    expected: no tool runs after the cancel.
    it hurts: what the user has stopped is done all the same.
    """
    model = Scripted([("c1", "read")], "done")
    agent = agent_of(model)
    model.before = lambda: agent.acancel_run("run")
    end = await agent.arun("read it", run_id="run")
    print("actual: ran:", RAN, "-", end.status.value)
    return RAN == ["c1"]


async def continued_after_its_end():
    """A run that is continued when it has ended asks the model once more.

    expected: the second continuation is refused, and one turn of the model is left.
    it hurts: a button that is pressed twice is paid for twice, and the thread has two answers.
    """
    model = Scripted([("c1", "write")], "done", "done again")
    agent = agent_of(model)
    waiting = await agent.arun("write it")
    waiting.active_requirements[0].confirm()
    for _ in range(2):
        end = await agent.acontinue_run(run_id=waiting.run_id, requirements=waiting.requirements)
        print("actual:", end.status.value, "- turns of the model that are left:", len(model.turns))
    return not model.turns


async def left_out_while_it_waits():
    """What was said in a run that waits is not shown to the model in the next run of the session.

    expected: both texts are shown; the first run still waits, and may be approved at any time.
    it hurts: a user who types while an approval is open talks to a model that has forgotten the request.
    """
    model = Scripted([("c1", "write")], "done")
    agent = agent_of(model)
    agent.add_history_to_context = True
    await agent.arun("write it")
    await agent.arun("never mind, read it")
    said = [text for role, text in model.shown if role == "user"]
    print("actual: the model is shown:", said)
    return "write it" not in said


async def repeated_id():
    """Two calls with one id in one turn give the model two results under that id.

    expected: one result for the id.
    it hurts: providers refuse a history with two results for one call, in this request and all later ones.
    """
    model = Scripted([("c1", "read"), ("c1", "read")], "done")
    await agent_of(model).arun("read both")
    print("actual: the model is shown results for:", model.results())
    return model.results() == ["c1", "c1"]


PROGRAMS = {
    one.__name__: one
    for one in (
        undecided_is_rejected,
        cancel_before_the_tools,
        continued_after_its_end,
        left_out_while_it_waits,
        repeated_id,
    )
}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if asyncio.run(PROGRAMS[name]()):
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
