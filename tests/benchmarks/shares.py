"""Where the time goes: the shares of the parts of the kit in the machine and in the search, by sampling.

    python tests/benchmarks/shares.py [PROFILE] [EXAMPLES] [DEPTH]

The machine as `check` has it, and every schedule of DEPTH stimuli, each once to warm up and once on a bench
that has judged nothing yet.  A timer of the processor's time asks at every tick of the kernel which functions
are under way, and the innermost that is at the head of a part says whose this tick is.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from throughput import WHOLE, bench_of, machine_of, search_of

from runlock.conformance.campaign.worker import collect_rarely
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.strategies import hypothesis_machine as suite
from runlock.conformance.driving.strategies.exhaustive import Level, options
from runlock.conformance.families.lifecycle.actions import at_hand
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.judging.judge import Judge
from runlock.conformance.protocol import answers

PERIOD = 0.001
"""Of a processor's time, in seconds, between two samples; no kernel ticks as often."""

PARTS: dict[str, tuple[Any, ...]] = {
    "Hypothesis draws": (suite.generate, suite.Drawing.choose),
    "the judge": (Judge.stimulus, Judge.answer),
    "the runtime with its loop": (Hosted.request,),
    "scenarios are opened and closed": (Hosted._open, Hosted._close, Bench._opened, Session.close),
    "what could be sent next": (suite.Machine.has_occasion, at_hand, options),
    "answers are read": (answers.fitted_report, answers.Gates.check),
    "saving and restoring the judge": (Session.snapshot, Session._resume),
    "what was seen is entered": (Bench.enter,),
    "the rest of the kit": (suite.Machine.begin, suite.Machine.act, suite.Machine.finish, Level.descend),
}
"""Each part, and the functions at its head."""

PART_OF: dict[CodeType, str] = {head.__code__: part for part, heads in PARTS.items() for head in heads}

ELSEWHERE = "elsewhere"


@contextmanager
def sampling(shares: Counter[str]) -> Iterator[None]:
    """Count samples by parts."""

    def sample(_signal: int, frame: FrameType | None) -> None:
        shares[part_of(frame)] += 1

    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, PERIOD, PERIOD)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def part_of(frame: FrameType | None) -> str:
    """The part at whose work this frame is."""
    while frame is not None:
        part = PART_OF.get(frame.f_code)
        if part is not None:
            return part
        frame = frame.f_back
    return ELSEWHERE


def shares_of(units: list[Callable[[Bench], Any]], profile: str) -> Counter[str]:
    """The samples of a way, by parts."""
    shares: Counter[str] = Counter()
    for counted in (Counter[str](), shares):
        bench = bench_of(profile)
        collect_rarely()
        with sampling(counted):
            for unit in units:
                unit(bench)
    return shares


def main(profile: str = "awaken-8", examples: int = 750, depth: int = WHOLE) -> None:
    """Print the table."""
    ways = [shares_of(way.units, profile) for way in (machine_of(examples), search_of(profile, depth))]
    print(f"{profile}: hundredths of the time\n")
    print(f"{'':35}the machine   schedules of {depth}")
    for part in (*PARTS, ELSEWHERE):
        print(f"{part:35}" + "".join(f"{100 * way[part] / way.total():11.0f}" for way in ways))
    print(f"{'samples':35}" + "".join(f"{way.total():11,}" for way in ways))


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:4]))
