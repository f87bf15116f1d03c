"""Campaigns on a cluster: the result of one process, also where a worker is lost or a limit is reached."""

from __future__ import annotations

import pickle
import shutil
import signal
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from command_line import child, run
from lost_workers import MARK

from runlock.conformance.campaign import on_cluster
from runlock.conformance.campaign.order import Means, Order, Sampled
from runlock.conformance.campaign.supervisor import campaign
from runlock.conformance.campaign.workforce import InProcessRunner
from runlock.conformance.cluster import TaskLost
from runlock.conformance.errors import UsageError

pytestmark = pytest.mark.usefixtures("folder")

RAY = ("--on", "ray", "--jobs", 2)


class Backwards:
    """A cluster in this process: of the tasks under way, the newest one ends first."""

    ahead = 5
    lost: tuple[str, ...] = ()  # the work whose tasks are lost

    def __init__(self, address: str, jobs: int) -> None:
        self._work: dict[int, tuple[Callable[..., Any], tuple[Any, ...]]] = {}

    def start(self, work: Callable[..., Any], *arguments: Any) -> int:
        """Keep the task as it would be sent."""
        task = len(self._work)
        self._work[task] = work, pickle.loads(pickle.dumps(arguments))
        return task

    def wait(self, tasks: Sequence[int], seconds: float | None = None) -> list[int]:
        """The newest task."""
        return [tasks[-1]]

    def result(self, task: int) -> Any:
        """Its result, unless it is lost."""
        work, arguments = self._work[task]
        if work.__name__ in self.lost:
            raise TaskLost("The task is lost.")
        return work(*arguments)

    def cancel(self, tasks: Sequence[int]) -> None:
        """A task that had not begun is lost."""
        for task in tasks:
            self._work[task] = _cancelled, ()

    def close(self) -> None:
        """Nothing is open."""


def _cancelled() -> None:
    raise TaskLost("The task was cancelled.")


@pytest.fixture
def backwards(monkeypatch: pytest.MonkeyPatch) -> type[Backwards]:
    """Campaigns go to this cluster, whose workers play in this process."""
    known: dict[bytes, InProcessRunner] = {}

    def pool(sent: bytes) -> InProcessRunner:
        if sent not in known:
            known[sent] = InProcessRunner(pickle.loads(sent)[0])
        return known[sent]

    cluster = type("Backwards", (Backwards,), {})
    monkeypatch.setattr(on_cluster, "Cluster", cluster)
    monkeypatch.setattr(on_cluster, "_pool", pool)
    return cluster


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    """The exit code of a check and what it prints, without the failures of an earlier one to replay."""
    shutil.rmtree("runlock-results", ignore_errors=True)
    ran = run(capsys, "check", *words, "--json")
    return ran.code, ran.out


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "words",
    [
        ("py:cli_fakes:ExecutesRejected", "--examples", 64),
        ("py:cli_fakes:GoesNowhere", "--examples", 64, "--first"),
        ("py:cli_fakes:ExecutesRejected", "--exhaustive", "--depth", 2),
    ],
)
def test_the_order_in_which_tasks_end_changes_nothing(backwards, capsys, words):
    """Sampled schedules, those up to the first violation, and every schedule: the same to the byte."""
    here = printed(capsys, *words, "--jobs", 1)

    assert printed(capsys, *words, "--on", "ray") == here


def test_a_campaign_whose_tasks_are_lost_is_partial(backwards, capsys):
    """What was played until then is reported, with the reason."""
    backwards.lost = ("play_unit",)
    ran = run(capsys, "check", "py:cli_fakes:Tiny", "--examples", 16, "--json", "--on", "ray")

    assert (ran.code, ran.json["schedules"]) == (3, 0)
    assert ran.json["partial"] == "a worker that was lost could not be replaced: The task is lost."


@pytest.mark.long
def test_a_violation_is_shown_as_found_if_nothing_can_shorten_it(backwards):
    """A lost task costs the shorter witness, and not the violation."""
    backwards.lost = ("witness_of",)
    result = campaign(Order("py:cli_fakes:ExecutesRejected", Sampled(64)), Means(on="ray"))

    assert "GATE-1" in {one.clause for one in result.witnesses}


def test_a_budget_ends_a_campaign_on_a_cluster(backwards, capsys):
    """The result is partial."""
    ran = run(capsys, "check", "py:cli_fakes:Tiny", "--examples", 64, "--budget", 0, "--json", "--on", "ray")

    assert (ran.code, ran.json["partial"]) == (3, "its time was over")


def test_a_target_that_a_machine_lacks_is_told_so(monkeypatch, backwards):
    """On another machine, the error says what each of them needs."""

    def pool(sent: bytes) -> InProcessRunner:
        raise UsageError("There is no module x.")

    monkeypatch.setattr(on_cluster, "_pool", pool)

    with pytest.raises(UsageError, match=r"no module x\. Each machine of the cluster needs this version"):
        campaign(Order("py:cli_fakes:Tiny", Sampled(16)), Means(on="ray://head:10001"))


def test_without_ray_one_sentence_says_what_to_install(capsys, monkeypatch):
    """The error of `audit --on`."""
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    ran = run(capsys, "check", "py:cli_fakes:Tiny", "--on", "ray")

    assert (ran.code, ran.err) == (
        2,
        "runlock: This command needs ray, which is not installed. "
        "`pip install -e '.[ray]'` in the folder of the kit's source installs it.\n",
    )


# --- on Ray -------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ("py:cli_fakes:ExecutesRejected", "--examples", 64),
        ("reference", "--exhaustive", "--depth", 2),
    ],
)
def test_ray_changes_nothing(capsys, words):
    """Two Ray workers give what one process gives, to the byte."""
    pytest.importorskip("ray")
    here = printed(capsys, *words, "--jobs", 1)

    assert printed(capsys, *words, *RAY) == here


@pytest.mark.long
def test_a_unit_whose_ray_worker_is_lost_is_played_again(capsys, folder, monkeypatch):
    """The worker is killed in the middle of a schedule, and the result is the same."""
    pytest.importorskip("ray")
    words = ("py:lost_workers:KillsItsRayWorker", "--examples", 64)
    here = printed(capsys, *words, "--jobs", 1)
    monkeypatch.setenv(MARK, str(folder / "killed"))

    assert printed(capsys, *words, *RAY) == here
    assert (folder / "killed").exists()


@pytest.mark.long
def test_a_runtime_that_ends_its_process_costs_no_ray_worker(capsys):
    """It is blamed as with worker processes."""
    pytest.importorskip("ray")
    words = ("py:cli_fakes:EndsItsProcess", "--examples", 16)

    assert printed(capsys, *words, *RAY) == printed(capsys, *words, "--jobs", 2)


@pytest.mark.long
def test_an_interrupt_keeps_what_was_played_on_ray(folder):
    """Ctrl-C ends in a partial report, and what is under way gives what it has."""
    pytest.importorskip("ray")
    words = ("check", "py:cli_fakes:Tiny", "--examples", 1_000_000, *RAY)
    with child(*words, cwd=folder, start_new_session=True) as process:
        begun = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()

    assert begun.startswith("playing ")
    assert (process.returncode, err) == (3, "")
    assert "partial: it was interrupted" in out
