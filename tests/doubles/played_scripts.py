"""Scripts and random walks that are played on a bench, and what a judge says of them."""

from __future__ import annotations

from collections.abc import Iterable

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import Script, applicable, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import Seeded


def scripts_on(bench: Bench, scripts: Iterable[Script], *, until: str | None = None) -> Tally:
    """What is said after those that the runtime can play, or when a clause broke."""
    tally = Tally()
    for script in scripts:
        if until not in tally.found and not applicable(bench.family, script, bench.handshake):
            scenario = bench.family.fitting.fitted(script.scenario, bench.handshake)
            bench.play(scenario, play(script), tally)
    return tally


def walks_on(bench: Bench, numbers: Iterable[int], seed: int, tally: Tally) -> Tally:
    """The same after random walks, one of each scenario in turn."""
    for number in numbers:
        scenario = bench.scenarios[number % len(bench.scenarios)]
        bench.play(scenario, lambda session, number=number: walk(session, Seeded(seed, number)), tally)
    return tally


def played_on(bench: Bench, scripts: Iterable[Script], *, until: str | None = None) -> Tally:
    """What is said after scripts on a bench that is closed then."""
    tally = scripts_on(bench, scripts, until=until)
    bench.close()
    return tally


def reasons(tally: Tally) -> dict[str, str]:
    """Why clauses are broken."""
    return {clause: found.violation.reason for clause, found in tally.found.items()}
