"""The APIs of models: what is written is what a client of the API would send back with its next request."""

import json
import re

import pytest

from runlock.conformance.protocol import Message, ToolCall, Turn
from runlock.conformance.wires.model_apis import chat_completions, messages, responses

CALLS = [ToolCall(id="c1", name="write", args={"k": "c1", "v": 1}), ToolCall(id="c2", name="read", args={})]
TURNS = [Turn(text="hello"), Turn(tool_calls=CALLS), Turn(text="let me see", tool_calls=CALLS)]


def data_of(events):
    """The JSON of each event of a stream."""
    lines = [line for line in b"".join(events).decode().splitlines() if line.startswith("data: {")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def chat_from(events):
    """The message that a client of Chat Completions puts together."""
    said, calls = "", {}
    for chunk in data_of(events):
        for choice in chunk["choices"]:
            said += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls", ()):
                call = calls.setdefault(piece["index"], {"function": {"arguments": ""}})
                call["id"] = piece.get("id", call.get("id"))
                call["function"]["name"] = piece["function"].get("name", call["function"].get("name"))
                call["function"]["arguments"] += piece["function"].get("arguments", "")
    return {"role": "assistant", "content": said, "tool_calls": list(calls.values())}


def blocks_from(events):
    """The message that a client of Messages puts together."""
    blocks = []
    for event in data_of(events):
        if event["type"] == "content_block_start":
            blocks.append(dict(event["content_block"]))
        elif event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
            blocks[-1]["text"] += event["delta"]["text"]
        elif event["type"] == "content_block_delta":
            blocks[-1]["input"] = json.loads(event["delta"]["partial_json"])
    return {"role": "assistant", "content": blocks}


def items_from(events):
    """The items that a client of Responses keeps."""
    return [event["item"] for event in data_of(events) if event["type"] == "response.output_item.done"]


@pytest.mark.parametrize("turn", TURNS, ids=["text", "calls", "both"])
def test_a_streamed_turn_is_the_turn(turn):
    """Whatever the API, the next request shows what the kit said."""
    back = [
        chat_completions.asked({"messages": [chat_from(chat_completions.events(turn))]}),
        messages.asked({"messages": [blocks_from(messages.events(turn))]}),
        responses.asked({"input": items_from(responses.events(turn))}),
    ]

    assert [one.messages for one in back] == 3 * [
        [Message(role="assistant", text=turn.text, tool_calls=turn.tool_calls)]
    ]


@pytest.mark.parametrize("turn", TURNS, ids=["text", "calls", "both"])
def test_a_whole_turn_is_the_turn(turn):
    """The same without a stream."""
    whole = chat_completions.whole(turn)["choices"][0]["message"]
    back = [
        chat_completions.asked({"messages": [whole]}),
        messages.asked({"messages": [messages.whole(turn)]}),
        responses.asked({"input": responses.whole(turn)["output"]}),
    ]

    assert [one.messages for one in back] == 3 * [
        [Message(role="assistant", text=turn.text, tool_calls=turn.tool_calls)]
    ]


@pytest.mark.parametrize(
    ("api", "named"),
    [
        (chat_completions, r'"id": "(chatcmpl[^"]+)"'),
        (messages, r'"id": "(msg_[^"]+)"'),
        (responses, r'"id": "(resp_[^"]+)"'),
        (responses, r'"item_id": "(msg_[^"]+)"'),
    ],
)
def test_each_turn_has_an_id_of_its_own(api, named):
    """One all over its stream: clients keep what they know under the id of an answer."""
    told = [set(re.findall(named, b"".join(api.events(TURNS[0])).decode())) for _ in range(2)]

    assert [len(ids) for ids in told] == [1, 1]
    assert told[0] != told[1]


def test_a_request_is_read():
    """Its messages without what the application says of itself, its tools, and whether it streams."""
    chat = chat_completions.asked(
        {
            "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                {"role": "tool", "tool_call_id": "c1", "content": "done"},
            ],
            "tools": [{"type": "function", "function": {"name": "write"}}],
            "stream": True,
        }
    )
    blocks = [{"type": "tool_result", "tool_use_id": "c1", "content": "done", "is_error": True}]
    claude = messages.asked(
        {
            "system": "be kind",
            "messages": [{"role": "user", "content": "hi"}, {"role": "user", "content": blocks}],
        }
    )
    items = [
        {"role": "user", "content": "hi"},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
    ]
    tools = [{"type": "function", "name": "write"}, {"type": "web_search"}]
    response = responses.asked({"input": items, "tools": tools})

    said, result = Message(role="user", text="hi"), Message(role="tool", call="c1", text="done")
    assert (chat.messages, chat.tools, chat.streams) == ([said, result], ["write"], True)
    assert claude.messages == [said, result.model_copy(update={"status": "error"})]
    assert (response.messages, response.tools, response.streams) == ([said, result], ["write"], False)


def test_a_text_is_an_input():
    """Responses takes a text as the one message of the user."""
    assert responses.asked({"input": "hi"}).messages == [Message(role="user", text="hi")]


@pytest.mark.parametrize("api", [chat_completions, messages, responses])
@pytest.mark.parametrize("body", [{}, {"messages": [{}], "input": [3]}, {"messages": 3, "input": 3}])
def test_what_is_no_request_is_refused(api, body):
    """The ends say so, and count it."""
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        api.asked(body)
