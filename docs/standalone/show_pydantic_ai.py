"""What pydantic-ai does, with a scripted model.

A name on the command line shows one bug.

pip install pydantic-ai-slim==2.68.0
"""

import asyncio
import inspect
import sys

from pydantic_ai import (
    Agent,
    CancellationToken,
    DeferredToolRequests,
    RunCancelled,
    RunContext,
    Tool,
    capture_run_messages,
)
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


def scripted(*turns):
    """A model that gives its turns one after the other, and what it was shown."""
    left, shown = list(turns), []

    def model(messages, info):
        shown.append(messages)
        return left.pop(0)

    return FunctionModel(model), shown


def parts(messages):
    """The kind and the content of each part."""
    return [(part.part_kind, getattr(part, "content", None)) for one in messages for part in one.parts]


async def results_lost_in_a_cancel():
    """A cancel that comes just as the last tool of a round ends loses the results of the whole round.

    expected: the history of the cancelled run has the finished results, and the next prompt is taken.
    it hurts: what a tool did is lost, and every later prompt on the conversation is refused.
    """
    calls = [ToolCallPart("book", {}, tool_call_id="c1"), ToolCallPart("slow", {}, tool_call_id="c2")]
    model, _ = scripted(ModelResponse(calls), ModelResponse([TextPart("done")]))
    token, entered, goes_on = CancellationToken(), asyncio.Event(), asyncio.Event()

    async def book() -> str:
        return "booked"

    async def slow() -> str:
        entered.set()
        await goes_on.wait()
        return "slept"

    agent = Agent(model, tools=[Tool(book), Tool(slow)])
    run = asyncio.create_task(agent.run("book it", cancellation_token=token))
    await entered.wait()
    await asyncio.sleep(0)  # the result of the first tool is there
    token.cancel()
    goes_on.set()
    try:
        await run
    except RunCancelled as cancelled:
        history = cancelled.all_messages()
    print("actual: the history of the cancelled run has", parts(history)[1:])
    try:
        await agent.run("what now?", message_history=history)
    except Exception as error:
        print("actual: the next prompt is refused:", error)
    return "booked" not in str(history)


async def cut_off_call_runs():
    """A call with which a turn ended for its length runs, if what is there of its arguments parses.

    expected: the last call of a turn that was cut off is not executed as it stands.
    it hurts: a tool does less than the model was about to ask for, or something else.
    """
    call = ToolCallPart("delete", {"folder": "/"}, tool_call_id="c1")
    model, _ = scripted(
        ModelResponse([call], finish_reason="length"), ModelResponse([TextPart("done")], finish_reason="stop")
    )
    ran = []

    async def delete(folder: str, only: str = "*") -> str:
        ran.append((folder, only))
        return "deleted"

    await Agent(model, tools=[Tool(delete)]).run("delete the logs in /")
    print("actual: the tool ran with", ran)
    return ran != []


async def input_is_lost_in_an_error():
    """Input that is enqueued with a run at work stays if the run comes to wait, and is lost if it fails.

    expected: the same becomes of both, be it that the input is dropped, given back or shown later.
    it hurts: what the user said last is gone without a word, though it was taken.
    """
    kept = {"waits": await steered(None), "fails": await steered(OSError("the disk is full"))}
    print("actual: the history has the input, if the run ...:", kept)
    return kept == {"waits": True, "fails": False}


async def steered(error):
    """Whether the history has what was enqueued, after a run that comes to wait, or that fails."""
    calls = [ToolCallPart("read", {}, tool_call_id="c1"), ToolCallPart("write", {}, tool_call_id="c2")]

    async def read(run: RunContext[None]) -> str:
        run.enqueue("only the second file")
        if error is not None:
            raise error
        return "read"

    async def write() -> str:
        return "written"

    model, _ = scripted(ModelResponse(calls))
    tools = [Tool(read, takes_ctx=True), Tool(write, requires_approval=True)]
    agent = Agent(model, tools=tools, output_type=[str, DeferredToolRequests])
    with capture_run_messages() as messages:
        try:
            await agent.run("write the files")
        except OSError as failed:
            print("actual: the run fails:", failed)
    return "only the second file" in str(messages)


PROGRAMS = {
    one.__name__: one for one in (results_lost_in_a_cancel, cut_off_call_runs, input_is_lost_in_an_error)
}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if asyncio.run(PROGRAMS[name]()):
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
