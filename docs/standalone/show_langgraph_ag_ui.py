"""What the bridge of LangGraph to AG-UI does with an agent of LangChain, with a scripted model.

A name on the command line shows one bug.

pip install ag-ui-langgraph==0.0.47 langchain==1.5.2
"""

import asyncio
import contextlib
import inspect
import sys

from ag_ui.core import RunAgentInput
from ag_ui_langgraph import LangGraphAgent
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

USER = {"id": "u1", "role": "user", "content": "go"}
LATER = {"id": "u2", "role": "user", "content": "and now?"}


class Scripted(BaseChatModel):
    """Gives its turns one after the other: text, an exception, or the ids and names of calls."""

    turns: list
    shown: list = []
    _llm_type = "scripted"

    def bind_tools(self, tools, **more):
        return self

    def turn(self, messages):
        self.shown[:] = [(one.type, getattr(one, "tool_call_id", "")) for one in messages]
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn

    def _generate(self, messages, *args, **more):
        turn = self.turn(messages)
        calls = [] if isinstance(turn, str) else turn
        made = [{"id": call, "name": name, "args": {}} for call, name in calls]
        message = AIMessage(turn if isinstance(turn, str) else "", tool_calls=made)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(self, messages, *args, **more):
        turn = self.turn(messages)
        if isinstance(turn, str):
            yield ChatGenerationChunk(message=AIMessageChunk(turn))
            return
        for index, (call, name) in enumerate(turn):
            piece = {"id": call, "name": name, "args": "{}", "index": index}
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=[piece]))


@tool
async def read() -> str:
    """Read."""
    return "read"


@tool
async def write() -> str:
    """Write."""
    return "written"


def served(*turns, tools=(read, write)):
    """A model, and its agent behind the bridge, in which `write` asks."""
    model, asks = Scripted(turns=list(turns), shown=[]), HumanInTheLoopMiddleware({"write": True})
    graph = create_agent(model, list(tools), middleware=[asks], checkpointer=InMemorySaver())
    return model, LangGraphAgent(name="agent", graph=graph, emit_interrupt_outcome=True)


async def run(agent, name, *messages, events=None):
    """Send a request; gives its events, which are in `events` also if it ends in an error."""
    events = [] if events is None else events
    fixed = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    asked = {"threadId": "thread", "runId": name, "messages": list(messages), **fixed}
    async for one in agent.run(RunAgentInput.model_validate(asked)):
        events.append(one.model_dump(mode="json", by_alias=True))
    return events


def streamed(events, kind):
    return [one for one in events if one["type"] == kind]


async def cut_off_call_has_no_result():
    """A client goes away while a tool runs: the model is shown the call without a result.

    expected: a result that says that the call was cut off.
    it hurts: the API of a model refuses a call without its result, in this run and in all later ones.
    """
    entered = asyncio.Event()

    @tool
    async def hang() -> str:
        """Hang."""
        entered.set()
        await asyncio.sleep(60)

    model, agent = served([("c1", "hang")], "done", tools=[hang])
    events = []
    request = asyncio.create_task(run(agent, "r1", USER, events=events))
    await entered.wait()
    request.cancel()  # as a server does when its client goes away
    with contextlib.suppress(asyncio.CancelledError):
        await request
    await run(agent, "r2", USER, asked(events), LATER)
    print("actual: the model is shown:", *model.shown, sep="\n  ")
    return ("tool", "c1") not in model.shown and model.shown[1][0] == "ai"


async def result_stands_twice():
    """The model breaks after a call, and the client sends what it was sent: the result stands twice.

    expected: one result for the call.
    it hurts: the API of a model refuses two results for one call, in this run and in all later ones.
    """
    model, agent = served([("c1", "read")], ConnectionError("the model broke"), "done")
    events = []
    with contextlib.suppress(ConnectionError):
        await run(agent, "r1", USER, events=events)
    [told] = streamed(events, "TOOL_CALL_RESULT")
    kept = {"id": told["messageId"], "role": "tool", "toolCallId": "c1", "content": told["content"]}
    await run(agent, "r2", USER, asked(events), kept, LATER)
    print("actual: the model is shown:", *model.shown, sep="\n  ")
    return model.shown.count(("tool", "c1")) == 2


async def one_call_opened_twice():
    """Two calls with one id in one turn: the stream opens the second while the first is open.

    expected: an id for each call, or the end of one before the start of the other.
    it hurts: a client that checks the order of events, as the protocol has it, drops the stream.
    """
    _, agent = served([("c1", "write"), ("c1", "write")])
    seen = [one["type"] for one in await run(agent, "r1", USER) if one.get("toolCallId") == "c1"]
    print("actual: the stream says of c1:", *seen, sep="\n  ")
    starts = [at for at, one in enumerate(seen) if one == "TOOL_CALL_START"]
    return len(starts) > 1 and "TOOL_CALL_END" not in seen[: starts[1]]


def asked(events):
    """The message of the assistant, as a client keeps it."""
    [began] = streamed(events, "TOOL_CALL_START")
    function = {"name": began["toolCallName"], "arguments": "{}"}
    calls = [{"id": "c1", "type": "function", "function": function}]
    return {"id": began["parentMessageId"], "role": "assistant", "content": "", "toolCalls": calls}


PROGRAMS = {
    one.__name__: one for one in (cut_off_call_has_no_result, result_stands_twice, one_call_opened_twice)
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
