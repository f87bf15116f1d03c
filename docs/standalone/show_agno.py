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

    async def ainvoke_stream(self, messages, **more):
        yield await self.ainvoke(messages)

    invoke = invoke_stream = None
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


@tool(stop_after_tool_call=True)
async def close(fc):
    RAN.append(fc.call_id)
    return "closed"


def agent_of(model):
    """An agent with these tools and a session."""
    RAN.clear()
    return Agent(model=model, tools=[read, write, close], db=InMemoryDb(), session_id="s", telemetry=False)


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


async def left_out_after_an_error():
    """What was said in a run that ended in an error is not shown to the model in the next run.

    expected: the request is shown, and the answer of the tool, which has run.
    it hurts: the user says "go on" to a model that has forgotten what it was asked, and what it has done.
    """
    model = Scripted([("c1", "read")])
    agent = agent_of(model)
    agent.add_history_to_context = True
    end = await agent.arun("read it")
    model.turns = ["done"]
    await agent.arun("go on")
    print("actual: ran:", RAN, "-", end.status.value, "- the model is shown:", model.shown)
    return ("user", "read it") not in model.shown


async def result_lost_in_a_cancel():
    """A cancelled run records the result of the first of two calls that have run, and nothing of the second.

    expected: the results of both are recorded.
    it hurts: a payment that was made stands in the record as one that was never finished.
    """
    model = Scripted([("c1", "read"), ("c2", "read")], "done")
    agent = agent_of(model)
    agent.tool_hooks = [lambda function_call, arguments, **more: cancelled(agent, function_call, arguments)]
    stream = agent.arun("read both", run_id="run", stream=True, stream_events=True, yield_run_output=True)
    async for event in stream:
        end = event
    results = {one.tool_call_id: one.result for one in end.tools}
    print("actual: ran:", RAN, "-", end.status.value, "- results:", results)
    return RAN == ["c1", "c2"] and results == {"c1": "read", "c2": None}


async def cancelled(agent, function_call, arguments):
    """Cancels the run that executes a call."""
    await agent.acancel_run("run")
    return await function_call(**arguments)


async def stop_tool_next_to_a_wait():
    """A tool that ends the run after its call does not end it if another call of its turn waits.

    expected: when that one is decided, the run is over, and the model is not asked again.
    it hurts: the loop goes on after the tool that was to be its end.
    """
    model = Scripted([("c1", "close"), ("c2", "write")], "done")
    agent = agent_of(model)
    waiting = await agent.arun("write it and close")
    waiting.active_requirements[0].confirm()
    await agent.acontinue_run(run_id=waiting.run_id, requirements=waiting.requirements)
    print("actual: ran:", RAN, "- turns of the model that are left:", len(model.turns))
    return RAN == ["c1", "c2"] and not model.turns


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
        left_out_after_an_error,
        result_lost_in_a_cancel,
        stop_tool_next_to_a_wait,
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
