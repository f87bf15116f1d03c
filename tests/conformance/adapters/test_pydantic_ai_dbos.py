"""pydantic-ai on DBOS, offline: what had not ended at a crash is recovered, step by step."""

import pytest
from hosted_fakes import OK, TURN, Talk, only, resume

pytest.importorskip("dbos")

from runlock.conformance.adapters.pydantic_ai_dbos import adapter

pytestmark = pytest.mark.filterwarnings("default")  # what a library warns of is not ours to fail on

TOOLS = [{"name": "t0"}, {"name": "t1", "permission": "ask"}]
CALLS = {
    "kind": "turn",
    "tool_calls": [{"id": "c1", "name": "t0", "args": {"k": "c1"}}, {"id": "c2", "name": "t1", "args": {}}],
}


@pytest.fixture
def talk(tmp_path):
    """A conversation about a run that waits for an approval of c2, after c1 has run."""
    talk = Talk(adapter, tools=TOOLS, data=str(tmp_path))
    talk.start()
    talk.release("g1", CALLS)
    talk.release("g2", OK)
    yield talk
    talk.sut.close()


def recovered(talk):
    """What comes first after a crash."""
    talk("crash")
    return only(talk("recover", run="r1"))


def test_a_run_that_waits_waits_again(talk):
    """Its requests are the output of the workflow that ended."""
    assert recovered(talk)["pending"] == ["c2"]


def test_a_step_that_had_not_ended_is_entered_again(talk):
    """The decision is an input of the workflow; the body is entered a second time, with it."""
    talk.decide(resume("c2"))
    again = recovered(talk)

    assert [again["call"], again["attempt"], again["resume"]["decision"]] == ["c2", 2, "d1"]


def test_a_step_that_had_ended_is_not_entered_again(talk):
    """Its result is read from the database, and the model is asked next."""
    talk.decide(resume("c2"))
    talk.release("g3", OK)
    asked = recovered(talk)

    assert asked["on"] == "model"
    assert [seen["call"] for seen in asked["messages"] if seen["role"] == "tool"] == ["c1", "c2"]
    assert only(talk.release(asked["gate"], TURN))["reason"] == {"code": "NaturalEnd"}
    assert talk("scenario.close") == {"leaks": []}


def test_a_decision_that_was_turned_down_does_not_end_the_run(talk):
    """Its workflow failed as a mistake of the caller, and the run waits as before, also after a crash."""
    (refused,) = talk.decide(resume("c9"))["refused"]

    assert "need to be provided for all deferred tool calls" in refused["why"]
    assert recovered(talk)["pending"] == ["c2"]


def test_a_run_that_was_cancelled_is_over(talk):
    """The step under way ends, its workflow does not go on, and the next run begins on the history before."""
    talk.decide(resume("c2"))
    talk("cancel", run="r1")
    assert only(talk.release("g3", OK))["reason"] == {"code": "Cancelled"}
    said = only(talk.start("r2"))["messages"]

    assert [seen["status"] for seen in said if seen["role"] == "tool"] == ["ok", "cancelled"]
