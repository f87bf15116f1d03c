"""The reference message loop under the checks of its family."""

from collections import Counter

import pytest
from loop_walks import Walks
from played_scripts import reasons, walks_on

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.message_loop.host.hosted import Hosted
from runlock.conformance.families.message_loop.reference import factory

WALKS = 40


@pytest.mark.parametrize("profile", ["message-loop", "message-loop-core"])
def test_the_reference_passes_the_walks_of_the_kit(profile):
    """It violates no clause."""
    bench = Bench(lambda: Hosted(factory(profile)))
    tally = walks_on(bench, range(WALKS), 1, Tally())
    bench.close()

    assert reasons(tally) == {}
    assert tally.troubles == []


@pytest.mark.long
def test_the_reference_passes_where_rare_things_happen():
    """Scenarios with bounds, budgets, guards, grants and stage executions."""
    walks, exercised = Walks(factory()), Counter()
    found = {}
    for index in range(WALKS):
        tally = walks.take(index)
        exercised.update(tally.exercised)
        found.update(reasons(tally))
    walks.close()

    assert found == {}
    assert len(exercised) > 100
