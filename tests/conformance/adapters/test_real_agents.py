"""The adapters of real agents, offline: what each must show before anything of it is judged.

An agent that is not installed is skipped: `runlock matrix --install` makes an environment for each.
"""

import contextlib

import pytest
from places import ROOT

from runlock.conformance.campaign.environments import ENVIRONMENTS
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.protocol import ProtocolError

pytestmark = pytest.mark.long  # an agent takes seconds to start

MADE = ROOT / ENVIRONMENTS
AGENTS = [one for one in runtimes() if one.family == "message-loop"]
HELLO = {
    "protocol": {"min": 1, "max": 1},
    "kit": {"name": "runlock", "version": "1"},
    "spec": {"revision": "1.0"},
}
SCENARIO = {
    "scenario": "s", "tools": [{"name": "t0"}, {"name": "t1"}], "mode": "ask", "interactors": ["i1"],
}  # fmt: skip


class Conversation:
    """A session of an agent over the pipe; its open gates by what they wait for, and about which call."""

    def __init__(self, target, folder):
        self.sut = resolve(target).open()
        self.folder = str(folder)
        self.sut.request("initialize", HELLO)  # which has time for the agent to start
        self.open()

    def open(self, **scenario):
        self.gates, self.seen = {}, []
        self.sut.request("scenario.open", {**SCENARIO, "data": self.folder, **scenario})

    def send(self, method, **params):
        """What is reported, in short words."""
        news = self.sut.request(method, params)["observations"]
        self.seen += news
        opened = [one for one in news if one["kind"] == "gate.open"]
        self.gates |= {(one["on"], one.get("call")): one["gate"] for one in opened}
        return [short(one) for one in news if one["kind"] != "event"]

    def release(self, on, call=None, **outcome):
        return self.send("gate.release", gate=self.gates.pop((on, call)), outcome=outcome)

    def says(self, *calls, text=""):
        asked = [{"id": call, "name": name, "args": {"k": call}} for call, name in calls]
        return self.release("model", kind="turn", text=text, tool_calls=asked, terminal=False)

    def results(self):
        """The calls that have a result in the newest request to the model."""
        newest = [one for one in self.seen if one.get("on") == "model"][-1]
        return [one["call"] for one in newest["messages"] if one["role"] == "tool"]


def short(seen):
    if seen["kind"] == "gate.open":
        return f"{seen['on']} {seen.get('call') or seen['step']}"
    return f"end {seen['reason']['code']}" if seen["kind"] == "run.finished" else seen["kind"]


@pytest.fixture(params=AGENTS, ids=lambda one: one.name)
def agent(request, tmp_path):
    """A conversation with each agent that is installed."""
    runtime = request.param
    if not runtime.is_installed(MADE):
        pytest.skip(f"{runtime.name} is not installed here: there is no {runtime.place(MADE)}")
    one = Conversation(runtime.target(MADE), tmp_path)
    yield one
    with contextlib.suppress(ProtocolError):  # it may be closed by now
        one.sut.request("scenario.close", {})
    one.sut.close()


def test_each_call_of_a_turn_is_asked_about_and_runs_or_does_not(agent):
    """One is allowed and runs, one is denied, and the next request has a result of each."""
    assert agent.send("run.start", run="r1", input="hello") == ["model 1"]
    assert agent.says(("c1", "t0"), ("c2", "t1")) == ["prompt c1"]
    assert "tool c1" in agent.release("prompt", "c1", kind="allow")
    agent.release("tool", "c1", kind="ok", content="fine")
    assert "tool c2" not in agent.release("prompt", "c2", kind="deny", message="no")
    if ("model", None) not in agent.gates:  # a denial ends the turn of opencode
        agent.send("run.start", run="r2", input="again")
    assert agent.results() == ["c1", "c2"]
    assert agent.says(text="bye") == ["end NaturalEnd"]


def test_a_tool_on_the_list_runs_unasked(agent):
    """The rules are those of the scenario: the list is gone in the next one of the same process."""
    for listed, opened in (["t0"], "tool c1"), ([], "prompt c1"):
        agent.sut.request("scenario.close", {})
        agent.open(mode="allowlist", allowlist=listed)
        agent.send("run.start", run="r1", input="hello")
        assert [one for one in agent.says(("c1", "t0")) if not one.startswith("gate")] == [opened]


def test_a_cancel_while_a_permission_is_asked_for_ends_the_turn(agent):
    """The request is given up, nothing runs, and the next turn begins."""
    agent.send("run.start", run="r1", input="hello")
    agent.says(("c1", "t0"), ("c2", "t1"))

    assert agent.send("cancel", run="r1") == ["gate.closed", "end Cancelled"]
    assert agent.send("run.start", run="r2", input="again") == ["model 1"]
    assert agent.says(text="bye") == ["end NaturalEnd"]


def test_a_cancel_while_a_tool_runs_ends_the_turn(agent):
    """It ends as cancelled, whether or not the agent gives up the tool."""
    agent.send("run.start", run="r1", input="hello")
    agent.says(("c1", "t0"))
    agent.release("prompt", "c1", kind="allow")

    assert agent.send("cancel", run="r1")[-1] == "end Cancelled"


def test_text_is_shown_as_it_comes(agent):
    """Each piece of a response is published, in order."""
    agent.send("run.start", run="r1", input="hello")
    model = agent.gates["model", None]
    agent.send("gate.release", gate=model, outcome={"kind": "delta", "text": "by"})
    agent.says(text="bye")
    texts = [one["data"]["text"] for one in agent.seen if one.get("name") == "ProviderTokensStreamed"]

    assert texts == ["by", "e"]
