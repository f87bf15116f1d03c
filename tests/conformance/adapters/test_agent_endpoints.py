"""What stands around an agent: the APIs of its models, its tools, HTTP, and the bridge to real time."""

import asyncio
import json

import pytest

from runlock.conformance.adapters.models import chat_completions, gemini_api, messages_api
from runlock.conformance.adapters.models.http import Answered, Asked, HttpServer
from runlock.conformance.adapters.models.names import Names
from runlock.conformance.adapters.models.tool_server import ToolServer
from runlock.conformance.families.message_loop.adapter import Delta, ModelFault, Turn
from runlock.conformance.transport.real_time import QUIET_SECONDS, Bridge, RealTime
from runlock.conformance.transport.virtual_loop import VirtualLoop

NAMES = Names("kit_", ["t0", "t1"])
CALL = {"id": "c1", "name": "t0", "args": {"k": "c1"}}
BEGUN = Delta.model_validate({"tool_call": {"id": "c1", "name": "t0", "args_text": '{"k"'}})
TURN = Turn.model_validate({"text": "Hello", "tool_calls": [CALL, {**CALL, "id": "c2", "name": "unknown"}]})


async def given(*pieces):
    for piece in pieces:
        if isinstance(piece, Exception):
            raise piece
        yield piece


def events(answer):
    """The data of the events that an answer writes."""

    async def collected():
        answered = await answer
        text = b"".join([event async for event in answered.events]).decode()
        return [line[6:] for line in text.splitlines() if line.startswith("data: ")]

    return [json.loads(one) for one in asyncio.run(collected()) if one != "[DONE]"]


# -- the Messages API


def blocks(seen):
    """The blocks of a message as an SDK puts them together."""
    found = {}
    for one in seen:
        if one["type"] == "content_block_start":
            found[one["index"]] = {**one["content_block"], "json": ""}
        if one["type"] == "content_block_delta":
            block, delta = found[one["index"]], one["delta"]
            block["json"] += delta.get("partial_json", "")
            block["text"] = block.get("text", "") + delta.get("text", "")
    return [(one.get("name"), one["text"], one["json"]) for one in found.values()]


def test_a_call_that_was_begun_is_finished_by_its_turn():
    """What was streamed is not repeated, and each block is closed before the next one."""
    seen = events(messages_api.answer_of(given(Delta(text="Hel"), BEGUN, Delta(text="l"), TURN), 1, NAMES))
    kinds = [one["type"] for one in seen if one["type"].startswith("content_block_s")]

    assert blocks(seen) == [
        (None, "Hel", ""), ("kit_t0", "", '{"k": "c1"}'), (None, "lo", ""), ("unknown", "", '{"k": "c1"}'),
    ]  # fmt: skip
    assert kinds == ["content_block_start", "content_block_stop"] * 4
    assert seen[-2]["delta"]["stop_reason"] == "tool_use"


def test_a_model_that_breaks_is_an_error_before_its_first_piece_and_an_event_after_it():
    """The status of a response is sent with its first piece."""
    early = asyncio.run(messages_api.answer_of(given(ModelFault("down")), 1, NAMES))
    late = events(messages_api.answer_of(given(Delta(text="by"), ModelFault("down")), 1, NAMES))

    assert early.status == 500
    assert late[-1] == {"type": "error", "error": {"type": "api_error", "message": "down"}}


def test_an_error_of_a_call_whose_tool_was_given_up_is_cancelled():
    """The API has no other word for it; the result of a call that ended is an error."""
    results = [
        {"type": "tool_result", "tool_use_id": c, "content": "x", "is_error": True} for c in ("c1", "c2")
    ]
    body = {"messages": [{"role": "user", "content": results}], "tools": [{"name": "kit_t0"}]}
    request = messages_api.request_of(body, NAMES, {"c2"})

    assert [(one.call, one.status) for one in request.messages] == [("c1", "error"), ("c2", "cancelled")]
    assert request.tools == ["t0"]


# -- the Gemini API


def test_what_the_agent_adds_is_left_out_of_a_request():
    """Its own tools, its description of the session, and the marks around the result of a server."""
    parts = [{"text": "<session_context>…</session_context>"}, {"text": "hello"}]
    asked = {"functionCall": {"id": "c1", "name": "kit_t0", "args": {"k": "c1"}}}
    output = "<untrusted_context>\nfine\n</untrusted_context>"
    result = {"functionResponse": {"id": "c1", "name": "kit_t0", "response": {"output": output}}}
    body = {
        "contents": [
            {"role": "user", "parts": parts},
            {"role": "model", "parts": [asked]},
            {"role": "user", "parts": [result]},
        ],
        "tools": [{"functionDeclarations": [{"name": "read_file"}, {"name": "kit_t0"}]}],
    }
    request = gemini_api.request_of(body, NAMES, ())

    assert [(one.role, one.text) for one in request.messages] == [
        ("user", "hello"), ("assistant", ""), ("tool", "fine"),
    ]  # fmt: skip
    assert request.messages[1].tool_calls[0].name == "t0"
    assert request.tools == ["t0"]


