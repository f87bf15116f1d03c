"""The nightly matrix: ten releases of three libraries, replayed night by night with their adapters.

Each release of a library is a folder, and the command of its entry starts the one that it is given.
"""

import json
import shutil
from dataclasses import replace
from datetime import date, timedelta

import pytest
from places import ROOT
from sample_result import RESULT

from runlock.conformance.campaign.entries import Present
from runlock.conformance.campaign.matrix import Column
from runlock.conformance.campaign.order import Sampled
from runlock.conformance.cli.commands import nightly
from runlock.conformance.cli.commands.matrix import Options
from runlock.conformance.cli.main import main
from runlock.conformance.errors import UsageError
from runlock.conformance.judging.selection import Selection
from runlock.conformance.report.summary import NIGHTS as NIGHTS_MAX

ENTRY = """name = "{0}"
title = "The library {0}"
requirements = ["{0}==1.0"]
command = "{{python}} {{folder}}/start.py {{requirements}}"
"""
START = """
import sys
from pathlib import Path
from runlock.conformance.cli.main import main

sys.path.insert(0, str(Path(__file__).parents[1] / "libraries" / sys.argv[1].replace("==", "-")))
sys.exit(main(["serve", "py:adapter:Mine"]))
"""
ADAPTER = """
import library
from agent import Adapter
from runlock.conformance.adapter import Control, DecisionSupport, Party

class Mine(Adapter):
    handshake = Adapter.handshake.model_copy(
        update={
            "implementation": Party(name=library.NAME, version=library.VERSION),
            "control": Control(store="none"),
            "stimuli": ["decide"],
            "decisions": DecisionSupport(live=False, ids=True, payload=False),
        }
    )

    def take(self, decision):
        super().take(decision.model_copy(update={"action": library.action(decision.action)}))

    def answer(self, call, status, text):
        super().answer(call, library.status(status), text)
"""
LIBRARY = """
NAME, VERSION = "{}", "{}"

def action(said):
    return {}

def status(said):
    return {}
"""
RIGHT = ("said", "said")
RUNS_WHAT_WAS_REJECTED = ('"resume"', "said")
AN_ERROR_IS_A_SUCCESS = ("said", '"ok" if said == "error" else said')
NO_RELEASE = "raise ImportError('a file is missing in this release')\n"
JUDGED = Selection(("GATE-2", "CALL-5"))
RELEASES = {
    "tiny": [RIGHT, RUNS_WHAT_WAS_REJECTED, RUNS_WHAT_WAS_REJECTED, RIGHT],
    "small": [AN_ERROR_IS_A_SUCCESS, RIGHT, AN_ERROR_IS_A_SUCCESS],
    "little": [RUNS_WHAT_WAS_REJECTED, None, RIGHT],
}
"""The releases of each library, from 1.0 on; one of them cannot be imported."""

NIGHTS = [
    # tiny, small, little, the exit code, and which columns are run
    ("1.0", "1.0", "1.0", 0, {"tiny", "small", "little"}),
    ("1.1", "1.0", "1.0", 0, {"tiny"}),
    ("1.2", "1.1", "1.0", 0, {"tiny", "small"}),
    ("1.2", "1.1", "1.1", 3, {"little"}),  # cannot be imported
    ("1.2", "1.2", "1.1", 3, {"small", "little"}),  # what failed is tried again
    ("1.3", "1.2", "1.2", 0, {"tiny", "little"}),
    ("1.3", "1.2", "1.2", 0, set()),
]


def day(number):
    """The day of a night."""
    return str(date(2026, 11, 1) + timedelta(number - 1))


def at(library, version, night):
    """A release with the day on which it was run."""
    return {"release": f"{library}=={version}", "day": day(night)}


@pytest.fixture
def entries(tmp_path):
    """The libraries in all their releases, and an entry for each."""
    for name, releases in RELEASES.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "entry.toml").write_text(ENTRY.format(name))
        (folder / "start.py").write_text(START)
        (folder / "adapter.py").write_text(ADAPTER)
        shutil.copy(ROOT / "docs/examples/adapter.py", folder / "agent.py")
        for number, rules in enumerate(releases):
            release = tmp_path / "libraries" / f"{name}-1.{number}"
            release.mkdir(parents=True)
            text = NO_RELEASE if rules is None else LIBRARY.format(name, f"1.{number}", *rules)
            (release / "library.py").write_text(text)
    return tuple(tmp_path / name for name in RELEASES)


@pytest.fixture
def ran(monkeypatch):
    """The columns that are run, night by night; they are judged by two clauses, which takes less time."""
    asked = []

    def counted(chosen, environments, order, *others, **more):
        asked.append({one.name for one in chosen})
        return real(chosen, environments, replace(order, clauses=JUDGED), *others, **more)

    real = nightly.matrix
    monkeypatch.setattr(nightly, "matrix", counted)
    return asked


def released(**versions):
    """A lookup of the releases that there are on a day, with a preview of each library."""
    return lambda requirement: ["1.0", versions[requirement.partition("==")[0]], "9.0rc1"]


