"""Calls are known by what the kit marked, also where a runtime gives them other ids."""

import pytest

from runlock.conformance.protocol import Message, ToolCall
from runlock.conformance.wires.identity import Identity

MARK = "~a"


@pytest.mark.parametrize(
    ("shown", "known"),
    [
        (["c1", "c1"], ["c1", "c1"]),
        (["c1", "renamed"], ["c1", "c1-2"]),
        (["one", "two"], ["c1", "c1-2"]),
        (["one", "one"], ["c1", "c1"]),
    ],
    ids=["the same", "the second has another", "each has another", "both have the same other one"],
)
def test_two_calls_with_one_id_are_told_apart_by_a_runtime_that_renames_them(shown, known):
    """Then each has a result of its own; one that leaves their ids alone has two under one."""
    identity = Identity(MARK, {"read": "read"})
    asked = identity.asked([ToolCall(id="c1", name="read", args={"k": "c1"}) for _ in range(2)])
    calls = [one.model_copy(update={"id": name}) for one, name in zip(asked, shown, strict=True)]
    turn = identity.seen(Message(role="assistant", tool_calls=calls))
    results = [identity.seen(Message(role="tool", call=name, text="read")).call for name in shown]

    assert [call.id for call in turn.tool_calls] == results == known
