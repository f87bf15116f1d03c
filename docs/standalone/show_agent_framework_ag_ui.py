"""What agent-framework does behind AG-UI, with a scripted client of a model.

A name on the command line shows one bug.

pip install agent-framework-ag-ui==1.7.0 agent-framework-core==1.23.0
"""

import asyncio
import inspect
import sys

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
)
from agent_framework_ag_ui import AgentFrameworkAgent

USER = {"id": "u1", "role": "user", "content": "write both"}


class Turns(BaseChatClient):
    """Gives its turns one after the other: text, or the ids of calls of `write`."""

    def _inner_get_response(self, *, messages, stream, options, **more):
        return self._build_response_stream(self._answer(messages))

    async def _answer(self, messages):
        parts = [part for one in messages for part in one.contents]
        self.shown = [(one.type, one.call_id) for one in parts if one.type.startswith("function_")]
        turn = self.turns.pop(0)
        made = [Content.from_function_call(call_id=call, name="write", arguments="{}") for call in turn]
        said = [Content.from_text(turn)] if isinstance(turn, str) else made
        yield ChatResponseUpdate(role="assistant", contents=said)


class Scripted(FunctionInvocationLayer, Turns):
    """The same, with the library's layer that runs tools."""

    def __init__(self, *turns):
        super().__init__()
        self.turns, self.shown = list(turns), []


async def write() -> str:
    return "written"


TOOL = FunctionTool(name="write", description="write", func=write, approval_mode="always_require")


async def run(served, name, messages, **more):
    """Send a request; returns its events."""
    asked = {"threadId": "thread", "runId": name, "messages": messages, **more}
    return [one.model_dump(mode="json", by_alias=True) async for one in served.run(asked)]


async def result_of_no_call():
    """Two calls wait and both are approved: the model is shown a result that belongs to no call.

    expected: two calls, and the result of each.
    it hurts: the API of a model refuses a result without its call, so that the approved run ends in an error.
    """
    client = Scripted(["c1", "c2"], "done")
    served = AgentFrameworkAgent(agent=Agent(client=client, tools=[TOOL]))
    events = await run(served, "r1", [USER])
    kept = [one for one in events if one["type"] == "MESSAGES_SNAPSHOT"][-1]["messages"]
    interrupts = events[-1]["outcome"]["interrupts"]
    print("actual: these wait:", [one["toolCallId"] for one in interrupts])
    yes = {"status": "resolved", "payload": {"approved": True}}
    await run(served, "r2", kept, resume=[{"interruptId": one["id"], **yes} for one in interrupts])
    print("actual: both are approved, and the model is shown:", *client.shown, sep="\n  ")
    calls = {call for kind, call in client.shown if kind == "function_call"}
    return any(call not in calls for kind, call in client.shown if kind == "function_result")


PROGRAMS = {one.__name__: one for one in (result_of_no_call,)}


async def main():
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if await PROGRAMS[name]():
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)


if __name__ == "__main__":
    asyncio.run(main())
