"""Each benchmark runs, and counts something: once, as small as it can be told to be."""

import re
import subprocess
import sys
from typing import NamedTuple

import pytest
import random_faults
import verdicts
from places import BENCHMARKS as FOLDER
from places import ROOT

ENVIRONMENTS = ROOT / ".runlock"


class Small(NamedTuple):
    """The words for a small run, and what it prints, as a pattern, if it has measured anything."""

    words: str
    prints: str


BENCHMARKS = {
    "ablation": Small("1 100", r"\| \+ quiescence \| \d+ \| [1-9]"),
    "ast_mutants": Small("tool-runner 3 3", r"\| \*\*all\*\* \| [1-9]"),
    "audit": Small("200", r"judging takes \d+\.\d times as long as parsing: [1-9]"),
    "calm": Small("400 1 1", r"\| all \| 400 \| [1-9]\d+ \| 0 \|"),
    "equal_runs": Small("2 .runlock pydantic-ai", r"run 1: [1-9]\d* files, .*\nrun 2: the same\n"),
    "explore": Small("2", r"kit, every call named +609 "),
    "hunt": Small("8 300", r"lifecycle +schedules +[1-9]"),
    "instructions": Small("count machine awaken-8 1 1", r"\A\Z"),  # what Valgrind counts, for minutes
    "kills": Small("1 1", r"call-by-call +1 +[1-9] +0\n"),
    "load": Small("101", r"file for a finished one, KiB +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d\n"),
    "pairs_of_faults": Small("6 1 100", r"message-loop +[1-9]\d* +\d+\n"),
    "pipe": Small("1", r"[1-9]\d* round trips, [1-9]"),
    "random_faults": Small("5", r"5 of 5 faults ended as they should\n"),
    "shares": Small("awaken-8 16 2", r"Hypothesis draws +[1-9]\d* +0\nthe judge +\d+ +[1-9]"),
    "throughput": Small("awaken-8 16 2", r"schedules of 2 +[1-9]\d* .*; [1-9]\d* of [1-9][\d,]* again\n"),
    "waits": Small("1 0", r"1 schedules, [1-9]\d* stimuli, .* ms each; \d+% of it waited in vain\n"),
    "tours": Small("1", r"tirea +44 +44 in "),
}
"""Every benchmark, by name."""

EACH_TIME = ("calm", "hunt", "throughput")
"""Those that `.ci/run` plays; the others are nightly."""


def test_no_benchmark_is_left_out() -> None:
    """Each program in the folder has a row, but for the one that plays every runtime at its smallest."""
    programs = {path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("test_")}

    assert set(BENCHMARKS) == programs - {"verdicts"}


def test_verdicts_are_compared_one_by_one() -> None:
    """A verdict that changed is shown with what it was, and those that did not are counted."""
    before = {"a": {"schedules": {"s1": ["RUN-1", "late", 2], "s2": None}, "exercised": {"RUN-1": 1}}}
    after = {"a": {"schedules": {"s1": ["RUN-2", "late", 2], "s2": None}, "exercised": {"RUN-2": 1}}}

    assert list(verdicts.compare(before, after)) == [
        "other clause: a, s1: ['RUN-1', 'late', 2] -> ['RUN-2', 'late', 2]",
        "exercised: a: no longer ['RUN-1'], newly ['RUN-2']",
        "1 other clause, 1 same",
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [one if one in EACH_TIME else pytest.param(one, marks=pytest.mark.nightly) for one in BENCHMARKS]
)
def test_a_benchmark_runs(name: str) -> None:
    """It ends well, and what it prints says that there was something to count."""
    if name == "equal_runs" and not ENVIRONMENTS.joinpath("pydantic-ai").exists():
        pytest.skip("pydantic-ai is not installed here")
    small = BENCHMARKS[name]
    command = [sys.executable, FOLDER / f"{name}.py", *small.words.split()]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(small.prints, ran.stdout), ran.stdout


@pytest.mark.long
@pytest.mark.sampled(1, nightly=50)
@pytest.mark.parametrize("seed", range(50))
def test_no_random_fault_is_forgotten(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five hundred none is held without a word, none is a bug of the kit, and nothing is left."""
    monkeypatch.setenv(random_faults.MARK, "")  # which the benchmark sets, and later tests must not see
    monkeypatch.setattr(random_faults.tempfile, "tempdir", None)
    assert random_faults.main(10, seed) == 0