def test_calls_are_written_whole_in_the_gemini_api():
    """A piece of a call is not written, and text is not repeated."""
    seen = events(gemini_api.answer_of(given(Delta(text="Hel"), BEGUN, TURN), NAMES))
    parts = [part for one in seen for part in one["candidates"][0]["content"]["parts"]]

    assert [part.get("text") for part in parts] == ["Hel", "lo", None, None]
    assert [part["functionCall"]["name"] for part in parts[2:]] == ["kit_t0", "unknown"]


# -- chat completions


def test_the_pieces_of_a_call_are_put_together_by_index():
    """The arguments go on where they were cut."""
    seen = events(chat_completions.answer_of(given(BEGUN, TURN), NAMES))
    pieces = [one for event in seen for one in event["choices"][0]["delta"].get("tool_calls", ())]
    args = {i: "".join(one["function"]["arguments"] for one in pieces if one["index"] == i) for i in (0, 1)}

    assert args == {0: '{"k": "c1"}', 1: '{"k": "c1"}'}
    assert seen[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_arguments_that_are_no_json_stay_as_they_are():
    """They are malformed in the history too."""
    call = {"id": "c1", "type": "function", "function": {"name": "kit_t0", "arguments": '{"k": '}}
    body = {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}
    (message,) = chat_completions.request_of(body, NAMES).messages

    assert message.tool_calls[0].args == '{"k": '


# -- tools and HTTP


def rpc(method, number=None, **params):
    named = {"jsonrpc": "2.0", "method": method, "params": params}
    return Asked("POST", "/", named if number is None else {**named, "id": number})


def test_a_call_that_its_client_cancels_ends():
    """The body is cancelled, and the answer is an error of the protocol."""

    async def played():
        begun = asyncio.Event()

        async def body(name, args, meta):
            begun.set()
            await asyncio.Event().wait()

        server = ToolServer(["t0"], body)
        running = asyncio.create_task(server.answer(rpc("tools/call", 7, name="t0", arguments={})))
        await begun.wait()
        await server.answer(rpc("notifications/cancelled", requestId=7))
        return (await running).body

    assert asyncio.run(played())["error"]["code"] == -32800


def test_a_client_that_hangs_up_cancels_its_request():
    """So that the gate of a request that an agent gives up is closed."""

    async def played():
        begun, left = asyncio.Event(), asyncio.Event()

        async def handler(asked):
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                left.set()
                raise
            return Answered({})

        server = HttpServer(handler)
        await server.start()
        _, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        await begun.wait()
        writer.close()
        await left.wait()
        await server.stop()

    asyncio.run(asyncio.wait_for(played(), 10))


# -- real time


@pytest.fixture
def bridge():
    kit, real = VirtualLoop(), RealTime()
    bridge = Bridge(real, kit)
    kit.outside.busy = bridge.busy
    yield kit, bridge
    real.close()
    kit.close()


def test_a_question_crosses_and_its_answer_comes_back(bridge):
    """A verb runs in real time, and what it asks is answered on the kit's loop."""
    kit, bridge = bridge

    async def question():
        return asyncio.get_running_loop() is kit

    async def verb():
        return await bridge.ask(question())

    assert kit.run_until_complete(bridge.do(verb())) is True


@pytest.mark.long
def test_the_end_of_a_cancelled_turn_is_waited_for(bridge):
    """A cancel is done before its turn, which owes its end whatever it has asked."""
    kit, bridge = bridge
    ended = []

    async def turn():
        asking = asyncio.create_task(bridge.ask(asyncio.Event().wait()))
        await asyncio.sleep(3 * QUIET_SECONDS)
        asking.cancel()
        await asyncio.wait({asking})
        ended.append(True)

    async def cancel():
        bridge.end()
        await bridge.do(asyncio.sleep(0))

    kit.create_task(bridge.do(turn()))
    kit.create_task(cancel())
    kit.settle()

    assert ended == [True]


def test_a_question_that_is_given_up_is_cancelled(bridge):
    """The gate of the kit closes."""
    kit, bridge = bridge
    ended = []

    async def question():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def verb():
        asking = asyncio.create_task(bridge.ask(question()))
        await asyncio.sleep(0.05)
        asking.cancel()
        await asyncio.wait({asking})

    kit.run_until_complete(bridge.do(verb()))
    kit.settle()

    assert ended == [True]
