"""How many instructions the machine takes, compared with its draws alone, and how often they wait for memory.

    python tests/benchmarks/instructions.py [PROFILE] [EXAMPLES]

Times of a busy computer differ by a sixth from run to run; Valgrind's cachegrind counts, and counts the same
again.  Each round is played in a process of its own, after one that warms it up, and what a process without
it takes is subtracted.  Without Valgrind the reason is said.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from throughput import SEED, bench_of, empty, play, recorded

from runlock.conformance.campaign.worker import collect_rarely
from runlock.conformance.driving.strategies import hypothesis_machine as suite
from runlock.conformance.driving.tally import Tally

CACHE = "1048576,16,64"
"""A cache that a core has to itself: its bytes, how many ways it has, and how many bytes a line has."""

COUNT = "count"
"""What a child is asked for."""

COUNTED = re.compile(r"==\d+== (I +refs|LLi misses|LLd misses): +([\d,]+)")


class Counts(NamedTuple):
    """What cachegrind counted: instructions, and how often code or data was not in the cache."""

    instructions: int
    misses: int

    def without(self, other: Counts) -> Counts:
        """What is more here than there."""
        return Counts(self.instructions - other.instructions, self.misses - other.misses)


def round_of(what: str, profile: str, examples: int, rounds: int) -> None:
    """Warm up, and play this many rounds: of the machine, on a bench that knows nothing, or of its draws."""
    record = recorded(bench_of(profile), examples)
    bench = bench_of(profile)
    gc.collect()
    collect_rarely()
    for _ in range(rounds):
        if what == "draws":
            play(empty(record, len(bench.scenarios)), examples)
        else:
            suite.generate(bench, examples, SEED, Tally())


def counted(what: str, profile: str, examples: int, rounds: int) -> Counts:
    """What a process that does so counts to."""
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--LL={CACHE}"]
    child = [sys.executable, __file__, COUNT, what, profile, str(examples), str(rounds)]
    command = [*valgrind, "--cachegrind-out-file=/dev/null", *child]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit("\n".join(line for line in done.stderr.splitlines() if not line.startswith("==")))
    found = {name.split()[0]: int(number.replace(",", "")) for name, number in COUNTED.findall(done.stderr)}
    return Counts(found["I"], found["LLi"] + found["LLd"])


def main(profile: str = "tirea", examples: int = 60) -> None:
    """Print the table."""
    if shutil.which("valgrind") is None:
        sys.exit("Valgrind is not installed; it counts the instructions.")
    asked = [(what, rounds) for what in ("machine", "draws") for rounds in (0, 1)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(
            zip(asked, pool.map(lambda one: counted(one[0], profile, examples, one[1]), asked), strict=True)
        )
    machine, draws = (counts[what, 1].without(counts[what, 0]) for what in ("machine", "draws"))
    print(f"{profile}, a round of {examples} schedules, in millions\n")
    print("                 instructions   misses of a cache of 1 MiB")
    for name, one in (("the machine", machine), ("its draws alone", draws)):
        print(f"{name:<17}{one.instructions / 1e6:12,.0f}{one.misses / 1e6:16.1f}")
    print(f"\nThe draws are {draws.instructions / machine.instructions:.2f} of the instructions.")


if __name__ == "__main__":
    if sys.argv[1:2] == [COUNT]:
        round_of(*sys.argv[2:4], *map(int, sys.argv[4:6]))
    else:
        main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
