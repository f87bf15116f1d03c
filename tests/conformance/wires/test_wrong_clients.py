"""What a client sends that a good one would not: each is generated, and a wrong application is blamed."""

from collections import Counter

import pytest
from client_variants import CLIENT_BOUND
from played_scripts import reasons
from served_apps import site

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import run_shard
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.actions.decisions import ELSEWHERE
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import DecisionSupport, InputSupport, Scenario
from runlock.conformance.families.lifecycle.messages.stimuli import ABANDONED
from runlock.conformance.families.lifecycle.reference import ReferenceAdapter
from runlock.conformance.trace.moves import Move

STREAM = {"stream": "ag-ui"}
TAKES = {
    "decisions": DecisionSupport(live=False, ids=False, abandon=True, elsewhere=True),
    "inputs": InputSupport(working=False, newest=True),
    "stimuli": ["decide", "run.again", "run.input", "watch.request"],
}


class Takes(ReferenceAdapter):
    """The reference, which says that its client may do all this."""

    def __init__(self):
        super().__init__(declare=TAKES)

    def leave_out(self):
        """It has the messages."""


@pytest.mark.long
def test_all_of_it_is_generated():
    """In random schedules, next to what a good client sends."""
    bench, sent = Bench(lambda: Hosted(Takes)), Counter()

    def noted(session, tally):
        for move in session.sent:
            decisions = move.params.get("decisions", ())
            sent["without the earlier messages"] += move.params.get("resent") == "none"
            sent["abandoned"] += any(one.get("payload") == ABANDONED for one in decisions)
            sent["elsewhere"] += any(one["call"].startswith(ELSEWHERE) for one in decisions)

    bench.enter = noted
    run_shard(bench, 0, 150, 1)
    bench.close()

    assert [one for one, times in sent.items() if not times] == []


@pytest.fixture(scope="module")
def apps():
    """Applications that a client of this kind misleads, and the right one."""
    with site(CLIENT_BOUND) as found:
        yield found


def turn(*calls, text=""):
    """The model asks for calls of these tools."""
    asked = [{"id": name, "name": tool, "args": {"k": name}} for name, tool in calls]
    outcome = {"kind": "turn", "text": text, "tool_calls": asked, "usage": {"input": 0, "output": 0}}
    return Move("gate.release", {"gate": "model", "outcome": outcome})


def decide(action, call, run="r1", **more):
    """A request that decides one call."""
    decision = {"id": f"d-{call}", "call": call, "action": action, **more}
    return Move("decide", {"run": run, "decisions": [decision], "watcher": f"w-{call}", **STREAM})


def start(run, **more):
    """A request that begins a run."""
    return Move("run.start", {"run": run, "input": f"hello {run}", "watcher": f"w{run}", **STREAM, **more})


WAITS = [start("r1"), turn(("c1", "write"))]
SCHEDULES = {
    "runs-the-abandoned": [*WAITS, decide("cancel", "c1", payload=ABANDONED)],
    "one-inbox-for-all": [*WAITS, decide("resume", f"{ELSEWHERE}c1")],
    "asks-not-which": [
        *WAITS,
        decide("cancel", "c1"),
        turn(text="well"),
        start("r2"),
        turn(("c2", "write")),
        decide("resume", "c1", "r2"),
    ],
    "has-no-thread": [start("r1"), turn(text="well"), start("r2", resent="none")],
}
"""By an application that it misleads."""


def played(apps, name, moves):
    """The clause that the moves break, with its reason, or none."""
    bench = apps.bench(name)
    tools = [{"name": "write", "permission": "ask"}, {"name": "read", "permission": "allow"}]
    scenario = Scenario.model_validate({"scenario": "s", "tools": tools})

    def schedule(session):
        session.play(moves)
        session.close()

    tally = Tally()
    bench.play(scenario, schedule, tally)
    bench.close()
    assert tally.troubles == []
    return reasons(tally)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SCHEDULES)
def test_the_right_application_is_not_misled(apps, name):
    """It does what the protocol says."""
    assert played(apps, "right", SCHEDULES[name]) == {}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "clause"),
    [("runs-the-abandoned", "GATE-2"), ("one-inbox-for-all", "DECIDE-3"), ("asks-not-which", "DECIDE-3")],
)
def test_a_wrong_application_is_blamed(apps, name, clause):
    """By the schedule that it does not stand."""
    assert clause in played(apps, name, SCHEDULES[name])


def test_a_thread_of_the_client_is_sent_whole(apps):
    """Where the application has no messages but those of a request, none is left out."""
    assert apps.wire("right").learned.remembers
    assert not apps.wire("has-no-thread").learned.remembers
    assert played(apps, "has-no-thread", [start("r1"), turn(text="well"), start("r2")]) == {}


def test_a_run_may_end_with_the_question_that_was_given_up(apps):
    """The protocol leaves it open; the next run is shown what became of the call."""
    given_up = SCHEDULES["runs-the-abandoned"]

    assert played(apps, "ends-with-the-abandoned", [*given_up, start("r2"), turn(text="well")]) == {}
