"""No process outlives the kit, whatever a target does and however the kit ends."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import child, run
from places import ROOT

from runlock.conformance.errors import RunlockError
from runlock.conformance.transport import guardian

pytestmark = pytest.mark.processes

HANGS = ROOT / "tests/doubles/faulty_adapters/hangs_at_run_start.py"
LIMIT_SECONDS = 40.0
KITS: list[subprocess.Popen[str]] = []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the targets' process ids; what a failing test leaves is killed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    yield tmp_path
    for kit in KITS:
        kit.kill()
        kit.communicate()
    KITS.clear()
    for pid in alive(tmp_path):
        os.kill(pid, signal.SIGKILL)


def started(folder: Path, name: str = "pids") -> list[int]:
    """The processes of all targets so far; or, in `pids.hung`, those that hang."""
    file = folder / name
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def alive(folder: Path) -> list[int]:
    """Those that are still there."""
    return [pid for pid in started(folder) if is_alive(pid)]


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that no one has waited for is dead."""
    ran = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(ran.stdout.strip()) and not ran.stdout.strip().startswith("Z")


def until(holds: object, seconds: float = LIMIT_SECONDS) -> bool:
    """Wait until a condition holds; false if it never does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


def checking(jobs: int, scale: float) -> subprocess.Popen[str]:
    """A check of the target that hangs, in a process of its own."""
    target = f"cmd:{sys.executable} -S -E {HANGS} pids"
    words = ("check", target, "--examples", 4, "--jobs", jobs, "--timeout-scale", scale, "-o", "out")
    KITS.append(child(*words))
    return KITS[-1]


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_target_that_hangs_is_blamed_and_leaves_nothing(folder: Path, jobs: int) -> None:
    """The verb is named, the campaign ends soon with a result, and each target was killed."""
    kit = checking(jobs, 0.15)
    out, _ = kit.communicate(timeout=LIMIT_SECONDS)
    result = json.loads((folder / "out/result.json").read_text())

    assert kit.returncode == 3
    assert "did not answer run.start within 1.5 s" in " ".join(out.split())
    assert {trouble["blame"] for trouble in result["troubles"]} == {"SUT"}
    assert result["partial"].startswith("it gave up after")
    assert until(lambda: not alive(folder))
    assert not os.listdir(folder / "temporary")


@pytest.mark.sampled(1, nightly=12)
@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_a_signal_leaves_nothing(folder: Path, name: str, jobs: int) -> None:
    """A signal ends targets and workers; one that can be handled leaves a result and no temporary file."""
    kit = checking(jobs, 1)
    assert until(lambda: len(started(folder, "pids.hung")) >= jobs)
    kit.send_signal(signal.Signals[name])
    kit.communicate(timeout=LIMIT_SECONDS)
    assert until(lambda: not alive(folder))
    number = len(started(folder))
    assert until(lambda: not os.listdir(folder / "temporary"))

    if name == "SIGKILL":
        assert kit.returncode == -signal.SIGKILL
        assert not until(lambda: len(started(folder)) != number, 1)
    else:
        assert kit.returncode == 3
        assert json.loads((folder / "out/result.json").read_text())["partial"] == "it was interrupted"


def test_a_worker_that_is_killed_leaves_no_target(folder: Path) -> None:
    """The target of a worker ends with it, and the campaign goes on with another."""
    kit = checking(2, 1)
    assert until(lambda: len(started(folder, "pids.hung")) >= 2)
    first = set(started(folder))
    workers = subprocess.run(
        ["pgrep", "-P", str(kit.pid), "-f", "campaign.worker"], capture_output=True, text=True, check=True
    )
    for worker in workers.stdout.split():
        os.kill(int(worker), signal.SIGKILL)
    assert until(lambda: not first & set(alive(folder)), 10)
    assert until(lambda: set(started(folder)) != first)
    kit.send_signal(signal.SIGTERM)
    kit.communicate(timeout=LIMIT_SECONDS)
    assert until(lambda: not alive(folder))


def test_the_processes_of_a_selftest_end_with_it(folder: Path) -> None:
    """Even SIGKILL, which nothing can handle, leaves no process of the pool."""
    KITS.append(child("selftest", "--jobs", 2))
    kit = KITS[-1]

    def pool() -> list[int]:
        words = ["pgrep", "-P", str(kit.pid), "-f", "spawn_main"]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        return [int(line) for line in ran.stdout.split()]

    assert until(lambda: len(pool()) == 2)
    workers = pool()
    kit.kill()
    kit.wait(LIMIT_SECONDS)
    assert until(lambda: not any(map(is_alive, workers)), 10)


def test_an_orphaned_worker_starts_no_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once its supervisor is gone, a worker refuses to open a target."""
    guardian.refuse_orphan()
    monkeypatch.setattr(guardian, "_STATE", guardian._State(parent=os.getppid() + 1))
    with pytest.raises(RunlockError, match="is gone"):
        guardian.refuse_orphan()


@pytest.mark.sampled(1, nightly=5)
@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 4, 8])
@pytest.mark.parametrize("seconds", [0.5, 1.5, 2.5, 3.5, 5, 7])
def test_an_interrupt_at_any_moment_leaves_what_was_judged(folder: Path, jobs: int, seconds: float) -> None:
    """A result, or the sentence that nothing was judged; never a bug of the kit."""
    words = ("check", "mutant:tool-runner/YieldsATurnTwice", "--examples", 90, "--jobs", jobs, "-o", "out")
    KITS.append(child(*words))
    with suppress(subprocess.TimeoutExpired):
        KITS[-1].wait(seconds)
    KITS[-1].send_signal(signal.SIGINT)
    _, err = KITS[-1].communicate(timeout=LIMIT_SECONDS)

    is_begun = (folder / "out").exists()
    assert KITS[-1].returncode in (1, 3) or not is_begun
    assert (
        not is_begun or (folder / "out/result.json").exists() or "Interrupted before the first verdict" in err
    )
    assert until(lambda: not os.listdir(folder / "temporary"))


CHECK = "check mutant:tool-runner/YieldsATurnTwice --examples 8 --jobs 1 -o out"


@pytest.mark.sampled(1, nightly=2)
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full", "| true"])
def test_a_stream_that_cannot_be_written_costs_what_it_would_have_shown(folder: Path, closed: str) -> None:
    """The exit code and the result in the folder are those of the check."""
    command = f"{sys.executable} -m runlock.conformance.cli {CHECK} {closed}; exit ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", command], check=False, capture_output=True, timeout=LIMIT_SECONDS)

    assert ran.returncode == 1
    assert json.loads((folder / "out/result.json").read_text())["verdict"] == "broken"


def test_a_folder_that_is_full_costs_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report is printed, says what is missing, and has the exit code of the verdict."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "replace", full)
    ran = run(capsys, *CHECK.replace("--jobs 1", "").split())

    assert (ran.code, "broken: mutant:tool-runner" in ran.out) == (1, True)
    assert "out/result.json could not be written: No space left on device." in ran.err
    assert not list(Path("out").iterdir())
