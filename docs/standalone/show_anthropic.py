"""What the tool runners of the anthropic SDK do, with a scripted server.

A name on the command line shows one bug.

pip install anthropic==2.14.0
"""

import asyncio
import inspect
import json
import sys

import anthropic
import httpx2
from anthropic import beta_async_tool

USAGE = {"input_tokens": 1, "output_tokens": 1}


def called(*ids, names=("read", "read")):
    """Blocks of calls."""
    named = zip(ids, names, strict=False)
    return [{"type": "tool_use", "id": one, "name": name, "input": {}} for one, name in named]


class Server(httpx2.AsyncBaseTransport):
    """Gives its answers one after the other, and keeps the messages of each request."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    async def handle_async_request(self, request):
        self.asked.append(json.loads(await request.aread())["messages"])
        answer = self.answers.pop(0)
        if isinstance(answer, httpx2.AsyncByteStream):
            return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=answer)
        return httpx2.Response(200, json=message(answer))


def message(content):
    """A whole message of the model."""
    stop = "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
    known = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    return {**known, "content": content, "stop_reason": stop, "usage": USAGE}


class Streamed(httpx2.AsyncByteStream):
    """A call, and some text after it, all at once."""

    async def __aiter__(self):
        start = {**message(called("c1")), "content": [], "stop_reason": None}
        yield event("message_start", message=start)
        yield event("content_block_start", index=0, content_block=called("c1")[0])
        yield event("content_block_stop", index=0)
        yield event("content_block_start", index=1, content_block={"type": "text", "text": ""})
        yield event("content_block_delta", index=1, delta={"type": "text_delta", "text": "reading"})
        yield event("content_block_stop", index=1)
        yield event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 1})
        yield event("message_stop")


class Broken(httpx2.AsyncByteStream):
    """Some text, and an error of the API."""

    async def __aiter__(self):
        block = {"type": "text", "text": ""}
        yield event("message_start", message={**message([block]), "content": [], "stop_reason": None})
        yield event("content_block_start", index=0, content_block=block)
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": "the first"})
        yield event("error", error={"type": "overloaded_error", "message": "overloaded"})


def event(kind, **fields):
    """A server-sent event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def runner(server, *tools, **options):
    """A tool runner whose requests go to the server."""
    http = httpx2.AsyncClient(transport=server)
    client = anthropic.AsyncAnthropic(api_key="k", base_url="http://server", http_client=http, max_retries=0)
    said = [{"role": "user", "content": "read both"}]
    return client.beta.messages.tool_runner(
        model="m", max_tokens=9, messages=said, tools=tools, thread=False, **options
    )


async def repeated_id():
    """Two calls with one id in one turn give the model two results under that id.

    expected: one result for the id.
    it hurts: the API refuses a request with two results for one call.
    """

    @beta_async_tool
    async def read() -> str:
        """Read."""
        return "read"

    server = Server(called("c1", "c1"), [{"type": "text", "text": "done"}])
    await runner(server, read).until_done()
    results = [block["tool_use_id"] for block in server.asked[-1][-1]["content"]]
    print("actual: the model is shown results for:", results)
    return results == ["c1", "c1"]


async def eager_tool_holds_the_stream():
    """With `run_tools_eagerly`, text that has arrived does not reach the user while a tool runs.

    expected: the text reaches the user while the tool runs.
    it hurts: a slow tool freezes the answer on the screen, which eager tools are to prevent.
    """
    seen, begun, may_end = [], asyncio.Event(), asyncio.Event()

    @beta_async_tool
    async def read() -> str:
        """Read."""
        begun.set()
        await may_end.wait()
        return "read"

    async def user():
        streams = runner(Server(Streamed()), read, stream=True, run_tools_eagerly=True)
        async for one in await anext(streams):
            seen.append(one.type)
        await streams.close()

    reading = asyncio.create_task(user())
    await begun.wait()
    for _ in range(100):
        await asyncio.sleep(0)
    held = "text" not in seen
    print("actual: while the tool runs the user has read:", seen)
    may_end.set()
    await reading
    print("actual: after it:", seen)
    return held and "text" in seen


