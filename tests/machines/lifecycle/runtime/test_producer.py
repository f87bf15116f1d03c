"""What the reference sends as a server of AG-UI, and as an agent of the Agent Client Protocol."""

import pytest

from runlock.machines.lifecycle.runtime.producer import Producer
from runlock.machines.lifecycle.runtime.prompter import Prompter

CALL = {"call": "c1", "tool": "t0", "args": {}}
RESULT = {"call": "c1", "status": "ok", "text": "found"}
USER, LOOK, DONE = (
    {"role": role, "text": text}
    for role, text in (("user", "hello"), ("assistant", "I look"), ("assistant", "done"))
)


def ended(code, *pending):
    """The event that ends a segment."""
    return {"reason": {"code": code}, "pending": list(pending)}


@pytest.fixture
def shown():
    """What was reported."""
    return []


@pytest.fixture
def producer(shown):
    """A server of AG-UI."""
    return Producer(lambda kind, **fields: shown.append(fields))


@pytest.fixture
def prompter(shown):
    """An agent of the Agent Client Protocol."""
    return Prompter(lambda kind, **fields: shown.append(fields))


def test_the_input_of_the_user_is_in_the_request_and_not_on_the_stream(producer, shown):
    """The client has sent it."""
    producer.said(USER)
    producer.told("run.finished", ended("NaturalEnd"))

    assert [(one["role"], one["content"]) for one in shown[0]["request"]["messages"]] == [("user", "hello")]
    assert [one["type"] for one in shown[0]["events"]] == ["RUN_STARTED", "RUN_FINISHED"]


def test_a_text_of_the_model_is_streamed_with_its_content(producer, shown):
    """Its start, its content and its end."""
    producer.said(DONE)
    producer.told("run.finished", ended("NaturalEnd"))

    streamed = [(one["type"], one.get("delta")) for one in shown[0]["events"][1:-1]]
    assert streamed == [
        ("TEXT_MESSAGE_START", None), ("TEXT_MESSAGE_CONTENT", "done"), ("TEXT_MESSAGE_END", None),
    ]  # fmt: skip


def test_the_tokens_of_a_run_are_those_of_its_inferences(producer, shown):
    """Both are added up; a run without an inference names none."""
    for given, made in ((7, 3), (2, 1)):
        producer.said(DONE)
        producer.spent(given, made)
    producer.told("run.finished", ended("NaturalEnd"))
    producer.said(USER)
    producer.told("run.finished", ended("NaturalEnd"))

    usage = [one["events"][-1].get("usage", [{}])[0] for one in shown]
    assert [one.get("inputTokens") for one in usage] == [9, None]
    assert [one.get("outputTokens") for one in usage] == [4, None]


def test_a_call_that_is_asked_for_anew_has_a_message_of_the_model(producer, shown):
    """The next request has it after the result that came before it."""
    producer.said(LOOK)
    producer.told("call.asked", CALL)
    producer.told("call.answered", RESULT)
    producer.told("call.asked", {**CALL, "call": "c2"})
    producer.told("run.finished", ended("Suspended", "c2"))
    producer.told("run.started", {})
    producer.told("run.finished", ended("NaturalEnd"))

    messages = shown[1]["request"]["messages"]
    calls = [(one["role"], [call["id"] for call in one.get("toolCalls", ())]) for one in messages]
    assert calls == [("assistant", ["c1"]), ("tool", []), ("assistant", ["c2"])]


def test_a_permission_is_asked_for_and_answered_within_its_prompt(prompter, shown):
    """The prompt is answered once, after the call."""
    prompter.told("call.asked", CALL)
    prompter.told("run.finished", ended("Suspended", "c1"))
    prompter.told("decision.applied", {"call": "c1", "action": "resume"})
    prompter.told("call.answered", RESULT)
    prompter.told("run.finished", ended("NaturalEnd"))

    (prompt,) = shown
    assert [one["type"] for one in prompt["events"]] == [
        "prompt", "tool_call", "permission", "answer", "tool_call_update", "response",
    ]  # fmt: skip
    assert prompt["events"][3]["optionId"] == "allow"
