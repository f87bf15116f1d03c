"""The matrix of real runtimes, made several times and compared byte for byte: verdicts, counts and witnesses.

    python tests/benchmarks/equal_runs.py [RUNS] [ENVIRONMENTS] [ONLY] [EXAMPLES] [--infer]

Each run is a process of its own in an empty folder, so that no order of a hash, no address and nothing that a
run before it left behind can be the same by chance.  It exits with 1 if a file differs, and says where.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

Files = Mapping[str, bytes]


def made(folder: Path, environments: Path, only: str, more: Sequence[str]) -> Files:
    """What one run writes, by name."""
    folder.mkdir()
    runlock = [sys.executable, "-m", "runlock.conformance.cli"]
    words = [*runlock, "matrix", "--only", only, "--envs", str(environments), "-o", "matrix", *more]
    subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    paths = (path for path in sorted((folder / "matrix").rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def differences(first: Files, other: Files) -> Iterator[str]:
    """A line for each file that the other run has not, has alone, or has with another content."""
    for name in sorted({*first, *other}):
        one, two = first.get(name), other.get(name)
        if one is None or two is None:
            yield f"{name}: only one of the runs has it"
        elif one != two:
            yield f"{name}: {_first_line(one, two)}"


def _first_line(one: bytes, two: bytes) -> str:
    lines = zip_longest(one.decode().splitlines(), two.decode().splitlines(), fillvalue="")
    number, (left, right) = next((at, pair) for at, pair in enumerate(lines, 1) if pair[0] != pair[1])
    return f"line {number} is {left.strip()[:200]!r}, and was {right.strip()[:200]!r}"


def main(runs: int = 5, environments: Path = Path(".runlock"), only: str = "*", *more: str) -> int:
    """Print how each run compares with the first; the exit code."""
    equal = True
    with TemporaryDirectory() as root:
        words = [f"--examples={word}" if word.isdigit() else word for word in more]
        first = made(Path(root, "1"), environments.resolve(), only, words)
        print(f"run 1: {len(first)} files, {sum(map(len, first.values()))} bytes", flush=True)
        for number in range(2, runs + 1):
            other = made(Path(root, str(number)), environments.resolve(), only, words)
            told = list(differences(other, first))
            print(f"run {number}: " + ("\n  ".join(["differs", *told]) if told else "the same"), flush=True)
            equal = equal and not told
    return 0 if equal else 1


if __name__ == "__main__":
    given = sys.argv[1:]
    kinds = (int, Path)
    raise SystemExit(main(*(kind(word) for kind, word in zip(kinds, given, strict=False)), *given[2:]))
