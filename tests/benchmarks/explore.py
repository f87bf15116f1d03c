"""How long the states of N calls take to be counted, against Spin's verifier, side by side in one run.

    python tests/benchmarks/explore.py [CALLS]

Spin verifies `calls.pml`, the same model in Promela, with a full search.  Both are timed as whole processes,
start-up included and compiling left out, and both have to come to the same number of states.  Without Spin or
a C compiler only the kit is timed, and the reason is said.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

MODEL = Path(__file__).with_name("calls.pml")
RUNLOCK = Path(sys.executable).with_name("runlock")
MOST = 5
"""The Promela model is written out for this many calls."""


def timed(command: Sequence[str | Path], folder: Path | None = None) -> tuple[str, float, float]:
    """What a command prints, and how many seconds it took: on the wall, and of a processor."""
    before, start = _used(), time.perf_counter()
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout, time.perf_counter() - start, _used() - before


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kit(calls: int, *options: str) -> tuple[dict[str, int], float, float]:
    """The kit's count of the model."""
    command = [RUNLOCK, "explore", "calls", "--calls", str(calls), "--json", *options]
    said, wall, used = timed(command)
    return json.loads(said), wall, used


def spin(calls: int) -> tuple[int, float, float]:
    """Spin's count of the model."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timed(["spin", f"-DN={calls}", "-a", MODEL], folder)
        timed(["gcc", "-O2", "-DSAFETY", "-w", "-o", "pan", "pan.c"], folder)
        said, wall, used = timed([folder / "pan", "-E"], folder)
    found = re.search(r"(\d+) states, stored", said)
    assert found is not None, said
    return int(found[1]), wall, used


def missing() -> str | None:
    """Why Spin cannot be compared with, if it cannot."""
    lacking = [name for name in ("spin", "gcc") if shutil.which(name) is None]
    return f"{' and '.join(lacking)} cannot be found: apt-get install spin gcc" if lacking else None


def main(calls: int) -> None:
    """Print a line for each way of counting, and the ratios."""
    reduced, wall, used = kit(calls)
    print(f"{'':<28}{'states':>12}{'transitions':>14}{'wall s':>9}{'cpu s':>9}{'transitions/cpu s':>19}")
    _line("kit, up to names", reduced, wall, used)
    named, named_wall, named_used = kit(calls, "--no-symmetry")
    _line("kit, every call named", named, named_wall, named_used)
    assert named["states"] == 23**calls + 12**calls - 8**calls
    why = missing() or (None if calls <= MOST else f"calls.pml is written out for {MOST} calls at most")
    if why is not None:
        print(f"Spin: skipped, because {why}")
        return
    states, spin_wall, spin_used = spin(calls)
    assert states == named["states"], f"Spin counts {states}, the kit {named['states']}"
    print(f"{'Spin, pan -E':<28}{states:>12,}{'':>14}{spin_wall:>9.2f}{spin_used:>9.2f}")
    print(
        f"kit / Spin: up to names {wall / spin_wall:.3f} of the wall time, {used / spin_used:.3f} of the "
        f"processor's; every call named {named_wall / spin_wall:.3f} and {named_used / spin_used:.3f}"
    )


def _line(name: str, said: dict[str, int], wall: float, used: float) -> None:
    states, steps = said["states"], said["transitions"]
    print(f"{name:<28}{states:>12,}{steps:>14,}{wall:>9.2f}{used:>9.2f}{steps / used:>19,.0f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else MOST)
