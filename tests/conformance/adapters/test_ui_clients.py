"""What a client makes of the events streamed to it: the messages that it sends with its next request."""

import pytest

from runlock.conformance.wires.ui_clients import AgUiClient, AiSdkClient


def taken(client, *events):
    """The messages of a client that said hello and received these events."""
    client.request("hello")
    for event in events:
        client.take(event)
    return client.messages[1:]


def on(name, call="c1", **fields):
    return {"type": name, "toolCallId": call, **fields}


def asked(call, parent):
    """A call of AG-UI, from its start on."""
    start = on("TOOL_CALL_START", call, toolCallName="read", parentMessageId=parent)
    return [start, on("TOOL_CALL_ARGS", call, delta='{"k": '), on("TOOL_CALL_ARGS", call, delta="1}")]


def result(call, content):
    return on("TOOL_CALL_RESULT", call, messageId=f"m-{content}", content=content)


def test_on_ag_ui_results_follow_the_turn_of_their_calls():
    """The arguments are put together; results come in their order, also after a text that came in between."""
    text = {"messageId": "b", "delta": "wait"}
    messages = taken(
        AgUiClient(),
        *asked("c1", "a"),
        *asked("c2", "a"),
        {**text, "type": "TEXT_MESSAGE_START"},
        {**text, "type": "TEXT_MESSAGE_CONTENT"},
        result("c1", "one"),
        result("c2", "two"),
    )

    assert [call["function"]["arguments"] for call in messages[0]["toolCalls"]] == ['{"k": 1}'] * 2
    assert [message["content"] for message in messages] == ["", "one", "two", "wait"]


def test_on_ag_ui_a_call_id_that_comes_again_is_another_call():
    """Its result follows the later turn."""
    client = AgUiClient()
    messages = taken(client, *asked("c1", "a"), result("c1", "one"), *asked("c1", "b"), result("c1", "two"))

    assert [message["content"] for message in messages] == ["", "one", "", "two"]
    assert client.call("c1") == ("read", {"k": 1})


def test_on_ag_ui_a_chunk_is_a_start_and_a_piece():
    """What has no id, or the same one, goes on with what came last; another id is another message or call."""
    text, call = {"type": "TEXT_MESSAGE_CHUNK"}, {"type": "TOOL_CALL_CHUNK"}
    named = {"toolCallName": "read", "parentMessageId": "b"}
    messages = taken(
        AgUiClient(),
        {**text, "messageId": "a", "delta": "I "},
        {**text, "delta": "read"},
        {**text, "messageId": "b", "delta": "it"},
        {**call, **named, "toolCallId": "c1"},
        {**call, "toolCallId": "c1", "delta": '{"k": 1}'},
        {**call, **named, "toolCallId": "c2", "delta": "{"},
        {**call, "delta": "}"},
    )

    assert [message["content"] for message in messages] == ["I read", "it"]
    made = [(one["id"], one["function"]["arguments"]) for one in messages[1]["toolCalls"]]
    assert made == [("c1", '{"k": 1}'), ("c2", "{}")]


def test_on_ag_ui_the_open_interrupts_are_those_of_the_last_run():
    """A run that finishes without one closes them."""
    client = AgUiClient()
    outcome = {"type": "interrupt", "interrupts": [{"id": "int-c1", "toolCallId": "c1"}]}
    taken(client, {"type": "RUN_FINISHED", "outcome": outcome})

    assert client.pending == {"c1": "int-c1"}
    client.take({"type": "RUN_FINISHED", "outcome": {"type": "success"}})
    assert client.pending == {}


def test_on_ag_ui_what_is_encrypted_is_kept_with_its_message():
    """The client cannot read it, and sends it back."""
    kept = {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "m-one"}
    messages = taken(AgUiClient(), *asked("c1", "a"), result("c1", "one"), {**kept, "encryptedValue": "x"})

    assert messages[1]["encryptedValue"] == "x"


START = on("tool-input-start", toolName="read")
WHOLE = on("tool-input-available", toolName="read", input={"k": 1})


@pytest.mark.parametrize(
    ("event", "state"),
    [
        (
            on("tool-approval-request", approvalId="a1"),
            {"state": "approval-requested", "approval": {"id": "a1"}},
        ),
        (on("tool-output-available", output="fine"), {"state": "output-available", "output": "fine"}),
        (on("tool-output-error", errorText="no"), {"state": "output-error", "errorText": "no"}),
        (on("tool-output-denied"), {"state": "output-denied"}),
    ],
)
def test_in_the_ai_sdk_all_that_becomes_of_a_call_is_one_part(event, state):
    """Its input stays, and its state changes."""
    (message,) = taken(AiSdkClient(), {"type": "start-step"}, START, WHOLE, event)

    known = {"type": "tool-read", "toolCallId": "c1", "input": {"k": 1}}
    assert message["parts"] == [{"type": "step-start"}, {**known, **state}]


def test_in_the_ai_sdk_a_call_that_was_cut_off_keeps_its_raw_input():
    """As far as it was streamed, and what can be read of it."""
    (message,) = taken(AiSdkClient(), START, on("tool-input-delta", inputTextDelta='{"k": 1, "v'))

    part = {"type": "tool-read", "toolCallId": "c1", "state": "input-streaming"}
    assert message["parts"] == [{**part, "input": {"k": 1}, "rawInput": '{"k": 1, "v'}]


def test_in_the_ai_sdk_a_request_without_a_text_goes_on_with_the_message():
    """Input that comes again is of the part that is there."""
    client = AiSdkClient()
    taken(client, {"type": "start-step"}, START, WHOLE)
    client.request()
    client.take(WHOLE)

    assert len(client.messages) == 2
    assert len(client.messages[1]["parts"]) == 2


def test_in_the_ai_sdk_a_request_that_fails_leaves_no_message():
    """Nothing is shown before the first part."""
    assert taken(AiSdkClient(), {"type": "start"}, {"type": "error", "errorText": "no"}) == []
