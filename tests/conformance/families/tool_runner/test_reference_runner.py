"""The reference tool runner, driven through the protocol."""

import pytest

from runlock.conformance.families.tool_runner.host.hosted import HostedRunner
from runlock.conformance.families.tool_runner.reference import reference
from runlock.spec.model import load_spec

PROTOCOL = {
    "protocol": {"min": 1, "max": 1},
    "kit": {"name": "runlock", "version": "0"},
    "spec": {"revision": "1.0"},
}
TOOLS = [{"name": "t0"}, {"name": "t1"}, {"name": "t2", "offered": False}]


class Bench:
    """A reference runner, its open gates by their `on`, and what it reported."""

    def __init__(self, profile="tool-runner", policies=None, **options):
        self.sut = HostedRunner(reference(profile, policies or {}))
        self.seen, self.gates, self.refused, self.is_open = [], {}, [], True
        self.sut.request("scenario.open", {"scenario": "s", "tools": TOOLS, "runner": options})
        self.send("run.start", run="r1", input="hello")

    def send(self, method, **params):
        answer = self.sut.request(method, params)
        for one in answer["observations"]:
            self.seen.append(one)
            if one["kind"] == "gate.open":
                self.gates[one["gate"]] = one
            elif one["kind"] == "gate.closed":
                self.gates.pop(one["gate"], None)
        self.refused += answer["refused"]
        return answer["observations"]

    def open_on(self, on):
        return [gate for gate, opened in self.gates.items() if opened["on"] == on]

    def release(self, on, **outcome):
        gate = self.open_on(on)[0]
        if outcome["kind"] != "delta":
            del self.gates[gate]
        return self.send("gate.release", gate=gate, outcome=outcome)

    def turn(self, text, *calls, **more):
        asked = [{"id": one, "name": "t0", "args": {"k": one}} for one in calls]
        return self.release("model", kind="turn", text=text, tool_calls=asked, **more)

    def last_request(self):
        return [one for one in self.seen if one.get("on") == "model"][-1]["messages"]

    def finished(self):
        return [one["reason"]["code"] for one in self.seen if one["kind"] == "run.finished"]

    def close(self):
        self.is_open = False
        return self.sut.request("scenario.close", {})["leaks"]


@pytest.fixture
def begin():
    """Begins runs, and closes their scenarios when the test is over."""
    benches = []

    def begin_one(*args, **options):
        benches.append(Bench(*args, **options))
        return benches[-1]

    yield begin_one
    for bench in benches:
        if bench.is_open:
            bench.close()


@pytest.mark.parametrize("profile", list(load_spec("tool-runner").profiles))
def test_the_handshake_declares_every_policy_and_offers_everything(profile):
    """Every policy is declared, also those that the profile leaves open."""
    shaken = HostedRunner(reference(profile)).request("initialize", PROTOCOL)

    assert set(shaken["policies"]) == set(load_spec("tool-runner").policies)
    assert shaken["profile"] == profile
    assert set(shaken["stops"]) == set(load_spec("tool-runner").needs["stops"])
    assert set(shaken["stimuli"]) == set(load_spec("tool-runner").needs["stimulus"])


def test_a_run_from_its_request_to_its_end(begin):
    """Model, yield, tool, model, yield; then the run ends by itself, and nothing leaks."""
    bench = begin()
    bench.turn("a", "c1")
    bench.release("yield", kind="resume")
    bench.release("tool", kind="ok", content="done")
    bench.turn("end")
    bench.release("yield", kind="resume")

    assert [one["on"] for one in bench.seen if one["kind"] == "gate.open"] == [
        "model", "yield", "tool", "model", "yield"
    ]  # fmt: skip
    assert bench.finished() == ["NaturalEnd"]
    assert [one["message"]["role"] for one in bench.seen if one["kind"] == "message"] == [
        "assistant", "tool", "assistant"
    ]  # fmt: skip
    assert bench.close() == []


