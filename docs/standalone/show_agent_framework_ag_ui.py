"""What agent-framework does behind AG-UI, with a scripted client of a model.

A name on the command line shows one bug.

pip install agent-framework-ag-ui==1.7.0 agent-framework-core==1.23.0
"""

import asyncio
import contextlib
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
    """Gives its turns one after the other: text, or the ids and names of calls."""

    def _inner_get_response(self, *, messages, stream, options, **more):
        return self._build_response_stream(self._answer(messages))

    async def _answer(self, messages):
        parts = [part for one in messages for part in one.contents]
        of_calls = [one for one in parts if one.type.startswith("function_")]
        self.shown = [(one.type, one.call_id) for one in of_calls]
        self.results = [one.result for one in of_calls if one.type == "function_result"]
        yield ChatResponseUpdate(role="assistant", contents=contents(self.turns.pop(0)))


def contents(turn):
    if isinstance(turn, str):
        return [Content.from_text(turn)]
    return [Content.from_function_call(call_id=call, name=name, arguments="{}") for call, name in turn]


class Scripted(FunctionInvocationLayer, Turns):
    """The same, with the library's layer that runs tools."""

    def __init__(self, *turns):
        super().__init__()
        self.turns, self.shown = list(turns), []


async def read() -> str:
    return "read"


async def write() -> str:
    return "written"


async def fail() -> str:
    raise RuntimeError("no such file")


READ = FunctionTool(name="read", description="read", func=read)
FAIL = FunctionTool(name="fail", description="fail", func=fail)
WRITE = FunctionTool(name="write", description="write", func=write, approval_mode="always_require")
LATER = {"id": "u2", "role": "user", "content": "and now?"}
YES = {"status": "resolved", "payload": {"approved": True}}
NO = {"status": "resolved", "payload": {"approved": False}}


def served(client, *tools):
    return AgentFrameworkAgent(agent=Agent(client=client, tools=list(tools)))


def kept(events):
    """The messages that a client keeps."""
    return [one for one in events if one["type"] == "MESSAGES_SNAPSHOT"][-1]["messages"]


def resume(events, **answers):
    """Answers to the interrupts of the calls that wait."""
    interrupts = {one["toolCallId"]: one["id"] for one in events[-1]["outcome"]["interrupts"]}
    return [{"interruptId": interrupts[call], **answer} for call, answer in answers.items()]


def marks(events, call):
    """What the stream says of a call."""
    return [one["type"] for one in events if one.get("toolCallId") == call]


async def run(agent, name, messages, **more):
    """Send a request; returns its events."""
    asked = {"threadId": "thread", "runId": name, "messages": messages, **more}
    return [one.model_dump(mode="json", by_alias=True) async for one in agent.run(asked)]


async def result_of_no_call():
    """Two calls wait and both are approved: the model is shown a result that belongs to no call.

    expected: two calls, and the result of each.
    it hurts: the API of a model refuses a result without its call, so that the approved run ends in an error.
    """
    client = Scripted([("c1", "write"), ("c2", "write")], "done")
    agent = served(client, WRITE)
    events = await run(agent, "r1", [USER])
    print("actual: these wait:", [one["toolCallId"] for one in events[-1]["outcome"]["interrupts"]])
    await run(agent, "r2", kept(events), resume=resume(events, c1=YES, c2=YES))
    print("actual: both are approved, and the model is shown:", *client.shown, sep="\n  ")
    calls = {call for kind, call in client.shown if kind == "function_call"}
    return any(call not in calls for kind, call in client.shown if kind == "function_result")


async def words_of_a_failure():
    """What a tool says that fails is replaced by a sentence of the library.

    expected: the model is shown "no such file".
    it hurts: the model cannot mend what it does not know, and asks for the same again.
    """
    client = Scripted([("c1", "fail")], "done")
    await run(served(client, FAIL), "r1", [USER])
    print("actual: the tool fails with: no such file; the model is shown:", *client.results)
    return "no such file" not in str(client.results)


async def results_change_places():
    """A rejection next to a call that ran: the next run shows the model the two results in another order.

    expected: the order of the run itself.
    it hurts: a history that changes is not in the cache of the provider, and is paid for again.
    """
    client = Scripted([("c1", "read"), ("c2", "write")], "done", "done again")
    agent = served(client, READ, WRITE)
    events = await run(agent, "r1", [USER])
    events = await run(agent, "r2", kept(events), resume=resume(events, c2=NO))
    before = client.shown
    print("actual: the run itself shows the model:", *before, sep="\n  ")
    await run(agent, "r3", [*kept(events), LATER])
    print("actual: the next run shows it:", *client.shown, sep="\n  ")
    return client.shown != before and sorted(client.shown) == sorted(before)


async def cut_off_call_has_no_result():
    """A client goes away while an approved call runs: the model is shown the call without a result.

    expected: a result that says that the call was cut off.
    it hurts: the API of a model refuses a call without its result, in this run and in all later ones.
    """
    entered = asyncio.Event()

    async def hang() -> str:
        entered.set()
        await asyncio.sleep(60)
        return "never"

    tool = FunctionTool(name="write", description="write", func=hang, approval_mode="always_require")
    client = Scripted([("c1", "write")], "done")
    agent = served(client, tool)
    events = await run(agent, "r1", [USER])
    request = asyncio.create_task(run(agent, "r2", kept(events), resume=resume(events, c1=YES)))
    await entered.wait()
    request.cancel()  # as a server does when its client goes away
    with contextlib.suppress(asyncio.CancelledError):
        await request
    await run(agent, "r3", [*kept(events), LATER])
    print("actual: the model is shown:", *client.shown, sep="\n  ")
    return client.shown == [("function_call", "c1")]


async def ended_without_a_start():
    """A stream ends a call that it has not begun: the one that was rejected.

    expected: no TOOL_CALL_END, or a TOOL_CALL_START before it.
    it hurts: a client that checks the order of events, as the protocol has it, drops the stream.
    """
    agent = served(Scripted([("c1", "write"), ("c2", "write")], "done"), WRITE)
    events = await run(agent, "r1", [USER])
    events = await run(agent, "r2", kept(events), resume=resume(events, c1=YES, c2=NO))
    print("actual: the stream says of c2:", marks(events, "c2"))
    return marks(events, "c2") == ["TOOL_CALL_END"]


async def begun_and_not_ended():
    """A call has the id of an earlier one of its run: the stream begins it, and does not end it.

    expected: each TOOL_CALL_START has its TOOL_CALL_END.
    it hurts: a client that waits for the end of the arguments shows a call that never comes.
    """
    client = Scripted([("c1", "read")], [("c1", "read")], "done")
    seen = marks(await run(served(client, READ), "r1", [USER]), "c1")
    print("actual: the stream says of c1:", *seen, sep="\n  ")
    return seen.count("TOOL_CALL_START") > seen.count("TOOL_CALL_END")


PROGRAMS = {
    one.__name__: one
    for one in (
        result_of_no_call,
        words_of_a_failure,
        results_change_places,
        cut_off_call_has_no_result,
        ended_without_a_start,
        begun_and_not_ended,
    )
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
