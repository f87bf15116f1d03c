"""The nightly matrix: ten releases of three libraries, replayed night by night with their adapters.

Each library is a folder for each of its releases, and an entry whose command starts the release that it is given.
"""

import json
import shutil
from dataclasses import replace
from itertools import count

import pytest
from places import ROOT

from runlock.conformance.campaign.entries import entry_in
from runlock.conformance.campaign.order import Sampled
from runlock.conformance.campaign.releases import followed, judged_from, newest, remembered
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.cli.commands import nightly
from runlock.conformance.cli.commands.matrix import Options
from runlock.conformance.cli.main import main
from runlock.conformance.errors import UsageError

RUNTIMES = {one.name: one for one in runtimes()}
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
from runlock.conformance.adapter import Party

class Mine(Adapter):
    handshake = Adapter.handshake.model_copy(
        update={"implementation": Party(name=library.NAME, version=library.VERSION)}
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
    return f"2026-11-{number:02}"


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
    """The columns that are run, night by night."""
    asked = []

    def counted(chosen, *others, **more):
        asked.append({one.name for one in chosen})
        return real(chosen, *others, **more)

    real = nightly.matrix
    monkeypatch.setattr(nightly, "matrix", counted)
    return asked


@pytest.mark.long
@pytest.mark.processes
def test_ten_releases_of_three_libraries(entries, ran, tmp_path):
    """A column is run once for each release; each finding says when it was first seen, last seen and fixed."""
    options = Options((), tmp_path, tmp_path / "out", entries=entries)
    for number, (tiny, small, little, code, expected) in zip(count(1), NIGHTS, strict=False):
        released = {"tiny": tiny, "small": small, "little": little}
        look = lambda one, released=released: ["1.0", released[one.partition("==")[0]], "9.0rc1"]  # noqa: E731
        assert nightly.run(options, Sampled(0, 0), 1.0, day(number), look) == code, number
        assert ran[-1] == expected, number

    history = json.loads((tmp_path / "out/history.json").read_text())
    found = {(one["library"], one["clauses"][0]): one for one in history["findings"]}
    for one in history["findings"]:
        print(one["library"], one["clauses"], one["first"], one["last"], one["fixed"], one["undecided"])
    print((tmp_path / "out/summary.md").read_text())
    print((tmp_path / "out/matrix.md").read_text()[:3000])
    assert 0
