"""How fast recorded threads are judged: as a multiple of parsing them, by their number, and in memory.

`python tests/benchmarks/audit.py THREADS` writes that many threads and ten times as many, of shapes
that differ in the number of rounds, and judges the core clauses of both.

`python tests/benchmarks/audit.py --ray WORKERS THREADS` writes that many threads as AG-UI events, whose
records go through the partitions, and more of them as traces, in files of equal size.  One Ray worker and
that many judge them in turn; the best time of each counts, without the start of the cluster and its workers.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "doubles"))

from recorded_threads import threads

from runlock.conformance.audit.engine import Task, judged
from runlock.conformance.audit.reading import decoder
from runlock.conformance.audit.summary import Summary
from runlock.conformance.audit.workers import on_ray

SHAPES = 5
"""Numbers of rounds that the threads have, from none."""

PIECES = 16
TURNS = 3
FASTER = 20
"""Traces of one shape are judged once, so more of them take as long as events do."""

RECORDING = Path(__file__).parents[1] / "data" / "recordings" / "ag_ui" / "plain.jsonl"


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


def traces(folder: Path, number: int) -> list[Path]:
    """Files of equal size with `FASTER` times that many threads, as traces."""
    files = [folder / f"traces-{piece}.jsonl" for piece in range(PIECES)]
    for path in files:
        write(path, FASTER * number // PIECES)
    return files


def events(folder: Path, number: int) -> list[Path]:
    """Files of equal size with that many threads, as AG-UI events: a recording under other names."""
    text = RECORDING.read_text("utf-8")
    name = json.loads(text.splitlines()[0])["threadId"]
    files = [folder / f"events-{piece}.jsonl" for piece in range(PIECES)]
    for piece, path in enumerate(files):
        copies = (text.replace(name, f"{name}-{piece}-{one}") for one in range(number // PIECES))
        path.write_text("".join(copies), "utf-8")
    return files


def measured(work: Callable[..., Summary], *arguments: Any) -> tuple[Summary, float]:
    """The result of a task, and the processor time that it took."""
    begun = process_time()
    done = work(*arguments)
    return done, process_time() - begun


class Measured:
    """Workers of which the processor time of each task is kept, by the kind of work."""

    def __init__(self, workers: Any) -> None:
        self._workers = workers
        self.times: dict[str, list[float]] = {}
        self.driver = 0.0

    def run(self, work: Callable[..., Summary], of: Iterable[tuple[Any, ...]]) -> Iterator[Summary]:
        """The results of the calls."""
        for done, seconds in self._workers.run(measured, ((work, *arguments) for arguments in of)):
            self.times.setdefault(work.__name__, []).append(seconds)
            yield done

    def shared_out(self, workers: int) -> float:
        """How long the tasks take on idle processors: each goes to the first worker that is free."""
        total = 0.0
        for times in self.times.values():
            free = [0.0] * workers
            for seconds in times:
                free[free.index(min(free))] += seconds
            total += max(free)
        return total


def on_workers(files: list[Path], workers: int) -> tuple[float, Measured]:
    """The time that Ray takes with that many workers, after it has started them."""
    with on_ray("ray", workers) as crew:
        judged(files[:workers], Task(), lambda _: None, nullcontext(crew))  # starts every worker
        begun, kept = perf_counter(), Measured(crew)
        spent = process_time()
        judged(files, Task(), lambda _: None, nullcontext(kept))
        kept.driver = process_time() - spent
        return perf_counter() - begun, kept


def scaling(number: int, workers: int) -> None:
    """Print how much faster several workers are than one; they take turns, as the machine may be busy."""
    os.environ.setdefault("RAY_worker_niceness", "0")  # else Ray's workers give way to everything else
    with tempfile.TemporaryDirectory() as name:
        for made in (traces, events):
            files = made(Path(name), number)
            turns = [(on_workers(files, 1), on_workers(files, workers)) for _ in range(TURNS)]
            one, several = (min(turn[at][0] for turn in turns) for at in (0, 1))
            print(f"{made.__name__}: 1 worker {one:.1f} s, {workers} workers {several:.1f} s", end=", ")
            print(f"{one / several:.2f} times as fast; load {os.getloadavg()[0]:.1f}")
            shares = sorted(kept.shared_out(1) / kept.shared_out(workers) for _, (_, kept) in turns)
            print(f"  by the processor time of the tasks {shares[TURNS // 2]:.2f} times", end=", ")
            print(f"the driver takes {min(kept.driver for _, (_, kept) in turns):.1f} s of it", flush=True)


def main(number: int) -> None:
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


if __name__ == "__main__":
    if sys.argv[1] == "--memory":
        judge(Path(sys.argv[2]))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    elif sys.argv[1] == "--ray":
        scaling(int(sys.argv[3]), int(sys.argv[2]))
    else:
        main(int(sys.argv[1]))