async def denied_call_runs():
    """A user takes over the history and answers a call with a denial; the call runs all the same.

    expected: the call does not run: the documentation says that one who takes over builds the results.
    it hurts: the tool acts although it was denied, and the model is never shown that it did.
    """
    ran = []

    @beta_async_tool
    async def read() -> str:
        """Read."""
        ran.append("read")
        return "read"

    server = Server(called("c1"), [{"type": "text", "text": "not read, then"}])
    run = runner(server, read)
    async for turn in run:
        if turn.stop_reason == "tool_use":
            denial = {"type": "tool_result", "tool_use_id": "c1", "content": "denied", "is_error": True}
            run.append_messages(turn, {"role": "user", "content": [denial]})
    print(
        "actual: the tool ran:", ran, "and the model is shown:", server.asked[-1][-1]["content"][0]["content"]
    )
    return ran == ["read"]


async def follow_up_is_never_sent():
    """What a user appends to the history when the last turn has come is not sent.

    expected: another request with what was appended, since the history was changed.
    it hurts: what the user says is lost without a word.
    """
    server = Server([{"type": "text", "text": "done"}], [{"type": "text", "text": "and that too"}])
    run = runner(server)
    async for turn in run:
        if len(server.asked) == 1:
            run.append_messages(turn, {"role": "user", "content": "and the other one"})
    print("actual: requests:", len(server.asked))
    return len(server.asked) == 1


async def broken_stream_ends_well():
    """A stream breaks while it is read. Its reader catches the error, and the loop ends as if all were well.

    expected: the loop raises an error, as it does for a broken stream that is not read.
    it hurts: an answer that was cut off counts as the whole answer.
    """
    caught = []
    try:
        async for stream in runner(Server(Broken()), stream=True):
            try:
                async for _ in stream:
                    pass
            except anthropic.APIError as error:
                caught.append(type(error).__name__)
    except anthropic.APIError as error:
        print("actual: the loop raises", type(error).__name__)
        return False
    print("actual: the reader caught", caught, "and the loop ended without an error")
    return bool(caught)


async def changed_by_the_first_call(change):
    """What ran, when the first of two calls changes the tool of the second one."""
    ran = []

    @beta_async_tool
    async def first() -> str:
        """Change the tools."""
        change(tools, ran)
        return "changed"

    @beta_async_tool
    async def second() -> str:
        """Do something."""
        ran.append("the old second tool")
        return "done"

    server = Server(called("c1", "c2", names=("first", "second")), [{"type": "text", "text": "done"}])
    tools = runner(server, first, second)
    await tools.until_done()
    print("actual: this ran:", ran)
    return ran == ["the old second tool"]


async def removed_tool_runs():
    """`remove_tools` says that a tool stops being run at once; a later call of the turn still runs it.

    expected: the second call gets an error, and nothing runs.
    it hurts: a tool that was taken away because it must not run does run.
    """
    return await changed_by_the_first_call(lambda tools, ran: tools.remove_tools("second"))


async def replaced_tool_runs():
    """`add_tools` says that the new tool runs even for a call in the message at hand; the old one does.

    expected: the new second tool runs.
    it hurts: a tool that was replaced because it is wrong does its work in the old way.
    """

    def replace(tools, ran):
        @beta_async_tool(name="second")
        async def new() -> str:
            """Do something else."""
            ran.append("the new second tool")
            return "done"

        tools.add_tools(new)

    return await changed_by_the_first_call(replace)


PROGRAMS = {
    one.__name__: one
    for one in (
        repeated_id,
        eager_tool_holds_the_stream,
        removed_tool_runs,
        replaced_tool_runs,
        denied_call_runs,
        follow_up_is_never_sent,
        broken_stream_ends_well,
    )
}


if __name__ == "__main__":
    still_there = []
    for name in sys.argv[1:] or PROGRAMS:
        print(f"{name}: {inspect.getdoc(PROGRAMS[name])}")
        if asyncio.run(PROGRAMS[name]()):
            still_there.append(name)
    raise SystemExit(f"still there: {', '.join(still_there)}" if still_there else 0)
