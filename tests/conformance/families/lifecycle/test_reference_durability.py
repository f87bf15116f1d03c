"""`durability=call` on the reference: what a call came to is durable before anything makes use of it."""

import pytest

from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import ReferenceAdapter

CALLS = ("c1", "c2", "c3")
ASKS = {
    "kind": "turn",
    "text": "",
    "tool_calls": [{"id": call, "name": "read", "args": {"k": call}} for call in CALLS],
}
ONE_BY_ONE = {"durability": "call", "round.executor": "sequential"}


class Talk:
    """A scenario on the reference, told by the calls whose gates are open."""

    def __init__(self, profile, policies, permission="allow", hold=()):
        self.sut = Hosted(lambda: ReferenceAdapter(profile, policies))
        tools = [{"name": "read", "permission": permission}]
        self.sut.request("scenario.open", {"scenario": "s", "tools": tools, "hold": list(hold)})
        self.open, self.stored = {}, []
        self("run.start", run="r1", input="hello")
        self.release("model", ASKS)

    def __call__(self, method, **params):
        """One stimulus; what was seen."""
        seen = self.sut.request(method, params).get("observations", [])
        for one in seen:
            if one["kind"] == "gate.open":
                self.open[one.get("call") or one["on"]] = one
            if one["kind"] == "checkpoint":
                self.stored.append(one)
        return seen

    def release(self, name, outcome):
        """Release the open gate of a call, of the model or of the store."""
        return self("gate.release", gate=self.open.pop(name)["gate"], outcome=outcome)

    def crash(self):
        """Lose everything, and come back from what is durable."""
        self("crash")
        self.open.clear()
        return self("recover", run="r1", store=self.stored[-1]["state"])


def statuses(state):
    """The status of each call of a checkpoint."""
    return [call["status"] for call in state["calls"].values()]


@pytest.mark.parametrize("profile", ["tirea", "awaken-9"])
def test_the_result_of_a_call_is_durable_before_the_next_one_is_entered(profile):
    """One by one, a crash costs the call in flight and no other."""
    talk = Talk(profile, ONE_BY_ONE)
    seen = [one["kind"] for one in talk.release("c1", {"kind": "ok", "content": "one"})]
    assert seen.index("checkpoint") < seen.index("gate.open")
    newest = talk.stored[-1]
    assert (newest["trigger"], newest["cause"]) == ("CallCommitted", "call")
    assert statuses(newest["state"]) == ["Succeeded", "New", "New"]
    assert newest["state"]["messages"][-1]["text"] == "one"

    talk.crash()
    assert list(talk.open) == ["c2"]


def test_a_body_that_answered_pending_is_not_entered_again():
    """That a call waits is what it came to; it is as durable as a result."""
    talk = Talk("awaken-8", {"durability": "call"})
    talk.release("c2", {"kind": "pending"})
    talk.crash()
    assert sorted(talk.open) == ["c1", "c3"]
    assert statuses(talk.stored[-1]["state"]) == ["Running", "Suspended", "Running"]


def test_a_newer_state_is_not_overtaken_by_an_older_one():
    """While one checkpoint is on its way the next one waits, and then holds all that has happened."""
    talk = Talk("awaken-8", {"durability": "call"}, hold=["store.put"])
    talk.release("c1", {"kind": "ok", "content": "one"})
    first = talk.open["store.put"]
    talk.release("c2", {"kind": "ok", "content": "two"})
    assert talk.open["store.put"] is first

    talk.release("store.put", {"kind": "ok"})
    assert statuses(first["state"]) == ["Succeeded", "Running", "Running"]
    assert statuses(talk.open["store.put"]["state"]) == ["Succeeded", "Succeeded", "Running"]


def test_a_replay_that_a_crash_cuts_short_keeps_its_decision():
    """Of two replays one is over and durable; the other begins again, and no one is asked again."""
    talk = Talk("awaken-8", {"durability": "call"}, permission="ask")
    decisions = [{"id": f"d-{call}", "call": call, "action": "resume"} for call in CALLS]
    talk("decide", run="r1", decisions=decisions)
    talk.release("c1", {"kind": "ok", "content": "one"})
    assert list(talk.stored[-1]["state"]["decisions"]) == ["c2", "c3"]

    talk.crash()
    assert {call: gate["resume"]["decision"] for call, gate in talk.open.items()} == {
        "c2": "d-c2",
        "c3": "d-c3",
    }


def test_a_step_that_a_crash_cut_short_ends_before_the_next_one_begins():
    """With every result of the round durable, what is left of the step is its end."""
    talk = Talk("awaken-8", ONE_BY_ONE, hold=["store.put"])
    for call in CALLS:
        talk.release(call, {"kind": "ok"})
        talk.release("store.put", {"kind": "ok"})
    assert statuses(talk.stored[-1]["state"]) == ["Succeeded"] * 3
    assert talk.open["store.put"]["trigger"] == "StepEnd"

    assert [one["phase"] for one in talk.crash() if one["kind"] == "phase"] == ["StepEnd"]
    assert talk.open["store.put"]["trigger"] == "StepEnd"
    talk.release("store.put", {"kind": "ok"})
    assert list(talk.open) == ["model"]
