"""References on a bench, for tests and benchmarks of tours."""

from __future__ import annotations

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.chart_tours import (
    goals,
    tour,
)
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.family.chooser import Seeded

PROFILES = ["tirea", "tirea-stream", "awaken-8", "awaken-9", "awaken-concurrent"]
ROUNDS = 3


def bench_of(profile):
    """A reference on the bench."""
    return Bench(lambda: Hosted(factory(profile)))


def toured(bench, rounds):
    """What some rounds of tours show; a goal that was reached is left out of the next."""
    total, every = Tally(), goals(bench)
    for attempt in range(rounds):
        for number, goal in enumerate(every):
            if not total.tours_reached[goal]:
                tour(bench, goal, attempt, Seeded(0, attempt, number), total)
    return total


def walked(bench, schedules):
    """What a number of walks shows."""
    total = Tally()
    for index in range(schedules):
        chooser = Seeded(0, index)
        scenario = bench.scenarios[index % len(bench.scenarios)]
        bench.play(scenario, lambda session, chooser=chooser: walk(session, chooser), total)
    return total
