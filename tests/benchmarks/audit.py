"""How fast recorded threads are judged: as a multiple of parsing them, by their number, and in memory.

`python tests/benchmarks/audit.py THREADS [WORKERS]` writes that many threads and ten times as many, of shapes
that differ in the number of rounds, and judges the core clauses of both.  With WORKERS, the larger file is
cut into pieces, and judged by one Ray worker and by that many.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).parents[1] / "doubles"))

from recorded_threads import threads

from runlock.conformance.audit.engine import Task, judged
from runlock.conformance.audit.reading import decoder
from runlock.conformance.audit.workers import on_ray

SHAPES = 5
"""Numbers of rounds that the threads have, from none."""

PIECES = 16


def write(path: Path, number: int) -> int:
    """Write that many threads; how many records there are."""
    records = 0
    with path.open("w", encoding="utf-8") as file:
        for begin in range(0, number, 100):
            made = threads(min(100, number - begin), rounds=begin // 100 % SHAPES, first=begin)
            for record in made[bool(begin) :]:
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
                records += 1
    return records


def parse(path: Path) -> None:
    """Parse every line of a file."""
    loads = decoder()
    with path.open("rb") as file:
        for line in file:
            loads(line)


def judge(path: Path) -> None:
    """Judge a file in this process."""
    found = judged([path], Task(), lambda _: None)
    assert not found.failed


def timed(work: Callable[[Path], None], path: Path) -> float:
    """The processor time that a piece of work takes."""
    begun = process_time()
    work(path)
    return process_time() - begun


def memory(path: Path) -> float:
    """The most memory, in MiB, of a process that judges a file."""
    command = [sys.executable, __file__, "--memory", str(path)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def on_workers(folder: Path, path: Path, workers: int) -> float:
    """The time that Ray takes with that many workers, after it has started them."""
    pieces = []
    head, *lines = path.read_text("utf-8").splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if line.startswith('{"scenario"')]
    cuts = [*starts[:: len(starts) // PIECES + 1], len(lines)]
    for number, (begin, end) in enumerate(pairwise(cuts)):
        pieces.append(folder / f"piece-{number}.jsonl")
        pieces[-1].write_text("".join([head, *lines[begin:end]]), "utf-8")
    with on_ray("ray", workers) as crew:
        judged(pieces[:workers], Task(), lambda _: None, nullcontext(crew))  # starts every worker
        begun = perf_counter()
        judged(pieces, Task(), lambda _: None, nullcontext(crew))
        return perf_counter() - begun


def main(number: int, workers: int | None) -> None:
    """Print what was measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = folder / "small.jsonl", folder / "large.jsonl"
        few, many = write(small, number), write(large, 10 * number)
        judge(small)  # what is imported and cached
        parsing, first, all_ = timed(parse, large), timed(judge, small), timed(judge, large)
        print(f"records {few:,} and {many:,}")
        print(f"judging takes {all_ / parsing:.1f} times as long as parsing: {many / all_:,.0f} records/s")
        print(f"ten times the threads take {all_ / first:.1f} times as long")
        print(f"memory {memory(small):.0f} MiB and {memory(large):.0f} MiB")
        if workers is not None:
            one, several = (on_workers(folder, large, jobs) for jobs in (1, workers))
            print(f"{workers} workers are {one / several:.2f} times as fast as one")


if __name__ == "__main__":
    if sys.argv[1] == "--memory":
        judge(Path(sys.argv[2]))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    else:
        main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
