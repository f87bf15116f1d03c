"""What agno does behind AG-UI, with a scripted model.

A name on the command line shows one bug.

pip install agno==3.1.10 ag-ui-protocol==1.0.0 fastapi jsonpatch
"""

import asyncio
import inspect
import logging
import sys

from ag_ui.core import RunAgentInput
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.os.interfaces.agui.router import run_entity
from agno.tools import tool

logging.getLogger("agno").setLevel(logging.CRITICAL)

USER = {"id": "u1", "role": "user", "content": "go"}


class Scripted(Model):
    """Gives its turns one after the other: text, or the ids and names of calls."""

    def __init__(self, *turns):
        super().__init__(id="scripted")
        self.turns, self.shown = list(turns), []

    async def ainvoke_stream(self, messages, **more):
        self.shown = [(one.role, one.tool_call_id or one.content) for one in messages]
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            yield ModelResponse(role="assistant", content=turn)
            return
        calls = [
            {"id": call, "type": "function", "function": {"name": name, "arguments": "{}"}}
            for call, name in turn
        ]
        yield ModelResponse(role="assistant", tool_calls=calls)

    invoke = ainvoke = invoke_stream = None
    _parse_provider_response = _parse_provider_response_delta = None


@tool
async def read():
    return "read"


@tool(requires_confirmation=True)
async def write():
    return "written"


def served(*turns):
    """A model, and its agent."""
    model = Scripted(*turns)
    return model, Agent(
        model=model, tools=[read, write], db=InMemoryDb(), add_history_to_context=True, telemetry=False
    )


async def run(agent, name, *messages):
    """Send a request; gives its events."""
    fixed = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    asked = {"threadId": "thread", "runId": name, "messages": list(messages), **fixed}
    entity = run_entity(agent, RunAgentInput.model_validate(asked))
    return [one.model_dump(mode="json", by_alias=True) async for one in entity]


def told_of(events, call):
    """The events that tell of a call."""
    return [one["type"] for one in events if one.get("toolCallId") == call]


async def asked_again_without_an_answer():
    """A call waits, and a request brings neither an answer nor a new message: the model is asked at once.

    expected: the run ends, and the call still waits.
    it hurts: a page that is loaded again sends what the user said a second time, with a second answer.
    """
    model, agent = served([("c1", "write")], "done")
    await run(agent, "r1", USER)
    function = {"name": "write", "arguments": "{}"}
    calls = [{"id": "c1", "type": "function", "function": function}]
    await run(agent, "r2", USER, {"id": "a1", "role": "assistant", "content": "", "toolCalls": calls})
    print("actual: turns of the model that are left:", len(model.turns), "- it was shown:", model.shown)
    return not model.turns


async def begun_and_not_ended():
    """A call that has the id of one in an earlier turn of the run is opened on the stream, and not ended.

    expected: TOOL_CALL_END for each TOOL_CALL_START.
    it hurts: a client that checks the order of events, as the protocol has it, drops the end of the run.
    """
    _, agent = served([("c1", "read")], [("c1", "read")], "done")
    told = told_of(await run(agent, "r1", USER), "c1")
    print("actual: the stream says of c1:", *told, sep="\n  ")
    return told.count("TOOL_CALL_START") > told.count("TOOL_CALL_END")


async def one_id_hides_a_wait():
    """Two calls with one id in one turn, of which one waits: the stream has a result for that id.

    expected: an id for each call, or a turn that is refused.
    it hurts: a call without a result is one that waits, so that no client asks the user about this one.
    """
    _, agent = served([("c1", "write"), ("c1", "read")])
    events = await run(agent, "r1", USER)
    told = told_of(events, "c1")
    print("actual: the stream says of c1:", *told, "and then:", events[-1]["type"], sep="\n  ")
    return "TOOL_CALL_RESULT" in told and events[-1]["type"] == "RUN_FINISHED"


PROGRAMS = {
    one.__name__: one for one in (asked_again_without_an_answer, begun_and_not_ended, one_id_hides_a_wait)
}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if asyncio.run(PROGRAMS[name]()):
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
