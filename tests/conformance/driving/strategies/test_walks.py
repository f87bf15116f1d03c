"""Walks propose what is enabled, prefer what was tried least, and continue scripts; features are paired."""

from contextlib import closing
from itertools import combinations, product

import pytest

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.campaign.result import THIN
from runlock.conformance.campaign.stages import stages_of, units_for_the_seldom, units_of
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.schedule_ids import highest_ids
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.strategies.random_walk import LENGTHS, Tried, planned, run_shard, scripts_of
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import PLAIN, Seeded
from runlock.conformance.family.family import Family, families, family_named
from runlock.conformance.family.pairs import pairwise
from runlock.conformance.trace.moves import Move

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


def test_a_walk_behind_a_script_uses_ids_of_its_own() -> None:
    """Ids go on from the highest number that the script gave, also inside of races and names of gates."""
    race = {"stimuli": [{"method": "cancel", "params": {"run": "r2"}}]}
    moves = [
        Move("gate.release", {"gate": "tool:c10"}),
        Move("deliver", race),
        Move("run.start", {"run": "r1"}),
    ]

    assert highest_ids(moves) == {"c": 10, "r": 2}


@pytest.mark.parametrize("family", families(), ids=lambda one: one.name)
def test_a_shard_is_the_same_each_time(family: Family) -> None:
    """What it tried before is its own: the same seed gives the same stimuli."""
    with closing(reference(family)) as one, closing(reference(family)) as other:
        first, again = run_shard(one, 3, 8, seed=4), run_shard(other, 3, 8, seed=4)

    assert (first.stimuli, first.exercised) == (again.stimuli, again.exercised)
    assert first.stimuli > 0


def test_every_two_values_meet() -> None:
    """In some row; a feature with one value is constant, and one feature alone gives no row."""
    features = {"a": [0, 1, 2], "b": ["x", "y"], "c": [None, [1]], "d": ["only"]}
    rows = pairwise(features)

    for one, other in combinations("abc", 2):
        assert {(str(row[one]), str(row[other])) for row in rows} == {
            (str(left), str(right)) for left, right in product(features[one], features[other])
        }
    assert {row["d"] for row in rows} == {"only"}
    assert len(rows) < 3 * 2 * 2
    assert pairwise({"a": [0, 1], "d": ["only"]}) == []


@pytest.mark.parametrize("family", families(), ids=lambda one: one.name)
def test_scenarios_combine_features(family: Family) -> None:
    """A walk of the default reference is played in one of them, and each has a name of its own."""
    with closing(reference(family)) as bench:
        names = [one.scenario for one in bench.combined]
        scenarios = {session.scenario.scenario for session in walks(bench, 9)}

    assert len(names) == len(set(names)) > len(bench.scenarios) // 2
    assert scenarios & set(names)


def test_the_clauses_that_were_seldom_exercised_are_looked_for() -> None:
    """The least first, as far as the budget goes, and none that is not judged."""
    stages = stages_of(Sampled(8 * THIN * 2), LIFECYCLE)
    applies = dict.fromkeys(LIFECYCLE.spec.clauses, True) | {"RUN-2": False}
    exercised = dict.fromkeys(LIFECYCLE.spec.clauses, THIN) | {"RUN-1": 1, "RUN-2": 0, "RUN-3": 3, "RUN-4": 2}

    units = units_for_the_seldom(stages, exercised, applies, 8 * THIN * 2)

    assert [stages[at].looks_for[unit] for at, unit in units] == ["RUN-1", "RUN-4"]
    assert not set(units) & set(units_of(stages))


def test_a_clause_is_looked_for_where_it_is_known_to_be() -> None:
    """Each schedule of its unit reaches it on the reference."""
    stage = next(one for one in stages_of(Sampled(1), LIFECYCLE) if one.looks_for)
    with closing(reference(LIFECYCLE)) as bench:
        tally = stage.play(bench, stage.looks_for.index("EXPIRE-5"))

    assert tally.exercised["EXPIRE-5"] >= tally.schedules == THIN
