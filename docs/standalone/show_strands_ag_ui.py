"""What the bridge of strands-agents to AG-UI does, with a scripted model.

A name on the command line shows one bug.

pip install ag-ui-strands==1.0.2 strands-agents==1.62.0
"""

import asyncio
import contextlib
import inspect
import json
import sys

from ag_ui.core import RunAgentInput
from ag_ui_strands import StrandsAgent, StrandsAgentConfig, ToolBehavior
from strands import Agent, tool
from strands.models.model import Model

USER = {"id": "u1", "role": "user", "content": "read it"}
MADE = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
ASKED = {"id": "a1", "role": "assistant", "toolCalls": [MADE]}


class Scripted(Model):
    """Gives its turns one after the other: text, or the ids and names of calls."""

    def __init__(self, *turns):
        self.turns, self.shown = list(turns), []

    def update_config(self, **more): ...

    def get_config(self):
        return {}

    def structured_output(self, *args, **more):
        raise NotImplementedError

    async def stream(self, messages, *args, **more):
        self.shown.append(json.dumps(messages))
        turn = self.turns.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        for call, name in [] if isinstance(turn, str) else turn:
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": call}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}}
            yield {"contentBlockStop": {}}
        if isinstance(turn, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(turn, str) else "tool_use"}}


async def run(served, name, *messages):
    """Send a request; returns its events."""
    fixed = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    asked = {"threadId": "thread", "runId": name, "messages": list(messages), **fixed}
    given = RunAgentInput.model_validate(asked)
    return [one.model_dump(mode="json", by_alias=True) async for one in served.run(given)]


async def runs_again_before_the_model():
    """The client goes away while a tool runs, and says something new: the tool runs again, before the model.

    expected: the model is asked, and shown the new message and that the call was cut off.
    it hurts: what the tool does is done twice, and the model never sees the message that stops it.
    """
    entered, ran = asyncio.Event(), []

    @tool
    async def read() -> str:
        """Read."""
        ran.append(f"with {len(model.shown)} requests to the model so far")
        entered.set()
        if len(ran) == 1:
            await asyncio.sleep(60)
        return "read"

    model = Scripted([("c1", "read")], "done")
    served = StrandsAgent(agent=Agent(model=model, tools=[read], callback_handler=None), name="agent")
    request = asyncio.create_task(run(served, "r1", USER))
    await entered.wait()
    request.cancel()  # as a server does when its client goes away
    with contextlib.suppress(asyncio.CancelledError):
        await request
    await run(served, "r2", USER, ASKED, {"id": "u2", "role": "user", "content": "no, stop"})
    print("actual: the tool ran:", *ran, sep="\n  ")
    print("actual: the model was shown the new message:", "no, stop" in model.shown[-1])
    return len(ran) == 2


async def interrupts_share_an_id():
    """Two calls with one id in one turn wait: the run ends with two interrupts of one id.

    expected: an id for each interrupt, or an error.
    it hurts: an answer to one of them is an answer to both.
    """

    @tool
    def write() -> str:
        """Write."""
        return "written"

    config = StrandsAgentConfig(tool_behaviors={"write": ToolBehavior(interrupt_on_call=True)})
    model = Scripted([("c1", "write"), ("c1", "write")], "done")
    agent = Agent(model=model, tools=[write], callback_handler=None)
    served = StrandsAgent(agent=agent, name="agent", config=config)
    ended = (await run(served, "r1", USER))[-1]
    ids = [one["id"] for one in (ended.get("outcome") or {}).get("interrupts") or ()]
    print("actual: the ids of the interrupts:", ids)
    return len(ids) > len(set(ids))


async def result_becomes_json():
    """A client sends the messages that it was sent: the model is shown the result of its call as JSON text.

    expected: the result as the model was shown it within the run.
    it hurts: a history that changes is not in the cache of the provider, and is paid for again.
    """

    @tool
    def read() -> str:
        """Read."""
        return "read"

    model = Scripted([("c1", "read")], "done", "done again")
    served = StrandsAgent(agent=Agent(model=model, tools=[read], callback_handler=None), name="agent")
    events = await run(served, "r1", USER)
    kept = [one for one in events if one["type"] == "MESSAGES_SNAPSHOT"][-1]["messages"]
    await run(served, "r2", *kept, {"id": "u2", "role": "user", "content": "and now?"})
    seen = [results(shown) for shown in model.shown[1:]]
    print("actual: the model is shown:", *seen, sep="\n  ")
    return seen == [["read"], ['"read"']]


def results(shown):
    parts = [part for message in json.loads(shown) for part in message["content"]]
    return [part["toolResult"]["content"][0]["text"] for part in parts if "toolResult" in part]


PROGRAMS = {
    one.__name__: one for one in (runs_again_before_the_model, interrupts_share_an_id, result_becomes_json)
}


async def main():
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if await PROGRAMS[name]():
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)


if __name__ == "__main__":
    asyncio.run(main())
