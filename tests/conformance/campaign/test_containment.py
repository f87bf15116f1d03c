"""What a runtime does to its process ends with a verdict or a diagnosis, and the command ends."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import pytest
from command_line import run_child

from runlock.conformance.campaign.containment import contained
from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.supervisor import campaign

HARMLESS = ("LeavesAThread", "ChangesTheFolder", "ClosesStandardOutput", "Forks", "PatchesRandom")
HARMFUL = ("HasNoRandom", "FailsInTheBackground", "ExitsInTheBackground", "InterruptsInTheBackground")


def checked(folder: Path, name: str, *words: object) -> tuple[int, str]:
    """The exit code, and the verdict in the folder of results."""
    ran = run_child(
        "check", f"py:hostile_fakes:{name}", "--examples", 8, "-o", "out", *words, cwd=folder, timeout=60
    )
    return ran.code, json.loads((folder / "out/result.json").read_text())["verdict"]


@pytest.mark.sampled(1, nightly=5)
@pytest.mark.long
@pytest.mark.parametrize("where", [("--jobs", 1), ("--in-process",)])
@pytest.mark.parametrize("name", HARMLESS)
def test_what_changes_only_the_process_costs_nothing(
    tmp_path: Path, name: str, where: tuple[object, ...]
) -> None:
    """The verdict is that of the runtime, and its file is where it was asked for."""
    assert checked(tmp_path, name, *where) == (0, "held")


@pytest.mark.sampled(1, nightly=4)
@pytest.mark.long
@pytest.mark.parametrize("where", [("--jobs", 1), ("--in-process",)])
@pytest.mark.parametrize("name", HARMFUL)
def test_what_fails_is_never_held(tmp_path: Path, name: str, where: tuple[object, ...]) -> None:
    """A diagnosis, in a result that is written."""
    assert checked(tmp_path, name, *where) == (3, "undecided")


@pytest.mark.long
def test_a_runtime_that_ends_its_process_is_no_end_of_a_check_with_one_job(tmp_path: Path) -> None:
    """A Python runtime has a worker process also with one job."""
    assert checked(tmp_path, "EndsItself", "--jobs", 1) == (3, "undecided")


@pytest.mark.parametrize("name", ["ChangesTheFolder", "PatchesRandom", "ClosesStandardOutput"])
def test_a_unit_test_goes_on_after_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plugin and the Python interface stay in this process, and find it as it was."""
    monkeypatch.chdir(tmp_path)
    drawn = random.random
    result = campaign(Order(f"py:hostile_fakes:{name}", Sampled(0)))
    print("goes on")

    assert (result.verdict, Path.cwd(), random.random) == ("held", tmp_path, drawn)
    assert capsys.readouterr().out == "goes on\n"


def test_a_change_is_undone_after_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is restored whatever happens, and streams are only flushed."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="detached"), contained():
        os.chdir("/")
        sys.stdout.close()
        sys.stdout.detach()  # type: ignore[attr-defined]

    assert Path.cwd() == tmp_path
    assert not sys.stdout.closed


def test_an_exception_in_the_second_of_two_equal_schedules_is_shown() -> None:
    """A scenario that is only compared has exceptions too."""
    result = campaign(Order("py:hostile_fakes:FailsInTheBackground", Sampled(0)))

    assert result.verdict == "undecided"
    assert [one.error for one in result.raised] == [
        "Unheard: “in the background” (tests/doubles/hostile_fakes.py:93)"
    ]
