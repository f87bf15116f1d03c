"""Versions over time: what a program without the kit shows in a release, and what a page says of them all."""

import json
import sys
from dataclasses import replace

import pytest
from places import ROOT

from runlock.conformance.campaign.environments import BIN, split
from runlock.conformance.campaign.programs import GONE, THERE, UNDECIDED, compared, outcome
from runlock.conformance.campaign.runtime import Known
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.cli.main import main
from runlock.conformance.report.versions import FILE, absent, known, merged, seen, undecided

RUNTIMES = {one.name: one for one in runtimes()}
PROGRAMS = {
    "bug.py": """'What it does.'


def shown():
    raise SystemExit("still there")


def hidden():
    raise SystemExit(0)


PROGRAMS = {"shown": shown, "hidden": hidden}

for one in PROGRAMS.values():
    one()
""",
    "fails.py": 'raise ImportError("no name (/some/folder/x.py)")\n',
}
HISTORY = {
    "environments": {
        "agno": {
            "versions": ["1", "2", "3", "4", "5"],
            "programs": {
                "a.py": [UNDECIDED + "too old", GONE, THERE, THERE, GONE],
                "b.py": [THERE, GONE, GONE, GONE, THERE],
                "c.py": [GONE, GONE, GONE, GONE, GONE],
            },
        }
    }
}


@pytest.fixture
def runtime(tmp_path):
    """A runtime whose environments have this Python, without the earliest release."""
    one = replace(
        RUNTIMES["agno"], older=("agno==1.0.0", "agno==2.0.0"), seen=(Known("RUN-1", "", "bug.py shown"),)
    )
    for release in list(one.releases().values())[1:]:
        place = release.place(tmp_path) / BIN
        place.mkdir(parents=True)
        (place / "python").symlink_to(sys.executable)
    for name, text in PROGRAMS.items():
        (tmp_path / name).write_text(text)
    return one


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("bug.py shown", THERE),
        ("bug.py hidden", GONE),
        ("fails.py", f"{UNDECIDED}ImportError: no name"),
    ],
)
def test_a_program_shows_its_bug_or_not_or_cannot_run(runtime, tmp_path, program, said):
    """Only "still there" is the bug; an error of the program decides nothing, and names no folder."""
    assert outcome(runtime, tmp_path, program, tmp_path) == said


def test_all_releases_are_compared(runtime, tmp_path):
    """From the oldest on; one that is not installed decides nothing."""
    [(_, found)] = compared([runtime], tmp_path, tmp_path)

    assert found["versions"][:2] == ["1.0.0", "2.0.0"]
    assert found["programs"] == {"bug.py shown": [f"{UNDECIDED}it is not installed", THERE, THERE]}


@pytest.mark.parametrize(
    ("program", "when"),
    [("a.py", ("3", "4", "5")), ("b.py", ("1", "5", "not yet")), ("c.py", None), ("d.py", None)],
)
def test_when_a_bug_was_seen(program, when):
    """The first and the last release that shows it, and the first after them that does not."""
    assert seen(HISTORY, "agno", program) == when


def test_a_release_that_decided_nothing_is_named():
    """With the reason; a runtime that was never compared has none."""
    assert [*undecided(HISTORY, "agno", "a.py")] == [("1", "too old")]
    assert absent(HISTORY, "agno", "a.py") == ["2", "5"]
    assert seen({}, "agno", "a.py") is None


def test_news_of_one_runtime_leave_the_others(tmp_path):
    """`--only` compares some runtimes, and the file keeps what it says of the others."""
    (tmp_path / FILE).write_text(json.dumps(HISTORY))
    news = {"strands": {"versions": ["1"], "programs": {"s.py": [THERE]}}}

    assert [*merged(tmp_path / FILE, news)["environments"]] == ["agno", "strands"]


@pytest.mark.parametrize("name", RUNTIMES)
def test_releases_are_of_the_same_packages_and_the_pinned_one_is_the_last(name):
    """An environment for each, made of versions alone."""
    runtime = RUNTIMES[name]
    packages = [split(one)[0] for one in runtime.requirements]

    assert [*runtime.releases().values()][-1:] == ([runtime] if runtime.older else [])
    for release in runtime.releases().values():
        assert [split(one)[0] for one in release.requirements] == packages
        assert release is runtime or release.requirements != runtime.requirements


def test_the_committed_history_is_of_these_programs_and_releases():
    """A program that was run shows its violation in the pinned release, and was run in all the others."""
    history = known(ROOT / "docs" / FILE).get("environments", {})
    programs = {(one.environment, it.standalone) for one in RUNTIMES.values() for it in one.seen}

    assert {(name, program) for name, one in history.items() for program in one["programs"]} <= programs
    for one in (one for one in RUNTIMES.values() if not one.wire):
        assert history.get(one.environment, {"versions": [*one.releases()]})["versions"] == [*one.releases()]
    assert {said[-1] for one in history.values() for said in one["programs"].values()} <= {THERE}


def test_a_pattern_that_matches_no_release_is_told(capsys):
    """With the releases that there are."""
    assert main(["matrix", "--install", "agno@9*"]) == 2
    assert "`--install agno@9*` names no runtime. " in capsys.readouterr().err


def test_without_the_programs_nothing_is_compared(capsys, tmp_path, monkeypatch):
    """They are in the repository, and not in the package."""
    monkeypatch.chdir(tmp_path)

    assert main(["matrix", "--versions"]) == 2
    assert "The programs are in the repository" in " ".join(capsys.readouterr().err.split())
