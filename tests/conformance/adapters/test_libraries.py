"""What the adapters of agent libraries have in common."""

import asyncio

import pytest

from runlock.conformance.adapters.libraries import (
    ABSENT,
    CALLED,
    YES_OR_NO,
    Thread,
    given,
    offers,
    parts,
)
from runlock.conformance.families.lifecycle.adapter import Segment
from runlock.conformance.families.lifecycle.messages import Scenario
from runlock.conformance.protocol import ToolCall, Turn


@pytest.fixture
def thread():
    """A thread of which nothing has been asked yet."""
    thread = Thread()
    asyncio.run(thread.open(None, Scenario(scenario="s")))
    return thread


def test_a_segment_that_leaves_requests_is_suspended_on_their_calls(thread):
    """A call that waits twice is named twice, as the library says it."""
    requests = [("c1", "a"), ("c2", "b"), ("c1", "c")]

    assert thread.ended(requests, "Cancelled") == Segment("Suspended", ["c1", "c2", "c1"])
    assert thread.asked == {"c1": "c", "c2": "b"}


def test_a_segment_that_leaves_none_ends_as_it_is_said_to(thread):
    """What was asked before is still known: a decision may name a call that waits no more."""
    thread.ended([("c1", "a")])

    assert thread.ended([]) == Segment("NaturalEnd")
    assert thread.ended([], "Cancelled") == Segment("Cancelled")
    assert (thread.asked, thread.waiting) == ({"c1": "a"}, [])


def test_a_library_takes_a_yes_or_a_no_between_two_segments():
    """Its handshake names the installed version, and offers no decision while it works."""
    handshake = offers("tests", "pytest", tool=["ok"], policies={"state": "caller"})

    assert handshake.implementation.version == pytest.__version__
    assert handshake.decisions == YES_OR_NO
    assert not YES_OR_NO.live
    assert not YES_OR_NO.payload


def test_a_library_with_a_hook_has_a_permission_gate():
    """It is asked about the tools that have one, and says no more than it can."""
    plain = offers("tests", "pytest", tool=["ok"], policies={})
    hooked = offers("tests", "pytest", tool=["ok"], policies={}, permission=["allow", "suspend"])

    assert (plain.gates, plain.tools) == (["model", "tool"], ["allow", "ask"])
    assert (hooked.gates, hooked.tools) == (["model", "tool", "permission"], ["allow", "ask", "gate"])
    assert hooked.outcomes.permission == ["allow", "suspend"]


def test_the_text_of_a_turn_stands_before_its_calls():
    """A turn without text has no part for it."""
    calls = [ToolCall(id="c1", name="t0"), ToolCall(id="c2", name="t0")]

    assert parts(Turn(text="a", tool_calls=calls), str.upper, lambda call: call.id) == ["A", "c1", "c2"]
    assert parts(Turn(tool_calls=calls), str.upper, lambda call: call.id) == ["c1", "c2"]


def test_what_a_call_left_out_is_no_argument_of_it():
    """A default of a body is left out, and an empty or missing value that was given is not."""
    assert given(k=ABSENT, v=None) == {"v": None}
    assert given(k="", v=ABSENT) == {"k": ""}


def test_a_library_says_what_else_ends_a_turn_what_a_tool_may_be_and_whether_it_is_steered():
    """Left out, a turn is whole or fails, a tool has no limit, and input waits for the end of a run."""
    plain = offers("tests", "pytest", tool=["ok"], policies={})
    more = offers(
        "tests", "pytest", tool=["ok"], policies={}, model=["length"], tools=["timeout"], steered=True
    )

    assert (plain.outcomes.model, plain.tools, plain.inputs.working) == (
        ["turn", "fault"],
        ["allow", "ask"],
        False,
    )
    assert (more.outcomes.model[2:], more.tools[2:], more.inputs.working) == (["length"], ["timeout"], True)


def test_a_library_whose_run_is_a_call_declares_what_follows_from_that():
    """What an adapter says more comes before it, and a crash loses what was handed out unless it says so."""
    plain = offers("tests", "pytest", tool=["ok"], policies={"state": "caller"})
    more = offers("tests", "pytest", tool=["ok"], policies={"grant.scopes": ["run"]}, keeps_waits=True)

    assert plain.policies == {**CALLED, "state": "caller"}
    assert (plain.policies["grant.scopes"], more.policies["grant.scopes"]) == (["once"], ["run"])
    assert (plain.control.told, more.control.told) == ("lost", "kept")
