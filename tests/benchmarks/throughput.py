"""How many stimuli a second reach the reference, beside what Hypothesis takes for its draws alone.

    python tests/benchmarks/throughput.py [PROFILE] [EXAMPLES] [DEPTH]

Three ways in one run, by time of the processor: the Hypothesis machine as `check` has it, with its units, on
a bench that has judged nothing yet; a machine that asks for the same draws and does nothing, from a record of
the first; and every schedule of three stimuli and more, of which the last is new, and those before it are
handed over again but not judged again.  Longer schedules than three are a sample, for there are too many.
What the draws take the kit cannot save.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
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

from interlock.conformance import suite
from interlock.conformance.actions import ACTIONS
from interlock.conformance.adapters.reference import factory
from interlock.conformance.campaign import SHARDS, Bench, Tally, shard_sizes
from interlock.conformance.hosted import Hosted
from interlock.conformance.levels import Level
from interlock.conformance.menu import Scope
from interlock.conformance.systematic import Point

WHOLE = 3
SAMPLE = 2_000
"""Of schedules that are longer than WHOLE, so many stimuli are handed over in each scenario of one shard."""

SEED = 7
TIMES = 3


# --- what the machine drew --------------------------------------------------------------------------


@dataclass
class Record:
    """Of each example, what was asked of Hypothesis: which rules had an occasion, and what was drawn."""

    examples: list[list[Any]] = field(default_factory=list)

    def begin(self) -> None:
        """The next example."""
        self.examples.append([])

    def note(self, what: Any) -> Any:
        """Keep an answer."""
        self.examples[-1].append(what)
        return what


def recorded(bench: Bench, examples: int, seed_number: int = SEED) -> Record:
    """One round of the machine, written down."""
    record = Record()
    machine = suite.machine(bench, Tally())

    class Recording(machine):  # type: ignore[misc,valid-type]
        def __init__(self) -> None:
            super().__init__()
            record.begin()

        def has_occasion(self, name: str, gate: str | None) -> bool:
            return bool(record.note(super().has_occasion(name, gate)))

    class Chooser(suite.Drawing):
        def choose(self, count: int) -> int:
            record.note(count)
            return super().choose(count)

    drawing, suite.Drawing = suite.Drawing, Chooser  # type: ignore[misc]
    try:
        play(Recording, examples, seed_number)
    finally:
        suite.Drawing = drawing  # type: ignore[misc]
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


# --- the table --------------------------------------------------------------------------------------


def play(machine: type[RuleBasedStateMachine], examples: int, seed_number: int = SEED) -> None:
    """One round of a machine."""
    made = seed(seed_number)(machine)
    run_state_machine_as_test(made, settings=settings(suite.GENERATE, max_examples=examples))


def units(examples: int) -> list[tuple[int, int]]:
    """How many schedules each unit of a campaign plays, and its seed."""
    return [(size, SEED * SHARDS + shard) for shard, size in enumerate(shard_sizes(examples)) if size]


def seconds(deed: Callable[[], None]) -> float:
    """How long a deed took of the processor."""
    began = time.process_time()
    deed()
    return time.process_time() - began


class Pass(NamedTuple):
    """Once through all units: how many stimuli were sent, and how long each took, and its draws alone."""

    stimuli: int
    guided: list[float]
    drawn: list[float]


def once_through(profile: str, examples: int, records: list[Record]) -> Pass:
    """Play each unit, and its draws right behind it, so that a busy computer is busy for both."""
    bench, tally = bench_of(profile), Tally()
    machine, draws = [], []
    for record, (size, seed_number) in zip(records, units(examples), strict=True):
        machine.append(seconds(lambda: suite.generate(bench, size, seed_number, tally)))  # noqa: B023
        nothing = empty(record, len(bench.scenarios))
        draws.append(seconds(lambda: play(nothing, size, seed_number)))  # noqa: B023
    return Pass(tally.stimuli, machine, draws)


def least(times: Iterable[list[float]]) -> float:
    """What all units take, each as fast as it ever was."""
    return sum(map(min, zip(*times, strict=True)))


def bench_of(profile: str) -> Bench:
    """A bench with the reference."""
    return Bench(lambda: Hosted(factory(profile)))


class Enough(Exception):
    """So many stimuli were handed over as were asked for."""


@dataclass
class Search:
    """The schedules of so many stimuli on a bench: how many stimuli were handed over, and were new."""

    bench: Bench
    stimuli: int
    handed: int = 0
    new: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether every schedule is played."""
        return self.stimuli <= WHOLE

    def run(self) -> None:
        """Play them."""
        for shard in range(SHARDS if self.is_whole else 1):
            for scenario in self.bench.scenarios:
                level = Level(self.bench, self.stimuli, shard, Scope(uneven=0))
                self.count(lambda level=level, scenario=scenario: level.descend(Point(scenario)))  # type: ignore[misc]
                self.new += level.tally.schedules

    def count(self, deed: Callable[[], None]) -> None:
        """Count what is handed over, and stop where a sample has enough of it."""
        judged, before = self.bench.judged, self.handed

        def counting(*what: Any) -> Any:
            session = judged(*what)
            self.handed += session.account.stimuli
            if not self.is_whole and self.handed - before > SAMPLE:
                raise Enough
            return session

        self.bench.judged = counting  # type: ignore[method-assign]
        with suppress(Enough):
            deed()
        del self.bench.judged


def main(profile: str = "tirea", examples: int = 750, depth: int = WHOLE) -> None:
    """Print the table."""
    bench = bench_of(profile)
    records = [recorded(bench, size, seed_number) for size, seed_number in units(examples)]
    gc.freeze()  # as a worker of `check` does
    passes = [once_through(profile, examples, records) for _ in range(TIMES)]
    sent = passes[0].stimuli
    machine, draws = sent / least(one.guided for one in passes), sent / least(one.drawn for one in passes)
    print(f"{profile}, stimuli a second\n")
    print(f"the machine          {machine:6.0f}")
    print(f"its draws alone      {draws:6.0f}   the machine reaches {machine / draws:.2f} of that")
    for stimuli in range(min(WHOLE, depth), depth + 1):
        print(_searched(Search(bench, stimuli), machine), flush=True)
    if depth > WHOLE:
        print(f"\nLonger schedules than {WHOLE}: the first {SAMPLE:,} stimuli of each scenario in one shard.")


def _searched(search: Search, machine: float) -> str:
    began = time.process_time()
    search.run()
    rate = search.handed / (time.process_time() - began)
    what = f"{search.handed:,} were handed over: {search.handed - search.new:,} again, {search.new:,} anew"
    return f"schedules of {search.stimuli:<7} {rate:6.0f}   {rate / machine:.2f} of the machine; {what}"


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:4]))