def test_a_response_is_shown_and_kept(begin):
    """The second request for a response runs no tool, and neither does the runner."""
    bench = begin()
    bench.turn("a", "c1")
    bench.send("runner.respond")
    bench.release("tool", kind="ok", content="done")
    bench.send("runner.respond")
    bench.release("yield", kind="resume")
    responses = [one for one in bench.seen if one["kind"] == "runner.response"]

    assert [one["cached"] for one in responses] == [False, True]
    assert len([one for one in bench.seen if one.get("on") == "tool"]) == 1
    assert bench.last_request()[-1]["text"] == "done"


def test_leaving_and_coming_back(begin):
    """A break ends the run; the next run continues with its calls."""
    bench = begin()
    bench.turn("a", "c1")
    bench.release("yield", kind="break")
    assert bench.finished() == ["BehaviorRequested"]

    bench.send("runner.again", run="r2")

    assert bench.open_on("tool") != []
    assert bench.refused == []


def test_a_runner_that_is_over_refuses(begin):
    """The refusal is reported, and no run begins."""
    bench = begin(policies={"again.break": "over"})
    bench.turn("a")
    bench.release("yield", kind="break")
    bench.send("runner.again", run="r2")

    assert [one["why"] for one in bench.refused] == ["the runner is over"]
    assert bench.gates == {}


def test_a_stream_reaches_its_reader_and_waits_for_the_resume(begin):
    """Pieces are reported as events, and the end with the whole turn."""
    bench = begin(stream=True)
    bench.release("model", kind="delta", text="a")
    bench.release("model", kind="delta", tool_call={"id": "c1", "name": "t0", "args": {"k": "c1"}})
    bench.turn("ab", "c1")
    shown = [(one["name"], one["data"]) for one in bench.seen if one["kind"] == "event"]

    assert [name for name, _ in shown] == ["delta", "delta", "end"]
    assert shown[-1][1]["text"] == "ab"
    assert bench.open_on("tool") == []


def test_a_fault_in_a_stream_ends_the_run_and_can_be_survived(begin):
    """The reader gets the fault; continued, the runner sends the same request."""
    bench = begin(stream=True)
    before = bench.last_request()
    bench.release("model", kind="fault", message="down")
    assert bench.finished() == ["Error"]

    bench.send("runner.again", run="r2")

    assert bench.last_request() == before


@pytest.mark.parametrize("stream", [False, True])
def test_a_cancel_gives_up_the_request(begin, stream):
    """The gate of the model closes, and the run is cancelled."""
    bench = begin(stream=stream)
    bench.send("cancel", run="r1")
    if bench.open_on("yield"):
        bench.release("yield", kind="resume")

    assert bench.gates == {}
    assert bench.finished() == ["Cancelled"]
    assert bench.close() == []


def test_a_look_shows_the_state(begin):
    """Messages without the received turn, the params, and the names of the tools."""
    bench = begin()
    bench.turn("a")
    bench.send("runner.set", params={"max_tokens": 7})
    bench.send("runner.tools", add=["t2"], remove=["t0"])
    shown = bench.sut.request("inspect", {"run": "r1"})

    assert [one["role"] for one in shown["messages"]] == ["user"]
    assert shown["params"] == {"max_tokens": 7}
    assert shown["tools"] == ["t1", "t2"]


def test_two_acts_of_one_race_keep_their_order(begin):
    """A push and the resume are delivered in one race."""
    bench = begin()
    bench.turn("a", "c1")
    gate = bench.open_on("yield")[0]
    push = {"method": "runner.push", "params": {"messages": [{"role": "user", "text": "x"}]}}
    release = {"method": "gate.release", "params": {"gate": gate, "outcome": {"kind": "resume"}}}
    bench.send("deliver", stimuli=[push, release])

    assert [one["text"] for one in bench.last_request()] == ["hello", "x"]
