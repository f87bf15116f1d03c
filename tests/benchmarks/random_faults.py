"""Random faults: checks of a right runtime that goes wrong, in one of many ways, at one of many verbs.

`python tests/benchmarks/random_faults.py [FAULTS [SEED]]` draws that many faults from a seed and checks each,
one in twenty by the command line.  No check may be held after its fault was due, raise an error of the kit,
or leave a process or a folder.  The double leaves a mark when its fault is due, since one that is due after
the last answer never shows.
"""

from __future__ import annotations

import os
import random
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.supervisor import campaign
from runlock.conformance.errors import RunlockError

ROOT: Final = Path(__file__).resolve().parents[2]
FLAKY: Final = ROOT / "tests/doubles/faulty_adapters/flaky.py"
MARK: Final = "FLAKY_MARK"
LIMIT_SECONDS: Final = 300

FAULTS: Final = (
    "exits", "exits_after_it", "is_killed", "writes_garbage", "writes_half_a_line", "answers_twice",
    "answers_with_an_error", "says_that_it_crashed", "loses_an_observation", "reorders_observations",
    "renames_an_observation", "repeats_an_observation", "stamps_the_time", "changes_its_handshake",
)  # fmt: skip
METHODS: Final = (
    "any", "any", "initialize", "scenario.open", "run.start", "gate.release", "settle", "deliver",
    "scenario.close",
)  # fmt: skip
EVERY: Final = (1, 2, 3, 7, 20, 60, 100, 200, 300)


SHOWN: Final = (
    "loses_an_observation", "reorders_observations", "renames_an_observation", "repeats_an_observation",
)  # fmt: skip
OFTEN: Final = 60
"""An observation in fewer than these is wrong so often that most replays of a schedule can show it."""

BY_COMMAND: Final = 20
"""One in this many checks is a command."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: which, at each which answer, of which verb; and the jobs of the command, or 0 for none."""

    what: str
    every: int
    method: str
    jobs: int

    @property
    def also(self) -> tuple[str, ...]:
        """The other verdicts that it may have.

        What is wrong in each replay of a schedule is broken; the order within an answer is mostly free.
        """
        broken = ("broken",) if self.what in SHOWN and self.every < OFTEN else ()
        return (*broken, "held") if self.what == "reorders_observations" else broken

    @property
    def words(self) -> tuple[str, str, str]:
        """The arguments of the double."""
        return self.what, str(self.every), self.method


def drawn(number: int, seed: int) -> Iterator[Fault]:
    """Faults from a seed."""
    dice = random.Random(seed)
    for _ in range(number):
        what, every, method = dice.choice(FAULTS), dice.choice(EVERY), dice.choice(METHODS)
        jobs = 0 if dice.randrange(BY_COMMAND) else dice.choice((1, 2))
        yield Fault(what, max(2, every) if what == "changes_its_handshake" else every, method, jobs)


def wrong_with(fault: Fault) -> str:
    """What is wrong with the check of a fault, in a few words; nothing if it ended as it should."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        argv = [sys.executable, str(FLAKY), *fault.words, "plain", str(folder / "starts")]
        play = _by_command if fault.jobs else _here
        verdict = play(f"cmd:{shlex.join(argv)}", fault.jobs, folder)
        left = [one.name for one in (folder / "tmp").iterdir()]
        if left:
            return f"it left {left[0]}"
        if _is_alive(folder):
            return "it left a process"
        if verdict == "held" and not (folder / "due").exists():
            return ""
    return "" if verdict in ("undecided", *fault.also) else f"it is {verdict}"


def _here(target: str, _jobs: int, folder: Path) -> str:
    """The verdict of a campaign in this process."""
    os.environ[MARK], tempfile.tempdir = str(folder / "due"), str(folder / "tmp")
    try:
        result = campaign(Order(target, Sampled(8)))
    except RunlockError:
        return "undecided"  # it could not be started, and the error says why
    except Exception as error:
        return f"an error of the kit, {type(error).__name__}: {error}"
    finally:
        tempfile.tempdir = None
    is_said = bool(result.ledger.times or result.troubles)
    return result.verdict if is_said or result.verdict != "undecided" else "undecided without a word"


def _by_command(target: str, jobs: int, folder: Path) -> str:
    """The verdict of the command line."""
    words = ["check", target, "--examples", "8", "--jobs", str(jobs), "-o", "out"]
    ran = subprocess.run(
        [sys.executable, "-m", "runlock.conformance.cli", *words],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp"), MARK: str(folder / "due")},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    return {0: "held", 1: "broken", 3: "undecided"}.get(
        ran.returncode, f"{ran.returncode}: {ran.stderr[-300:]}"
    )


def _is_alive(folder: Path) -> bool:
    """Whether a process of this check is left, which has its folder among its arguments."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if str(folder).encode() in file.read_bytes():
                return True
    return False


def main(number: int = 500, seed: int = 0) -> int:
    """Check every fault; the number of those that ended in a way in which none should."""
    wrong = 0
    for at, fault in enumerate(drawn(number, seed)):
        if why := wrong_with(fault):
            wrong += 1
            print(f"{at}: {' '.join(fault.words)}, {fault.jobs} jobs: {why}", flush=True)
    print(f"{number - wrong} of {number} faults ended as they should")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
