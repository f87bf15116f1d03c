"""Walks propose what is enabled, prefer what was tried least, and continue scripts."""

from contextlib import closing

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.strategies.random_walk import LENGTHS, Tried, planned, run_shard, scripts_of
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import PLAIN, Seeded
from runlock.conformance.family.family import Family, families, family_named

LIFECYCLE = family_named("lifecycle")


def reference(family: Family) -> Bench:
    """The default reference of a family."""
    return Bench(lambda: family.host(family.made.reference(family.default_profile, {}, None)))


def walks(bench: Bench, count: int) -> list[Session]:
    """The first walks of a shard, played."""
    played: list[Session] = []
    tried, scripts = Tried(), scripts_of(bench)
    for number in range(count):
        scenario, schedule = planned(bench, number, scripts, tried, Seeded(3, number))
        session = bench.play(scenario, schedule, Tally())
        assert session is not None
        played.append(session)
    return played


@pytest.mark.parametrize("family", families(), ids=lambda one: one.name)
def test_a_walk_sends_what_is_enabled(family: Family) -> None:
    """Most of what it sends is taken: on average more than a few moves before the run is wound up."""
    with closing(reference(family)) as bench:
        played = walks(bench, 30)

    assert sum(len(one.sent) for one in played) > 30 * LENGTHS.start * 4
    assert all(one.violation is None for one in played)


def test_what_was_tried_least_comes_first() -> None:
    """In each situation for itself."""
    tried, here, there = Tried(), frozenset({"model"}), frozenset({"tool"})

    assert [tried.least(here, ["a", "b"], PLAIN) for _ in range(3)] == ["a", "b", "a"]
    assert tried.least(there, ["a", "b"], PLAIN) == "a"


@pytest.mark.parametrize("family", families(), ids=lambda one: one.name)
def test_a_shard_is_the_same_each_time(family: Family) -> None:
    """What it tried before is its own: the same seed gives the same stimuli."""
    with closing(reference(family)) as one, closing(reference(family)) as other:
        first, again = run_shard(one, 3, 8, seed=4), run_shard(other, 3, 8, seed=4)

    assert (first.stimuli, first.exercised) == (again.stimuli, again.exercised)
    assert first.stimuli > 0


@pytest.mark.parametrize("family", families(), ids=lambda one: one.name)
def test_scenarios_combine_features(family: Family) -> None:
    """A walk of the default reference is played in one of them, and each has a name of its own."""
    with closing(reference(family)) as bench:
        names = [one.scenario for one in bench.combined]
        scenarios = {session.scenario.scenario for session in walks(bench, 9)}

    assert len(names) == len(set(names)) > len(bench.scenarios) // 2
    assert scenarios & set(names)
