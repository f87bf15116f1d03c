"""The hosted interface in JavaScript, where the user acts in a listener that the runner does not wait for."""

import shutil
from pathlib import Path

import pytest
from places import DOUBLES

from runlock.conformance import adapters
from runlock.conformance.protocol import ProtocolError
from runlock.conformance.transport.stdio import Pipe

NODE = shutil.which("node")
HOST = Path(adapters.__file__).parent / "node" / "runlock_runner.mjs"
ASKS = {"kind": "turn", "tool_calls": [{"id": "c1", "name": "t0", "args": {}}]}

pytestmark = pytest.mark.skipif(NODE is None, reason="there is no `node` on the PATH")


@pytest.fixture
def runner():
    """A run whose user has a turn with a call; gives what sends a verb."""
    pipe = Pipe([str(NODE), str(DOUBLES / "runner_with_events.mjs"), str(HOST)], timeout_scale=6)
    pipe.request("initialize", {"protocol": {"min": 1, "max": 1}, "kit": {"name": "t", "version": "1"}})
    ask(pipe.request)
    yield pipe.request
    pipe.close()


def ask(request):
    """Begin a run and give it a turn; what the kit sees of it."""
    request("scenario.open", {"scenario": "s", "tools": [{"name": "t0"}]})
    request("run.start", {"run": "r1", "input": "hello"})
    return seen(request("gate.release", {"gate": "g1", "outcome": ASKS}))


def seen(report):
    """What was observed: a gate that opened, or the reason of an end."""
    return [one.get("on") or one["reason"]["code"] for one in report["observations"]]


def release(runner, kind):
    """What is seen when the user resumes or leaves."""
    return seen(runner("gate.release", {"gate": "g2", "outcome": {"kind": kind}}))


def test_nothing_runs_while_the_user_has_a_turn(runner):
    """Looks and other verbs are answered from within the listener; the tool starts after the resume."""
    shown = runner("inspect", {"run": "r1"})
    assert (shown["iteration"], len(shown["messages"])) == (1, 2)
    assert seen(runner("settle", {})) == seen(runner("clock.advance", {"ms": 5})) == []
    assert release(runner, "resume") == ["tool"]


def test_the_user_leaves_in_the_listener(runner):
    """The runner learns it before it goes on, and the run ends."""
    assert release(runner, "break") == ["BehaviorRequested"]


def test_a_cancel_reaches_the_runner_in_the_listener(runner):
    """It does not wait for the event loop."""
    assert seen(runner("cancel", {"run": "r1"})) == []
    assert release(runner, "resume") == ["Cancelled"]


def test_verbs_that_come_together_are_taken_in_order(runner):
    """What is delivered with the resume acts before the listener returns."""
    resume = {"method": "gate.release", "params": {"gate": "g2", "outcome": {"kind": "resume"}}}
    cancel = {"method": "cancel", "params": {"run": "r1"}}
    assert seen(runner("deliver", {"stimuli": [cancel, resume]})) == ["Cancelled"]


def test_a_wrong_verb_is_an_error_and_the_user_still_has_the_turn(runner):
    """The listener goes on waiting."""
    with pytest.raises(ProtocolError, match="gate g9 is not open"):
        runner("gate.release", {"gate": "g9", "outcome": {"kind": "ok"}})
    assert release(runner, "resume") == ["tool"]


def test_a_scenario_that_ends_in_the_listener_leaves_nothing_behind(runner):
    """The next one begins as the first did."""
    assert runner("scenario.close", {}) == {"leaks": []}
    assert ask(runner) == ["yield"]
