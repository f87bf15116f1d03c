"""What a page makes of the events streamed to it: the messages that it sends with its next request."""

import pytest

from runlock.conformance.adapters.pages import AgUiPage, AiSdkPage


def taken(page, *events):
    """The messages of a page that said hello and received these events."""
    page.request("hello")
    for event in events:
        page.take(event)
    return page.messages[1:]


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
        AgUiPage(),
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
    page = AgUiPage()
    messages = taken(page, *asked("c1", "a"), result("c1", "one"), *asked("c1", "b"), result("c1", "two"))

    assert [message["content"] for message in messages] == ["", "one", "", "two"]
    assert page.call("c1") == ("read", {"k": 1})


def test_on_ag_ui_the_open_interrupts_are_those_of_the_last_run():
    """A run that finishes without one closes them."""
    page = AgUiPage()
    outcome = {"type": "interrupt", "interrupts": [{"id": "int-c1", "toolCallId": "c1"}]}
    taken(page, {"type": "RUN_FINISHED", "outcome": outcome})

    assert page.pending == {"c1": "int-c1"}
    page.take({"type": "RUN_FINISHED", "outcome": {"type": "success"}})
    assert page.pending == {}


def test_on_ag_ui_what_is_encrypted_is_kept_with_its_message():
    """The page cannot read it, and sends it back."""
    kept = {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "m-one"}
    messages = taken(AgUiPage(), *asked("c1", "a"), result("c1", "one"), {**kept, "encryptedValue": "x"})

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
    (message,) = taken(AiSdkPage(), {"type": "start-step"}, START, WHOLE, event)

    known = {"type": "tool-read", "toolCallId": "c1", "input": {"k": 1}}
    assert message["parts"] == [{"type": "step-start"}, {**known, **state}]


def test_in_the_ai_sdk_a_call_that_was_cut_off_keeps_its_raw_input():
    """As far as it was streamed, and what can be read of it."""
    (message,) = taken(AiSdkPage(), START, on("tool-input-delta", inputTextDelta='{"k": 1, "v'))

    part = {"type": "tool-read", "toolCallId": "c1", "state": "input-streaming"}
    assert message["parts"] == [{**part, "input": {"k": 1}, "rawInput": '{"k": 1, "v'}]


def test_in_the_ai_sdk_a_request_without_a_text_goes_on_with_the_message():
    """Input that comes again is of the part that is there."""
    page = AiSdkPage()
    taken(page, {"type": "start-step"}, START, WHOLE)
    page.request()
    page.take(WHOLE)

    assert len(page.messages) == 2
    assert len(page.messages[1]["parts"]) == 2


def test_in_the_ai_sdk_a_request_that_fails_leaves_no_message():
    """Nothing is shown before the first part."""
    assert taken(AiSdkPage(), {"type": "start"}, {"type": "error", "errorText": "no"}) == []
