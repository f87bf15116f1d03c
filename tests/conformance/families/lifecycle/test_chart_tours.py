"""Tours come where the charts say that a runtime can come, in few schedules, and the same ones each time."""

from __future__ import annotations

import pytest
from played_scripts import reasons
from tour_bench import PROFILES, ROUNDS, bench_of, toured, walked

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.campaign.stages import stages_of
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.actions import ACTIONS
from runlock.conformance.families.lifecycle.chart_tours import (
    CAUSES,
    HELD,
    LEADS,
    PLAIN,
    SCENES,
    TOURED,
    goals,
    is_reached,
    play_tours,
    shortest,
    tour,
)
from runlock.conformance.families.lifecycle.family import FAMILY, TOUR_SHARE
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.monitors.status_charts import CALLS
from runlock.conformance.families.lifecycle.variants import VARIANTS
from runlock.conformance.family.chooser import Seeded

SHARE = 3
"""A variant plays one tour in SHARE, the next variant from the next tour on."""

NOT_TAKEN = {("Run", ("RUN-1", "RUN-18")), ("RunWithCreated", ("RUN-1", "RUN-18"))}
"""A stop condition may end a run that waits; the reference leaves the run to its decision."""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("profile", PROFILES)
def test_every_goal_is_reached(profile):
    """Each arrow, and each two in a row, is taken by the reference within three tours that make for it."""
    bench = bench_of(profile)
    total = toured(bench, ROUNDS)

    assert {goal for goal in goals(bench) if not total.tours_reached[goal]} <= NOT_TAKEN
    assert (total.found, total.troubles) == ({}, [])


@pytest.mark.long
@pytest.mark.parametrize("profile", ["tirea", "awaken-9"])
def test_walks_alone_leave_more_out(profile):
    """As many walks as there were tours take fewer of the arrows and pairs."""
    bench = bench_of(profile)
    tours = toured(bench, 1)
    walks = walked(bench, tours.schedules)

    reached = [sum(is_reached(goal, tally.coverage) for goal in goals(bench)) for tally in (tours, walks)]
    assert reached[0] > reached[1]


@pytest.mark.sampled(1, nightly=5)
@pytest.mark.long
@pytest.mark.parametrize(
    ("variant", "shard"), [(one, at) for at, one in enumerate(VARIANTS)], ids=[one.name for one in VARIANTS]
)
def test_a_variant_passes_the_tours(variant, shard):
    """A tour is a schedule like any other: it blames no one for a freedom that is left open."""
    bench = Bench(lambda: Hosted(variant))
    every, total = goals(bench), Tally()
    for number in range(shard % SHARE, len(every), SHARE):
        tour(bench, every[number], 0, Seeded(0, number), total)

    assert reasons(total) == {}
    assert total.troubles == []


@pytest.mark.long
def test_a_tour_is_the_same_each_time():
    """The same number of the same seed makes the same moves, whatever was played before."""
    first, other = bench_of("awaken-9"), bench_of("awaken-9")
    toured(other, 1)

    goal = ("ToolCall", ("CALL-7", "CALL-13"))
    sent = [tour(bench, goal, 1, Seeded(3, 5), Tally()).sent for bench in (first, other)]
    assert sent[0] == sent[1]


def test_the_shards_share_the_tours_out():
    """Each tour is played by one shard, and every goal has its turn."""
    bench, total = bench_of("awaken-8"), Tally()
    every = goals(bench)
    for shard in range(16):
        total.add(play_tours(bench, shard, len(every), 0))

    assert set(total.tours_played) == set(every)
    assert set(total.tours_played.values()) == {1}


def test_tours_have_a_fixed_share_of_the_budget():
    """They take schedules from the walks, and add none."""
    stages = {stage.name: stage.schedules for stage in stages_of(Sampled(800), FAMILY)}

    assert stages["tours"] == 800 // TOUR_SHARE
    assert sum(stages.values()) - stages["scripted scenarios"] == 800


def test_the_tables_speak_of_what_there_is():
    """Every event is one of its chart, every class of action exists, every state is one of a chart."""
    events = {subject: set() for subject in CAUSES}
    states = set()
    for table in TOURED.values():
        events[table.subject].update(table.events)
        states.update(table.states)
    named = {name for causes in CAUSES.values() for names in causes.values() for name in names}

    for subject, causes in CAUSES.items():
        assert {key.rpartition(" ")[2] for key in causes} <= events[subject]
    assert named | set(LEADS) | set(PLAIN) <= set(ACTIONS)
    assert {state for state, _ in HELD} <= states
    assert {key.rpartition(" ")[2] for key in SCENES} <= set().union(*events.values())


def test_the_shortest_way_is_taken():
    """A call that waits is one arrow from Resuming and two from Running; nothing leaves a final state."""
    assert [row.clause for row in shortest(CALLS, "Suspended", "Running")] == ["CALL-7", "CALL-9"]
    assert shortest(CALLS, "Running", "Running") == ()
    assert shortest(CALLS, "Failed", "Running") is None
