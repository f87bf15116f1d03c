"""Cancelling a turn of the reference loop, wherever it stands."""

import pytest
from loop_world import call


def test_a_cancel_while_streaming_keeps_the_text_as_declared(begun):
    """The request is given up, and no event says that it was complete."""
    one = begun()
    one.say("Hel")

    assert one.cancel() == []
    assert one.reason.code == "Cancelled"
    assert one.history == [("user", "hello"), ("assistant", "Hel")]
    assert "ProviderRequestCompleted" not in one.names()
    assert "Rendered" not in one.names()


def test_partial_text_may_be_dropped(begun):
    """Under the other policy the next turn does not see it."""
    one = begun({"partial.text": "dropped"})
    one.say("Hel")
    one.cancel()

    assert one.history == [("user", "hello")]


def test_a_cancel_closes_a_prompt(begun):
    """The prompt is closed, and its call has a result."""
    one = begun()
    one.respond(call("c1"))

    assert one.cancel() == []
    assert one.history[-1] == ("c1", "cancelled")
    assert "ToolInvocationStarted" not in one.names()


def test_a_cancel_closes_a_hook(begun):
    """The input of a turn that is cancelled at its first hook is not taken."""
    one = begun(hooks=[("h1", "RECEIVE_INPUT", "pre", "guard")])

    assert one.cancel() == []
    assert one.reason.code == "Cancelled"


def test_a_cancel_aborts_tools_that_run(begun):
    """An aborted call is cancelled, and a finished one keeps its result."""
    one = begun(mode="yolo")
    one.respond(call("c1"), call("c2"))
    one.release("tool:c1", content="r1")

    assert one.cancel() == []
    assert one.history[2:] == [("c1", "ok"), ("c2", "cancelled")]


def test_finished_results_may_be_dropped(begun):
    """Under `dropped`, a cancel drops the results of finished calls."""
    one = begun({"cancel.results": "dropped"}, mode="yolo")
    one.respond(call("c1"), call("c2"))
    one.release("tool:c1", content="r1")
    one.cancel()

    assert one.history[2:] == [("c1", "cancelled"), ("c2", "cancelled")]


def test_a_cancel_lets_tools_drain(begun):
    """A tool that ran ends by itself; one that was queued does not begin."""
    one = begun({"cancel.inflight": "drain", "round.executor": "sequential"}, mode="yolo")
    one.respond(call("c1"), call("c2"))

    assert one.cancel() == ["tool:c1"]
    assert one.reason is None
    assert one.release("tool:c1", content="r1") == []
    assert one.history[2:] == [("c1", "ok"), ("c2", "cancelled")]
    assert one.reason.code == "Cancelled"


def test_a_cancel_of_a_turn_that_is_over_changes_nothing(begun):
    """The reason does not change."""
    one = begun()
    one.respond()
    one.cancel()

    assert one.reason.code == "NaturalEnd"


def test_a_cancel_at_the_last_commit_loses(begun):
    """The turn has ended except for its checkpoint, so that it keeps its reason."""
    one = begun(held=["end"])

    assert one.respond() == ["store:end"]
    assert one.cancel() == ["store:end"]
    one.release("store:end")
    assert one.reason.code == "NaturalEnd"


@pytest.mark.parametrize("at", ["model", "tool:c1", "prompt:c2:i1"])
def test_the_next_turn_works_after_a_cancel(begun, at):
    """Its first request shows one result for each call."""
    one = begun(mode="allowlist", allowlist=("t0",), policies={"prompt.place": "overlapped"})
    if at != "model":
        one.respond(call("c1"), call("c2", "t1"))
    assert at in one.world.gates
    one.cancel()

    assert one.start("again") == ["model"]
    messages = one.world.shown["model"]["messages"]
    asked = [each["id"] for message in messages for each in message.get("tool_calls", ())]
    assert [message["call"] for message in messages if message["role"] == "tool"] == asked
    one.respond()
    assert one.reason.code == "NaturalEnd"
