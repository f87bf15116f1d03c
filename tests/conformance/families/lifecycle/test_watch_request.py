"""A runtime with one stream for each request: a watcher comes with each request, and at no other time."""

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages.handshake import ALL_STIMULI
from runlock.conformance.families.lifecycle.reference import ReferenceAdapter
from runlock.conformance.family.chooser import Seeded

WALKS = 12
STREAMS = ["ag-ui", "ai-sdk-v6"]


def bench(*stimuli):
    declared = {"stimuli": [*ALL_STIMULI, *stimuli], "streams": STREAMS}
    return Bench(lambda: Hosted(lambda: ReferenceAdapter("tirea", declare=declared)))


def test_each_request_brings_a_watcher_and_none_comes_alone():
    """Walks send starts and decisions with watchers, of each stream in turn; WIRE is judged, and holds."""
    opened, tally, sessions = bench("watch.request"), Tally(), []

    def play(session):
        sessions.append(session)
        walk(session, Seeded(len(sessions)))

    for number in range(WALKS):
        opened.play(opened.scenarios[number % len(opened.scenarios)], play, tally)
    sent = [part for session in sessions for move in session.sent for part in move.parts()]

    requests = [said for verb, said in sent if verb in ("run.start", "decide")]
    assert not {"watch", "unwatch"} & {verb for verb, _ in sent}
    assert [said for said in requests if "watcher" not in said] == []
    assert {said["stream"] for said in requests} == set(STREAMS)
    assert tally.found == {}
    assert all(tally.exercised[f"WIRE-{number}"] for number in (60, 61, 62, 63, 64, 65))


def test_scenarios_whose_watchers_come_alone_are_left_out():
    """What such a runtime does not take is a reason for each script that needs it."""
    handshakes = [bench(*stimuli).handshake for stimuli in ([], ["watch.request"], ["watch"])]
    played = [
        {one.scenario.scenario for one in corpus(FAMILY) if not applicable(FAMILY, one, of)}
        for of in handshakes
    ]

    assert "calls-on-a-stream-of-ag-ui" in played[1] - played[0]
    assert "watchers-come-and-go" not in played[1]
    assert played[0] < played[1] < played[2]
