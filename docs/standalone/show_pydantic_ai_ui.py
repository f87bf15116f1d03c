"""What pydantic-ai streams to a page of the AI SDK, with a scripted model.

A name on the command line shows one bug.

pip install pydantic-ai-slim==2.68.0 ag-ui-protocol==1.0.0
"""

import asyncio
import inspect
import json
import sys

from pydantic_ai import Agent, CancellationToken, DeferredToolRequests
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.ui.vercel_ai import VercelAIAdapter

ARGS = '{"k": "c1"}'
TURNS = []  # of the model: a text, or the ids and names of calls
SHOWN = []  # to the model, with its last request
USER = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "go"}]}
TOKEN = CancellationToken()


async def model(messages, info):
    SHOWN[:] = [part for message in messages for part in message.parts]
    turn = TURNS.pop(0)
    if isinstance(turn, str):
        yield turn
    else:
        yield {at: DeltaToolCall(name, ARGS, tool_call_id=call) for at, (call, name) in enumerate(turn)}


agent = Agent(FunctionModel(stream_function=model), output_type=[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)
def write(k: str) -> str:
    return "written"


@agent.tool_plain
async def read(k: str) -> str:
    TOKEN.cancel()  # the user stops the run while the tool works
    await asyncio.sleep(60)
    return "read"


async def streamed(*messages, token=None):
    """Send these messages of a page, and get the chunks that come back."""
    body = {"trigger": "submit-message", "id": "chat", "messages": messages}
    asked = VercelAIAdapter.build_run_input(json.dumps(body).encode())
    served = VercelAIAdapter(agent, asked, sdk_version=6)
    return [one.model_dump(by_alias=True) async for one in served.run_stream(cancellation_token=token)]


def page(state, **more):
    """A message of the assistant with one call, as `useChat` keeps it."""
    part = {"toolCallId": "c1", "state": state, "input": json.loads(ARGS), **more}
    return {"id": "a1", "role": "assistant", "parts": [{"type": "step-start"}, part]}


async def input_is_available_twice():
    """A call is streamed and its approval asked for; the request that approves it streams its input again.

    expected: one `tool-input-available` of the call in the first request, and its output alone in the second.
    it hurts: on the page an approved call is one without an answer again, and `onToolCall` is called twice.
    """
    TURNS[:] = [[("c1", "write")], "done"]
    first = await streamed(USER)
    approved = page("approval-responded", type="tool-write", approval={"id": "c1", "approved": True})
    second = await streamed(USER, approved)
    for name, chunks in (("first", first), ("second", second)):
        print(f"actual: the {name} request:", [one["type"] for one in chunks if "toolCallId" in one])
    return all("tool-input-available" in [one["type"] for one in chunks] for chunks in (first, second))


async def interrupted_is_a_success():
    """The user stops a run while a tool works; the call is streamed, and comes back, as one that succeeded.

    expected: the model is shown that the call was interrupted, as in the library's own history and on AG-UI.
    it hurts: the model takes for the result of the tool what is a message about the stop.
    """
    TURNS[:] = [[("c1", "read")], "done"]
    chunks = await streamed(USER, token=TOKEN)
    output = next(one for one in chunks if one["type"] == "tool-output-available")["output"]
    print("actual: the page is sent tool-output-available:", output)
    again = {"id": "u2", "role": "user", "parts": [{"type": "text", "text": "and now?"}]}
    await streamed(USER, page("output-available", type="tool-read", output=output), again)
    outcomes = [part.outcome for part in SHOWN if part.part_kind == "tool-return"]
    print("actual: the outcome of the call that the next request shows the model:", outcomes)
    return outcomes == ["success"]


async def arguments_are_lost():
    """The model calls a tool that does not exist; in later requests its call has no arguments any more.

    expected: the call as the model made it: the page sends its arguments back, as `rawInput`.
    it hurts: the model is shown a call that it did not make, and the error of one that it did.
    """
    TURNS[:] = [[("c1", "no_such_tool")], "done", "done"]
    chunks = await streamed(USER)
    failed = next(one for one in chunks if one["type"] == "tool-input-error")
    print("actual: the page is sent the arguments:", failed["input"])
    more = {"rawInput": failed["input"], "errorText": failed["errorText"]}  # as the AI SDK has it
    part = {"type": "tool-no_such_tool", "toolCallId": "c1", "state": "output-error", **more}
    again = {"id": "u2", "role": "user", "parts": [{"type": "text", "text": "and now?"}]}
    await streamed(USER, {"id": "a1", "role": "assistant", "parts": [{"type": "step-start"}, part]}, again)
    shown = [part.args_as_dict() for part in SHOWN if part.part_kind == "tool-call"]
    print("actual: the next request shows the model the arguments:", *shown)
    return shown == [{}]


PROGRAMS = {
    one.__name__: one for one in (input_is_available_twice, interrupted_is_a_success, arguments_are_lost)
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
