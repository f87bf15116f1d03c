"""The page on adding a family is true: its files make a family that the kit checks."""

import json
import os
import re
import subprocess
import sys

import pytest
from places import ROOT

PAGE = ROOT / "docs" / "adding-a-family.md"
FILE = re.compile(r"^`(?P<path>[\w./-]+)`\n\n```\w+\n(?P<text>.*?)```$", re.DOTALL | re.MULTILINE)
ENTRY_POINTS = "[runlock.families]\nparrot = parrot.family:FAMILY\n"


@pytest.fixture
def followed(tmp_path):
    """A folder with the files of the page, and what an installation adds to them."""
    for found in FILE.finditer(PAGE.read_text("utf-8")):
        path = tmp_path / found["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found["text"], "utf-8")
    installed = tmp_path / "parrot-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot\nVersion: 1.0\n", "utf-8")
    (installed / "entry_points.txt").write_text(ENTRY_POINTS, "utf-8")
    return tmp_path


def check(folder, target):
    """The result of a check of a target, run in a process that finds the family as an installed one."""
    path = os.pathsep.join([str(folder), *sys.path])
    command = [
        sys.executable,
        "-m",
        "runlock.conformance.cli",
        "check",
        target,
        "--examples",
        "20",
        "--jobs",
        "1",
        "--json",
    ]
    env = {**os.environ, "PYTHONPATH": path}
    ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert ran.stdout, ran.stderr
    return json.loads(ran.stdout)


def test_the_entry_point_is_that_of_the_page(followed):
    """The test installs what the page's own project file says."""
    assert 'parrot = "parrot.family:FAMILY"' in (followed / "pyproject.toml").read_text("utf-8")


@pytest.mark.long
def test_the_reference_holds(followed):
    """Its clause is judged, and held, without a word of the family in the kit."""
    result = check(followed, "reference:quiet")

    assert (result["family"], result["verdict"]) == ("parrot", "held")
    assert [(one["id"], one["verdict"]) for one in result["clauses"]] == [("PARROT-1", "held")]


@pytest.mark.long
def test_the_mutant_is_blamed(followed):
    """The wrong runtime breaks its clause, with the words that the page gives."""
    result = check(followed, "mutant:Stutters")

    assert [one["clause"] for one in result["violations"]] == ["PARROT-1"]
    assert "nothing was said" in result["violations"][0]["because"]
