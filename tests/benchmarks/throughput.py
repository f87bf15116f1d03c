"""How many stimuli a second reach the reference, compared with what Hypothesis takes for its draws alone.

    python tests/benchmarks/throughput.py [PROFILE] [EXAMPLES] [DEPTH]

Three ways in one run, in turns, by time of the processor: the Hypothesis machine as `check` has it, with its
units; a machine that asks for the same draws and does nothing, from a record of the first; and every schedule
of three stimuli and more, of which the last is new, and those before it are handed over again but not judged
again.  Longer schedules than three are a sample, for there are too many.  Each time each way has a bench that
has judged nothing yet, and of each unit the least time counts.  What the draws take the kit cannot save.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any, NamedTuple

from hypothesis import seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from runlock.conformance.campaign.worker import collect_rarely
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.shards import SHARDS, shard_sizes
from runlock.conformance.driving.strategies import hypothesis_machine as suite
from runlock.conformance.driving.strategies.exhaustive import Level
from runlock.conformance.driving.strategies.move_enumeration import Scope
from runlock.conformance.driving.strategies.shortest_first import Point
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.actions import ACTIONS
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario
from runlock.conformance.families.lifecycle.reference import factory

WHOLE = 3
SAMPLE = 2_000
"""Number of stimuli sent in each scenario of one shard, of schedules longer than WHOLE."""

SEED = 7
TIMES = 5


# --- what the machine drew --------------------------------------------------------------------------


@dataclass
class Record:
    """Of each example, what was asked of Hypothesis: which rules had an occasion, and what was drawn."""

    examples: list[list[Any]] = field(default_factory=list)
    stimuli: int = 0

    def begin(self) -> None:
        """The next example."""
        self.examples.append([])

    def note(self, what: Any) -> Any:
        """Keep an answer."""
        self.examples[-1].append(what)
        return what


def recorded(bench: Bench, examples: int, seed_number: int = SEED) -> Record:
    """One round of the machine, written down."""
    record, tally = Record(), Tally()
    machine = suite.machine(bench, tally)

    class Recording(machine):  # type: ignore[misc,valid-type]
        def __init__(self) -> None:
            super().__init__()
            record.begin()
            self.is_asking = False

        def has_occasion(self, name: str) -> bool:
            by_hypothesis, self.is_asking = not self.is_asking, True  # and not by the machine itself
            found = super().has_occasion(name)
            if by_hypothesis:
                self.is_asking = False
                record.note(found)
            return bool(found)

    class Chooser(suite.Drawing):
        def choose(self, count: int) -> int:
            record.note(count)
            return super().choose(count)

    drawing, suite.Drawing = suite.Drawing, Chooser  # type: ignore[misc]
    try:
        play(Recording, examples, seed_number)
    finally:
        suite.Drawing = drawing  # type: ignore[misc]
    record.stimuli = tally.stimuli
    return record


def empty(record: Record, scenarios: int) -> type[RuleBasedStateMachine]:
    """A machine that asks Hypothesis for the same, and does nothing with it."""
    examples = iter(record.examples)

    class Empty(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.left = iter(next(examples))

        @initialize(index=st.integers(0, scenarios - 1))
        def open(self, index: int) -> None:
            pass

    def ruled(name: str) -> Any:
        def act(self: Empty, data: st.DataObject) -> None:
            self.left = _drawn(self.left, data)

        act.__name__ = name
        return precondition(lambda self: next(self.left))(rule(data=st.data())(act))

    names = [*(name for name in ACTIONS if name not in ("start", "kill")), "start_again"]
    return type("EmptyMachine", (Empty,), {name: ruled(name) for name in names})


def _drawn(left: Any, data: st.DataObject) -> Any:
    """Draw what is next in the record, up to the next question for an occasion."""
    for what in left:
        if isinstance(what, bool):
            return iter((what, *left))
        data.draw(st.integers(0, what - 1))
    return left


# --- the ways ---------------------------------------------------------------------------------------


def play(machine: type[RuleBasedStateMachine], examples: int, seed_number: int = SEED) -> None:
    """One round of a machine."""
    made = seed(seed_number)(machine)
    run_state_machine_as_test(made, settings=settings(suite.GENERATE, max_examples=examples))


def bench_of(profile: str) -> Bench:
    """A bench with the reference."""
    return Bench(lambda: Hosted(factory(profile)))


class Sent(NamedTuple):
    """How many stimuli reached the runtime, and how many of them only to get where others had been."""

    stimuli: int
    again: int = 0

    def __add__(self, other: Any) -> Sent:
        return Sent(self.stimuli + other.stimuli, self.again + other.again)


class Way:
    """A way to send stimuli, cut into units: what each sent, and the least that it ever took."""

    def __init__(self, units: Iterable[Callable[[Bench], Sent]]) -> None:
        self.units = list(units)
        self.seconds = [inf] * len(self.units)
        self.sent = [Sent(0)] * len(self.units)

    def play(self, unit: int, bench: Bench) -> None:
        """Play a unit once more; what it leaves is for it to clear away, and what others left is not."""
        gc.collect()
        collect_rarely()
        began = time.process_time()
        self.sent[unit] = self.units[unit](bench)
        gc.collect()
        self.seconds[unit] = min(self.seconds[unit], time.process_time() - began)

    @property
    def rate(self) -> float:
        """Stimuli a second."""
        return sum(self.sent, Sent(0)).stimuli / sum(self.seconds)


def guided(examples: int, seed_number: int, bench: Bench) -> Sent:
    """A unit of the machine."""
    tally = Tally()
    suite.generate(bench, examples, seed_number, tally)
    return Sent(tally.stimuli)


def only_drawn(examples: int, seed_number: int, record: Record, bench: Bench) -> Sent:
    """The draws of a unit, which stand for the stimuli that the machine sent with them."""
    play(empty(record, len(bench.scenarios)), examples, seed_number)
    return Sent(record.stimuli)


def searched(stimuli: int, shard: int, scenario: Scenario, bench: Bench) -> Sent:
    """A shard of the schedules of this many stimuli in one scenario; of many it is a sample."""
    level = Level(bench, stimuli, shard, Scope(uneven=0))
    handed = Handed(bench, at_most=inf if stimuli <= WHOLE else SAMPLE)
    with handed, suppress(Enough):
        level.descend(Point(scenario))
    return Sent(handed.stimuli, handed.stimuli - level.tally.schedules)


class Enough(Exception):
    """As many stimuli were handed over as were asked for."""


class Handed:
    """Counts what a search hands over, and stops it when that is enough."""

    def __init__(self, bench: Bench, at_most: float) -> None:
        self.bench = bench
        self.at_most = at_most
        self.stimuli = 0

    def __enter__(self) -> None:
        self.bench.judged = self._counted(self.bench.judged)  # type: ignore[method-assign]

    def __exit__(self, *_error: object) -> None:
        del self.bench.judged

    def _counted(self, judged: Any) -> Any:
        def counting(*what: Any) -> Any:
            session = judged(*what)
            self.stimuli += session.state.stimuli
            if self.stimuli > self.at_most:
                raise Enough
            return session

        return counting


# --- the table --------------------------------------------------------------------------------------


def in_units(examples: int) -> list[tuple[int, int]]:
    """The examples and the seed of each unit of a campaign."""
    return [(size, SEED * SHARDS + shard) for shard, size in enumerate(shard_sizes(examples)) if size]


def machine_of(examples: int) -> Way:
    """The machine, in the units of a campaign."""
    return Way(partial(guided, *unit) for unit in in_units(examples))


def draws_of(profile: str, examples: int) -> Way:
    """What Hypothesis draws for the machine, unit by unit."""
    bench = bench_of(profile)
    return Way(partial(only_drawn, *unit, recorded(bench, *unit)) for unit in in_units(examples))


def search_of(profile: str, stimuli: int) -> Way:
    """The search for schedules of this many stimuli, by shards and scenarios."""
    scenarios = bench_of(profile).scenarios
    shards = range(SHARDS if stimuli <= WHOLE else 1)
    return Way(partial(searched, stimuli, shard, one) for shard in shards for one in scenarios)


def in_turns(profile: str, ways: Sequence[Way]) -> None:
    """Once through the units of all ways, in turns, so that a busy computer is busy for all of them."""
    benches = [bench_of(profile) for _ in ways]
    rounds = max(len(way.units) for way in ways)
    for turn in range(rounds):
        for way, bench in zip(ways, benches, strict=True):
            share = len(way.units) / rounds
            for unit in range(int(turn * share), int((turn + 1) * share)):
                way.play(unit, bench)


def main(profile: str = "awaken-8", examples: int = 750, depth: int = WHOLE) -> None:
    """Print the table."""
    machine, draws = machine_of(examples), draws_of(profile, examples)
    searches = {stimuli: search_of(profile, stimuli) for stimuli in range(min(WHOLE, depth), depth + 1)}
    for _ in range(TIMES):
        in_turns(profile, [machine, draws, *searches.values()])
    print(f"{profile}, stimuli a second\n")
    print(f"the machine        {machine.rate:6.0f}   {machine.rate / draws.rate:.2f} of its draws")
    print(f"its draws alone    {draws.rate:6.0f}")
    for stimuli, search in searches.items():
        sent, share = sum(search.sent, Sent(0)), search.rate / machine.rate
        again = f"{sent.again:,} of {sent.stimuli:,} again"
        print(f"schedules of {stimuli:<5} {search.rate:6.0f}   {share:.2f} of the machine; {again}")
    if depth > WHOLE:
        print(f"\nLonger schedules than {WHOLE}: the first {SAMPLE:,} stimuli of each scenario in one shard.")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:4]))
