"""The stages of a campaign in a fixed order, each cut into independent units.

A unit always gives the same tally, so the result does not depend on the number of processes that share
the units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from pydantic import ValidationError

from runlock.conformance.campaign.order import Exhaustive, Inferring, Plan, Sampled
from runlock.conformance.campaign.result import THIN
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.occasions import occasions, only_witnesses
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.shards import SHARDS, shard_sizes
from runlock.conformance.driving.strategies.exhaustive import guess_levels, play_level
from runlock.conformance.driving.strategies.hypothesis_machine import generate
from runlock.conformance.driving.strategies.move_enumeration import Scope
from runlock.conformance.driving.strategies.random_walk import continued, fits, run_shard, walk_over
from runlock.conformance.driving.strategies.scripted import (
    Script,
    applicable,
    corpus,
    in_playing_order,
    play,
    variations,
    witnesses,
)
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.family.family import Family
from runlock.conformance.family.parts import Strategy
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.moves import Move, moves_of
from runlock.conformance.trace.trace import Trace

SCRIPT_UNITS: Final = 4
SCRIPTED: Final = "scripted scenarios"
WITNESSED: Final = "witnesses of planted faults"
DRAWN: Final = "the Hypothesis machine"
WALKED: Final = "walks"
REPLAYED: Final = "failures of the last run"
NEIGHBOURED: Final = "walks from where a clause that was seldom exercised is"


@dataclass(frozen=True, slots=True)
class Stage:
    """One way of finding schedules: `play` runs one of its `units`; `schedules` is the expected total.

    A level runs every schedule of a given number of stimuli.  Of a stage that looks for clauses each unit is
    about one clause, and is run if that clause was exercised too seldom.
    """

    name: str
    units: int
    schedules: int
    play: Callable[[Bench, int], Tally]
    level: int = 0
    looks_for: tuple[str, ...] = ()


MACHINE_SHARE: Final = 8
"""One in this many schedules of the budget is drawn by Hypothesis; the cheaper random walks make the
others."""


WITNESS_SHARE: Final = 6
"""At most one in this many schedules of the budget is a witness of a mutant."""

LEVELS: Final = 2
LEVELS_FROM: Final = 1_000
"""A campaign of at least this many schedules also runs every schedule of up to two stimuli."""


Unit = tuple[int, int]
"""A stage by its number, and a unit of it."""


def units_of(stages: Iterable[Stage]) -> list[Unit]:
    """The units of all stages, in their order, but for those that look for a clause."""
    return [
        (at, unit) for at, stage in enumerate(stages) if not stage.looks_for for unit in range(stage.units)
    ]


LOOKING_SHARE: Final = 8
"""At most one in this many schedules of the budget looks for a clause."""


def units_for_the_seldom(
    stages: Sequence[Stage], exercised: Mapping[str, int], applies: Mapping[str, bool], examples: int
) -> list[Unit]:
    """The units that look for the clauses that were exercised least, as far as the budget goes."""
    seldom = [
        (exercised.get(clause, 0), (at, unit))
        for at, stage in enumerate(stages)
        for unit, clause in enumerate(stage.looks_for)
        if applies.get(clause, False) and exercised.get(clause, 0) < THIN
    ]
    return sorted(unit for _, unit in sorted(seldom)[: examples // (LOOKING_SHARE * THIN)])


def stages_of(plan: Plan, family: Family) -> tuple[Stage, ...]:
    """The stages of a campaign, in the order in which their tallies are added."""
    match plan:
        case Sampled():
            return (*_replays(plan.again, family), *_sampled(plan, family))
        case Exhaustive():
            return (_guess(plan), *_levels(plan.depth, plan.scope))
        case Inferring():
            half = plan.examples // 2
            telling = _telling(plan.examples - half, plan.seed, family.actions.telling)
            return (_scripts(SCRIPTED, corpus(family)), telling, _walks(half, plan.seed))


def _sampled(plan: Sampled, family: Family) -> Iterator[Stage]:
    """The scripted corpus and the levels do not count towards the budget, since every clause needs them."""
    drawn = plan.examples // MACHINE_SHARE
    known = witnesses(family, plan.examples // WITNESS_SHARE)
    own = {strategy: plan.examples // strategy.share for strategy in family.driving.strategies}
    yield _scripts(SCRIPTED, in_playing_order(family), _needed_witnesses)
    yield from _levels(LEVELS if plan.examples >= LEVELS_FROM else 0, Scope(uneven=0))
    yield _scripts(WITNESSED, known)
    yield from (_of_family(strategy, schedules, plan.seed) for strategy, schedules in own.items())
    yield _machine(drawn, plan.seed)
    yield _walks(plan.examples - len(known) - sum(own.values()) - drawn, plan.seed)
    yield _looking(family, plan.seed)


def _replays(again: Sequence[Trace], family: Family) -> Iterator[Stage]:
    """The failures of the last run, as far as they fit the runtime."""
    known = [one for trace in again for one in _schedules_in(trace, family)]

    def replayed(bench: Bench, unit: int) -> Tally:
        tally = Tally()
        for scenario, moves in known:
            bench.play(scenario, partial(_played_and_closed, moves=moves), tally)
        return tally

    if known:
        yield Stage(REPLAYED, 1, len(known), replayed)


def _schedules_in(trace: Trace, family: Family) -> Iterator[tuple[Scenario, list[Move]]]:
    """The schedule of a trace; nothing if the trace is of another family."""
    with suppress(ValidationError, LookupError, StopIteration):
        scenario = family.vocabulary.scenario.model_validate(next(trace.of("scenario")))
        yield scenario, list(moves_of(trace, family.line_formats.gate_name))


def _played_and_closed(session: Session, moves: Sequence[Move]) -> None:
    session.play(moves)
    session.close()


def _needed_witnesses(bench: Bench) -> Sequence[Script]:
    """The witnesses that reach what no script does on a runtime that offers so little."""
    return only_witnesses(bench.family, bench.standings, bench.handshake)


def _no_more(bench: Bench) -> Sequence[Script]:
    return ()


def _scripts(
    name: str, scripts: Sequence[Script], more: Callable[[Bench], Sequence[Script]] = _no_more
) -> Stage:
    def play_some(bench: Bench, unit: int) -> Tally:
        tally = Tally()
        every = [*scripts, *more(bench)]
        for script in every[_starts(unit, len(every)) : _starts(unit + 1, len(every))]:
            if not applicable(bench.family, script, bench.handshake):
                for way in variations(script, bench.handshake):
                    fitted = bench.family.fitting.fitted(way.scenario, bench.handshake)
                    bench.play_twice(fitted, play(way), tally)
        return tally

    return Stage(name, SCRIPT_UNITS if scripts else 0, len(scripts), play_some)


def _starts(unit: int, scripts: int) -> int:
    """Where a unit of scripts begins."""
    return unit * scripts // SCRIPT_UNITS


def _guess(plan: Exhaustive) -> Stage:
    def guess(bench: Bench, unit: int) -> Tally:
        return guess_levels(bench, plan.depth, plan.scope)

    return Stage("a guess of how many there are", 1, 0, guess)


def _levels(depth: int, scope: Scope) -> Iterator[Stage]:
    for stimuli in range(1, depth + 1):

        def played(bench: Bench, shard: int, stimuli: int = stimuli) -> Tally:
            return play_level(bench, stimuli, shard, scope)

        yield Stage(f"every schedule of {stimuli}", SHARDS, 0, played, stimuli)


def _of_family(strategy: Strategy, schedules: int, seed: int) -> Stage:
    def played(bench: Bench, unit: int) -> Tally:
        tally: Tally = strategy.play(bench, unit, schedules, seed)
        return tally

    return Stage(strategy.name, SHARDS if schedules else 0, schedules, played)


def _machine(examples: int, seed: int) -> Stage:
    sizes = shard_sizes(examples)

    def draw(bench: Bench, shard: int) -> Tally:
        tally = Tally()
        if sizes[shard]:
            generate(bench, sizes[shard], seed * SHARDS + shard, tally)
        return tally

    return Stage(DRAWN, SHARDS if examples else 0, examples, draw)


def _telling(examples: int, seed: int, names: Sequence[str]) -> Stage:
    """Half of the walks use few classes of action, so that rounds and decisions repeat often."""
    sizes = shard_sizes(examples)

    def walked(bench: Bench, shard: int) -> Tally:
        tally = Tally()
        for index in range(sizes[shard]):
            drawn = Seeded(seed, shard, index, len(names))
            bench.play(bench.scenarios[0], partial(walk_over, chooser=drawn, names=names), tally)
        return tally

    return Stage("walks over what tells", SHARDS, examples, walked)


def _looking(family: Family, seed: int) -> Stage:
    """For each clause, the known schedules that reach it, each with a walk behind it."""
    clauses = tuple(family.spec.clauses)

    def looked(bench: Bench, unit: int) -> Tally:
        tally = Tally()
        known = [one for one in occasions(family, clauses[unit]) if fits(bench, one)]
        for number in range(THIN if known else 0):
            drawn = Seeded(seed, SHARDS + unit, number)
            bench.play(*continued(bench, known[number % len(known)], drawn), tally)
        return tally

    return Stage(NEIGHBOURED, len(clauses), 0, looked, looks_for=clauses)


def _walks(examples: int, seed: int) -> Stage:
    sizes = shard_sizes(examples)

    def walked(bench: Bench, shard: int) -> Tally:
        return run_shard(bench, shard, sizes[shard], seed)

    return Stage(WALKED, SHARDS, examples, walked)
