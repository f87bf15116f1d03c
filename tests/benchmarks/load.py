"""How memory and time grow with the number of suspended runs in one process.

    python tests/benchmarks/load.py [RUNS]

A crowd of a hundred runs, and one of RUNS (10,000 unless told otherwise), each in a process of its own with
one store, all suspended at once and then decided in a shuffled order.  Each column is the cost of one run,
in time of the processor; the store lies in memory, so that no disk is measured.  `x` is that cost against
the crowd of a hundred: 1 is linear growth, and less is better.
"""

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "doubles"))

from kill_points import folder_for_one
from many_runs import Crowd

SMALL = 100
SMALL_TIMES = 7  # so short a crowd is at the mercy of the machine
SEED = 11


async def measured(size, path):
    """The costs of one run in a crowd: seconds to suspend and to end it, bytes while it is suspended."""
    with contextlib.closing(Crowd(size, path)) as crowd:
        began = time.process_time()
        await crowd.suspend()
        waits = time.process_time()
        assert crowd.suspended() == size
        ready = time.process_time()
        await crowd.decide(SEED)
        over = time.process_time()
        wrong = list(crowd.wrong())
        assert not wrong, wrong
        held = os.path.getsize(path)
    return {"suspend": (waits - began) / size, "decide": (over - ready) / size, "file": held / size}


async def memory(size, path):
    """The bytes that one suspended run holds in memory."""
    with contextlib.closing(Crowd(size, path)) as crowd:
        tracemalloc.start()
        await crowd.suspend()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return {"memory": held / size}


def crowd_of(size, times):
    """The costs of one run in a crowd, each the median over this many processes of their own."""
    costs = {}
    for part in ("measured", "memory"):
        words = [sys.executable, __file__, part, str(size)]
        seen = [
            json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout) for _ in range(times)
        ]
        costs |= {key: statistics.median(one[key] for one in seen) for key in seen[0]}
    return costs


def table(runs):
    """Both crowds, side by side."""
    small, large = crowd_of(SMALL, SMALL_TIMES), crowd_of(runs, 1)
    shown = (
        ("suspend one, ms", "suspend", 1e3),
        ("decide one to its end, ms", "decide", 1e3),
        ("memory of a suspended one, KiB", "memory", 1 / 1024),
        ("file for a finished one, KiB", "file", 1 / 1024),
    )
    yield f"{'':<32}{SMALL:>9,}{runs:>9,}{'x':>7}"
    for title, key, unit in shown:
        yield f"{title:<32}{small[key] * unit:>9.2f}{large[key] * unit:>9.2f}{large[key] / small[key]:>7.2f}"


if __name__ == "__main__" and sys.argv[1:2] in (["measured"], ["memory"]):
    part = {"measured": measured, "memory": memory}[sys.argv[1]]
    with folder_for_one() as folder:
        print(json.dumps(asyncio.run(part(int(sys.argv[2]), folder / "runs.sqlite"))))
elif __name__ == "__main__":
    print(*table(int(sys.argv[1]) if sys.argv[1:] else 10_000), sep="\n")
