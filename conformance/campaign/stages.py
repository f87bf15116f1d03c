"""What a campaign is made of: stages in a fixed order, each cut into units that can be played alone.

A unit gives the same tally whoever plays it and whatever was played before it, so that the number of
processes that share the units changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.shards import SHARDS, shard_sizes
from runlock.conformance.driving.strategies.exhaustive import guess_levels, play_level
from runlock.conformance.driving.strategies.hypothesis_machine import generate
from runlock.conformance.driving.strategies.move_enumeration import Scope
from runlock.conformance.driving.strategies.random_walk import run_shard, walk_over
from runlock.conformance.driving.strategies.scripted import (
    Script,
    applicable,
    corpus,
    play,
    variations,
    witnesses,
)
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.family.family import DEFAULT, Family, Strategy, family_named

SCRIPT_UNITS: Final = 4
SCRIPTED: Final = "scripted scenarios"
WITNESSED: Final = "witnesses of planted faults"
DRAWN: Final = "the Hypothesis machine"
WALKED: Final = "walks"


@dataclass(frozen=True, slots=True)
class Order:
    """What a campaign was asked for; it crosses to the workers as it is."""

    target: str
    examples: int
    seed: int = 0
    only: tuple[str, ...] = ()
    timeout_scale: float = 1.0
    depth: int = 0
    races: int = 0
    one_order: bool = False
    settled: tuple[tuple[str, str], ...] | None = None  # of the policies, where these are to be found out
    aside: tuple[str, ...] = ()  # clauses that are not asked then, since they break whatever is played

    @property
    def scope(self) -> Scope:
        """What is on the menu of a search."""
        return Scope(uneven=self.races, one_order=self.one_order)

    @property
    def is_exhaustive(self) -> bool:
        """Whether every schedule of up to `depth` stimuli is wanted, and no other."""
        return self.depth > 0


@dataclass(frozen=True, slots=True)
class Stage:
    """One way of finding schedules: `play` plays one of its `units`; `schedules` is what to expect of all.

    One that is a level plays every schedule of so many stimuli.
    """

    name: str
    units: int
    schedules: int
    play: Callable[[Bench, int], Tally]
    level: int = 0


MACHINE_SHARE: Final = 8
"""One of so many schedules of the budget is drawn by Hypothesis; the cheaper walks play the others."""


WITNESS_SHARE: Final = 16
"""At most one of so many schedules of the budget has given a planted fault away."""

LEVELS: Final = 2
LEVELS_FROM: Final = 3_000
"""A campaign of so many schedules or more plays every one of up to two stimuli as well."""


def total_of(order: Order) -> int:
    """How many schedules the stages of an order play, as far as that is known before the handshake."""
    family = family_named(DEFAULT)
    return sum(stage.schedules for stage in stages_of(order, family))


def stages_of(order: Order, family: Family) -> tuple[Stage, ...]:
    """The stages of a campaign, in the order in which their tallies add up.

    The scripted corpus and the levels come first and outside the budget: they are owed to every clause, and
    there are as many of them as there are.
    """
    scripted = _scripts(SCRIPTED, corpus(family))
    if order.settled is not None:
        return (scripted, _telling(order, family), _walks(order, order.examples // 2))
    if order.is_exhaustive:
        return (_guess(order), *_levels(order.depth, order.scope))
    drawn = order.examples // MACHINE_SHARE
    known = witnesses(family, order.examples // WITNESS_SHARE)
    own = {strategy: order.examples // strategy.share for strategy in family.strategies}
    return (
        scripted,
        *_levels(LEVELS if order.examples >= LEVELS_FROM else 0, Scope(uneven=0)),
        _scripts(WITNESSED, known),
        *(_of_family(order, strategy, schedules) for strategy, schedules in own.items()),
        _machine(order, drawn),
        _walks(order, order.examples - len(known) - sum(own.values()) - drawn),
    )


def _scripts(name: str, scripts: Sequence[Script]) -> Stage:
    def play_some(bench: Bench, unit: int) -> Tally:
        tally = Tally()
        for script in scripts[unit::SCRIPT_UNITS]:
            if not applicable(bench.family, script, bench.handshake):
                for way in variations(script, bench.handshake):
                    bench.play_twice(way.scenario, play(way), tally)
        return tally

    return Stage(name, SCRIPT_UNITS if scripts else 0, len(scripts), play_some)


def _guess(order: Order) -> Stage:
    def guess(bench: Bench, unit: int) -> Tally:
        return guess_levels(bench, order.depth, order.scope)

    return Stage("a guess of how many there are", 1, 0, guess)


def _levels(depth: int, scope: Scope) -> Iterator[Stage]:
    for stimuli in range(1, depth + 1):

        def played(bench: Bench, shard: int, stimuli: int = stimuli) -> Tally:
            return play_level(bench, stimuli, shard, scope)

        yield Stage(f"every schedule of {stimuli}", SHARDS, 0, played, stimuli)


def _of_family(order: Order, strategy: Strategy, schedules: int) -> Stage:
    def played(bench: Bench, unit: int) -> Tally:
        tally: Tally = strategy.play(bench, unit, schedules, order.seed)
        return tally

    return Stage(strategy.name, SHARDS if schedules else 0, schedules, played)


def _machine(order: Order, examples: int) -> Stage:
    sizes = shard_sizes(examples)

    def draw(bench: Bench, shard: int) -> Tally:
        tally = Tally()
        if sizes[shard]:
            generate(bench, sizes[shard], order.seed * SHARDS + shard, tally)
        return tally

    return Stage(DRAWN, SHARDS if examples else 0, examples, draw)


def _telling(order: Order, family: Family) -> Stage:
    """Half of the walks: over few classes of action, so that rounds and decisions come again and again."""
    sizes, names = shard_sizes(order.examples - order.examples // 2), family.actions.telling

    def walked(bench: Bench, shard: int) -> Tally:
        tally = Tally()
        for index in range(sizes[shard]):
            drawn = Seeded(order.seed, shard, index, len(names))
            bench.play(bench.scenarios[0], partial(walk_over, chooser=drawn, names=names), tally)
        return tally

    return Stage("walks over what tells", SHARDS, sum(sizes), walked)


def _walks(order: Order, examples: int) -> Stage:
    sizes = shard_sizes(examples)

    def walked(bench: Bench, shard: int) -> Tally:
        return run_shard(bench, shard, sizes[shard], order.seed)

    return Stage(WALKED, SHARDS, examples, walked)
