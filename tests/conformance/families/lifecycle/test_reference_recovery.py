"""A checkpoint that contradicts itself: the reference goes on from none of it, and says why."""

import pytest

from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import factory


def waiting(sut):
    """The last checkpoint of a run in which call c1 waits for a decision."""
    sut.request("initialize", {"kit": {"name": "k", "version": "0"}})
    sut.request("scenario.open", {"scenario": "s", "tools": [{"name": "write", "permission": "ask"}]})
    sut.request("run.start", {"run": "r1", "input": "write it"})
    turn = {"kind": "turn", "tool_calls": [{"id": "c1", "name": "write", "args": {"k": "c1"}}]}
    seen = sut.request("gate.release", {"gate": "g1", "outcome": turn})["observations"]
    return [one["state"] for one in seen if one["kind"] == "checkpoint"][-1]


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        (["c1"], "decision d9 of the checkpoint is about call c9; the checkpoint holds c1"),
        ([], "decision d9 of the checkpoint is about call c9; the checkpoint holds no call"),
    ],
)
def test_a_decision_about_an_unknown_call_is_refused(calls, why):
    """The decision, its call and the calls that there are stand in one sentence; the run never was."""
    sut = Hosted(factory())
    state = waiting(sut)
    state["calls"] = {call: state["calls"][call] for call in calls}
    state["decisions"] = {"c9": {"id": "d9", "action": "resume", "payload": None}}
    sut.request("crash", {})

    answer = sut.request("recover", {"run": "r1", "store": state})
    again = sut.request("run.start", {"run": "r2", "input": "another"})

    assert [one["why"] for one in answer["refused"]] == [why]
    assert answer["observations"] == []
    assert again["refused"] == []


def test_a_checkpoint_that_is_whole_is_taken():
    """The same checkpoint without that decision is what the run goes on from."""
    sut = Hosted(factory())
    state = waiting(sut)
    sut.request("crash", {})

    answer = sut.request("recover", {"run": "r1", "store": state})

    assert answer["refused"] == []
    assert {"kind": "run.status", "run": "r1", "from": None, "to": "Waiting"}.items() <= answer[
        "observations"
    ][0].items()
