"""The folder of results belongs to one run at a time, and holds what that run found and nothing else."""

import json
from pathlib import Path

import pytest
from command_line import child, run

from runlock.conformance.report.result_folder import reserved

pytestmark = pytest.mark.usefixtures("folder")


def test_a_folder_in_use_is_not_shared(folder: Path) -> None:
    """Each further run has a numbered folder next to it; a folder that was left is free again."""
    out = folder / "out"
    with reserved(out) as first, reserved(out) as second, reserved(out) as third:
        assert [first, second, third] == [out, folder / "out-2", folder / "out-3"]
    with reserved(out) as again:
        assert again == out


def test_the_current_folder_has_a_neighbour_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without a name of its own is numbered by that which it has."""
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    with reserved(Path()), reserved(Path()) as second:
        assert second.resolve() != (folder / "here").resolve()


@pytest.mark.long
def test_a_green_run_leaves_no_older_counterexample(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an earlier run wrote is removed; other files stay."""
    out = folder / "out"
    red = run(capsys, "check", "py:cli_fakes:ExecutesRejected", "--examples", 20, "-o", "out")
    assert red.code == 1
    assert "GATE-2" in {path.stem for path in out.glob("*.jsonl")}
    for name in ("trouble-1.jsonl", "exception-1.jsonl", "mine.jsonl", "GATE-2.txt"):
        (out / name).write_text("")

    green = run(capsys, "check", "py:cli_fakes:Tiny", "--examples", 20, "-o", "out")
    assert not json.loads((out / "result.json").read_text())["violations"]
    assert green.code != 1
    assert sorted(path.name for path in out.iterdir()) == ["GATE-2.txt", "mine.jsonl", "result.json"]


@pytest.mark.processes
def test_two_checks_at_once_keep_their_results(folder: Path) -> None:
    """Each of two runs that name the same folder says where its own results are."""
    words = ("--examples", 60, "--json", "-o", "out")
    runs = [child("check", f"py:cli_fakes:{name}", *words) for name in ("ExecutesRejected", "Tiny")]
    broken, held = (json.loads(one.communicate()[0]) for one in runs)

    (violation,) = (one for one in broken["violations"] if one["cause"] is None)
    assert Path(violation["trace"]).exists()
    assert held["violations"] == []
    stored = [json.loads(path.read_text()) for path in sorted(folder.glob("out*/result.json"))]
    assert sorted(one["target"] for one in stored) == sorted([broken["target"], held["target"]])
