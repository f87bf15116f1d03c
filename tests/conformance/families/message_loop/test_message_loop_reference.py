"""The reference message loop under the checks of its family."""

from collections import Counter

import pytest
from loop_walks import Walks

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.message_loop.host.hosted import Hosted
from runlock.conformance.families.message_loop.reference import factory
from runlock.conformance.family.chooser import Seeded

WALKS = 40


@pytest.mark.parametrize("profile", ["message-loop", "message-loop-core"])
def test_the_reference_passes_the_walks_of_the_kit(profile):
    """It violates no clause."""
    bench = Bench(lambda: Hosted(factory(profile)))
    tally = Tally()
    for index in range(WALKS):
        scenario = bench.scenarios[index % len(bench.scenarios)]
        bench.play(scenario, lambda session, index=index: walk(session, Seeded(1, index)), tally)
    bench.close()

    assert {clause: found.violation.reason for clause, found in tally.found.items()} == {}
    assert tally.troubles == []


@pytest.mark.long
def test_the_reference_passes_where_rare_things_happen():
    """Scenarios with bounds, budgets, guards, grants and stage executions."""
    walks, exercised = Walks(factory()), Counter()
    found = {}
    for index in range(WALKS):
        tally = walks.take(index)
        exercised.update(tally.exercised)
        found.update({clause: one.violation.reason for clause, one in tally.found.items()})
    walks.close()

    assert found == {}
    assert len(exercised) > 100
