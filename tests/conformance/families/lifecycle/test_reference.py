"""What the reference once did wrong, in schedules that chance found and no script of the corpus holds."""

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario, ToolSpec
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.trace.moves import Move, race


def decide(number: int) -> Move:
    """A decision that lets a call go on."""
    decision = {"id": f"d{number}", "call": f"c{number}", "action": "resume", "payload": None}
    return Move("decide", {"run": "r1", "decisions": [decision]})


def release(gate: str, **outcome: object) -> Move:
    """An answer of the outside world."""
    return Move("gate.release", {"gate": gate, "outcome": outcome})


def test_a_cancelled_run_does_not_wait_for_what_is_decided():
    """A cancel meets a replay that answers pending while the other call is decided: the run is Cancelled."""
    asked = [{"id": call, "name": "asking", "args": {"k": call}} for call in ("c1", "c2")]
    pending, cancel = release("tool:c1", kind="pending"), Move("cancel", {"run": "r1"})
    bench = Bench(lambda: Hosted(factory("tirea")))
    session = bench.session(Scenario(scenario="asked", tools=[ToolSpec(name="asking", permission="ask")]))

    session.play([Move("run.start", {"run": "r1", "input": "go"})])
    session.play([release("model", kind="turn", text="", tool_calls=asked)])
    session.play([decide(1), decide(2), race([pending, cancel])])
    session.close()

    assert session.violation is None
    assert session.state.runs["r1"].claims == ["Running", "Waiting", "Running", "Done"]


@pytest.mark.parametrize("what", ["supersede", "placeholder"])
def test_a_held_back_call_has_its_place_in_front_of_an_input(what):
    """An input meets a round that one call suspended and another was held back in: history stays in order."""
    asked = [{"id": call, "name": "reading", "args": {"k": call}} for call in ("c1", "c2")]
    policies = {"round.executor": "sequential", "round.rest": "deferred", "input.waiting": what}
    bench = Bench(lambda: Hosted(factory("awaken-8", policies)))
    session = bench.session(Scenario(scenario="read", tools=[ToolSpec(name="reading")]))

    session.play([Move("run.start", {"run": "r1", "input": "go"})])
    session.play(
        [release("model", kind="turn", text="", tool_calls=asked), release("tool:c1", kind="pending")]
    )
    session.play([Move("run.input", {"run": "r1", "input": "rather this"}), release("tool:c2", kind="ok")])
    session.close()

    assert session.violation is None
    history = [message.call for message in session.state.last_model_gate.opened.messages]
    assert history == [None, None, "c1", "c2", None]


def test_nothing_is_replayed_once_a_call_took_the_run_down():
    """A decision comes in the very turn in which one call of a round breaks the run: it does not act."""
    tools = {"c1": "reading", "c2": "reading", "c3": "asking"}
    asked = [{"id": call, "name": name, "args": {"k": call}} for call, name in tools.items()]
    breaks = release("tool:c1", kind="fault", message="the disk is full")
    bench = Bench(lambda: Hosted(factory("tirea-stream")))
    offered = [ToolSpec(name="reading"), ToolSpec(name="asking", permission="ask")]
    session = bench.session(Scenario(scenario="mixed", tools=offered))

    session.play([Move("run.start", {"run": "r1", "input": "go"})])
    session.play([release("model", kind="turn", text="", tool_calls=asked)])
    session.play([Move(breaks.method, {**breaks.params, "turns": 2}), decide(3)])
    session.close()

    assert session.violation is None
    assert session.state.runs["r1"].calls["c3"].entries == []
    assert session.state.runs["r1"].is_done