@pytest.mark.long
@pytest.mark.processes
def test_ten_releases_of_three_libraries(entries, ran, tmp_path):
    """A column is run once for each release; each finding has when it was first seen, last seen and fixed."""
    out = tmp_path / "out"
    options = Options((), tmp_path, out, entries=entries)
    for number, (tiny, small, little, code, expected) in enumerate(NIGHTS, 1):
        look = released(tiny=tiny, small=small, little=little)
        assert nightly.run(options, Sampled(0), 1.0, day(number), look) == code, number
        assert ran[-1] == expected, number

    history = json.loads((out / "history.json").read_text())
    assert {
        (one["library"], *one["clauses"]): [one["first"], one["last"], one["fixed"]]
        for one in history["findings"]
    } == {
        ("tiny", "GATE-2"): [at("tiny", "1.1", 2), at("tiny", "1.2", 3), at("tiny", "1.3", 6)],
        ("small", "CALL-5"): [at("small", "1.0", 1), at("small", "1.2", 5), None],
        ("little", "GATE-2"): [at("little", "1.0", 1), at("little", "1.0", 1), at("little", "1.2", 6)],
    }
    changed = {(one["day"][-1], it["what"]) for one in history["nights"] for it in one["changes"]}
    assert changed == {
        *(("1", "new"), ("2", "new"), ("3", "fixed in small==1.1"), ("4", "not decided in little==1.1")),
        *(("5", "is back in small==1.2"), ("6", "fixed in tiny==1.3"), ("6", "fixed in little==1.2")),
    }
    assert "First seen in small==1.0 (2026-11-01), last seen in small==1.2" in (out / "matrix.md").read_text()
    summary = (out / "summary.md").read_text()
    assert "so that the adapter is suspected first: 1 open, 2 fixed." in summary
    assert "- **Failed**: little:" in summary
    assert "a file is missing in this release" in summary


@pytest.fixture
def judged(monkeypatch):
    """The columns that are run, which all have one fixed result, or none where a name is in `failing`."""
    asked, failing = [], set()

    def matrix(chosen, *_, **__):
        asked.append([one.requirements[0] for one in chosen])
        return [Column(one, None if one.name in failing else RESULT, "it does not start") for one in chosen]

    monkeypatch.setattr(nightly, "matrix", matrix)
    return asked, failing


@pytest.fixture
def play(tmp_path, entries):
    """One night of one library, with a lookup."""
    options = Options((), tmp_path, tmp_path / "out", entries=entries[:1])
    return lambda look, number=1: nightly.run(options, Sampled(0), 1.0, day(number), look)


def unknown(_):
    """A lookup that fails."""
    raise UsageError("The releases could not be looked up: no network.")


def test_a_lookup_that_fails_leaves_the_release_and_is_said(judged, play, capsys):
    """The column of the newest release that is known is reused, and the exit code says that it may be old."""
    assert play(released(tiny="1.1"), 1) == 0
    assert play(unknown, 2) == 3
    assert play(released(tiny="1.1"), 3) == 0

    assert judged[0] == [["tiny==1.1"], [], []]
    assert "tiny: The releases could not be looked up: no network." in capsys.readouterr().err


def test_what_failed_is_run_again(judged, play):
    """Also if the release stays the same; and the release before it is the one that is remembered."""
    asked, failing = judged
    play(released(tiny="1.1"), 1)
    failing.add("tiny")
    assert [play(released(tiny="1.2"), number) for number in (2, 3)] == [3, 3]
    assert play(unknown, 4) == 3
    failing.clear()
    assert play(released(tiny="1.2"), 5) == 0

    assert [one for (one,) in asked] == [f"tiny==1.{number}" for number in (1, 2, 2, 1, 2)]


def test_a_column_that_decides_nothing_has_failed(play, monkeypatch, capsys):
    """A release whose schedules all end in an error is not one in which everything was fixed."""
    nothing = replace(RESULT, clauses=[], witnesses=[])
    monkeypatch.setattr(nightly, "matrix", lambda chosen, *_, **__: [Column(one, nothing) for one in chosen])

    assert play(released(tiny="1.1")) == 3
    assert "tiny: no clause was decided." in capsys.readouterr().err


def test_what_cannot_be_installed_has_failed(judged, play, monkeypatch, tmp_path):
    """The summary says why, and the other columns are judged."""

    def make(_, place):
        raise UsageError(f"The environment {place.name} could not be made.")

    monkeypatch.setattr(Present, "is_made", lambda *_: False)
    monkeypatch.setattr(Present, "make", make)
    judged[1].add("tiny")

    assert play(released(tiny="1.1")) == 3
    assert "The environment tiny@1.1 could not be made." in (tmp_path / "out/summary.md").read_text()


def test_another_budget_judges_everything_again(judged, tmp_path, entries):
    """A verdict of fewer schedules is another one."""
    options = Options((), tmp_path, tmp_path / "out", entries=entries[:1])
    for examples in (0, 0, 1):
        nightly.run(options, Sampled(examples), 1.0, day(1), released(tiny="1.1"))

    assert judged[0] == [["tiny==1.1"], [], ["tiny==1.1"]]


def test_an_entry_that_names_no_release_is_run_every_night(judged, play, entries):
    """The kit cannot see what is installed, and asks for no newer release."""
    file = entries[0] / "entry.toml"
    file.write_text(file.read_text().replace(" {requirements}", ""))

    assert [play(unknown, number) for number in (1, 2)] == [0, 0]
    assert judged[0] == [["tiny==1.0"], ["tiny==1.0"]]


def test_the_summary_is_of_the_last_nights(judged, play, tmp_path):
    """It does not grow without end; the records of findings stay."""
    for number in range(1, NIGHTS_MAX + 3):
        play(released(tiny="1.1"), number)
    summary = (tmp_path / "out/summary.md").read_text()

    assert summary.count("\n## ") == NIGHTS_MAX
    assert summary.index(day(NIGHTS_MAX + 2)) < summary.index(day(NIGHTS_MAX + 1))
    assert day(2) not in summary.partition("\n## ")[2]
    assert f"| tiny==1.1, {day(1)} |" in summary


def test_the_command_takes_a_day(capsys, tmp_path, monkeypatch):
    """It is part of the history, and no clock is asked."""
    monkeypatch.chdir(tmp_path)

    assert main(["matrix", "--nightly", "today"]) == 2
    assert "`--nightly today` is no day. Write it as 2026-11-28." in capsys.readouterr().err
