"""docs/ci.md keeps its word: each command in it runs and ends as it says; and so does the action."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import run
from places import ROOT

PAGE = (ROOT / "docs" / "ci.md").read_text("utf-8")
ACTION = ROOT / "action.yml"
SCRIPT = ROOT / ".ci" / "check"
ADAPTER = (ROOT / "README.md").read_text("utf-8").partition("```python\n")[2].partition("```")[0]
BLOCK = re.compile(r"^```(sh|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder of a project whose runtime executes what was rejected, and the one that was released."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "tiny.py").write_text(ADAPTER.replace('if action == "resume":', "if action:"))
    (tmp_path / "released.py").write_text(ADAPTER)
    yield tmp_path
    for name in ("tiny", "released"):
        sys.modules.pop(name, None)


def commands(text):
    """The commands of a block, each with the code in which it should end."""
    for line in text.splitlines():
        words, _, ends = line.partition("  # exits with ")
        yield words.split(), int(ends or 0)


@pytest.mark.processes
def test_every_command_of_the_page_ends_as_it_says(capsys, folder):
    """The blocks are run in their order; what the page shows of a file is what is in it by then."""
    played = []
    for kind, text in BLOCK.findall(PAGE):
        if kind == "toml":
            assert "yet it was executed" in (folder / "runlock-baseline.toml").read_text()
            (folder / "runlock-baseline.toml").write_text(text)
            continue
        for (program, *words), code in commands(text):
            ran = run(capsys, *words)
            assert (program, ran.code) == ("runlock", code), ran.err + ran.out
            played.append(words[0])

    assert set(played) == {"check", "report", "baseline", "diff"}
    assert ElementTree.parse(folder / "junit.xml").getroot()[0].get("failures") == "3"  # and two symptoms


def act(folder, **inputs):
    """Run the script of the action as its runner would."""
    tools = {"GITHUB_STEP_SUMMARY": folder / "summary.md", "GITHUB_OUTPUT": folder / "output"}
    given = {
        "ARGUMENTS": "",
        "BASELINE": "",
        "SPEC": "",
        "EXAMPLES": "20",
        "SEED": "0",
        "RESULTS": "results",
        **inputs,
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, **{key: str(value) for key, value in {**tools, **given}.items()}, "PATH": path}
    return subprocess.run(["bash", SCRIPT], env=env, cwd=folder, capture_output=True, check=False)


@pytest.mark.processes
def test_the_action_leaves_its_reports_and_ends_as_the_check(folder):
    """A violation fails the job, after every report was written."""
    ran = act(folder, TARGET="py:tiny:Adapter", SPEC="1.0")

    assert ran.returncode == 1, ran.stderr
    assert (folder / "output").read_text() == "exit-code=1\n"
    assert (folder / "summary.md").read_text().startswith("**broken**: `py:tiny:Adapter`")
    reports = {"junit.xml", "report.html", "badge.svg", "badge.json", "report.md", "result.json"}
    assert reports <= {path.name for path in (folder / "results").iterdir()}


@pytest.mark.processes
def test_the_action_passes_arguments_on(folder):
    """They are words of the command, and no code of a shell."""
    ran = act(folder, TARGET="py:tiny:Adapter", ARGUMENTS="--only GATE-* --json $(touch harm)")

    assert ran.returncode == 2, "the last two words are no options"
    assert not (folder / "harm").exists()
    ran = act(folder, TARGET="py:tiny:Adapter", ARGUMENTS="--only GATE-* --quick", EXAMPLES="")
    assert {one["id"][:5] for one in json.loads((folder / "results/result.json").read_text())["clauses"]} == {
        "GATE-"
    }


@pytest.mark.long
def test_the_action_reports_nothing_that_is_not_of_its_run(folder):
    """After wrong usage, an old result in the folder is not reported again."""
    (folder / "results").mkdir()
    (folder / "results" / "result.json").write_text("{}")
    ran = act(folder, TARGET="py:tiny:Adaptr; touch harm")

    assert (ran.returncode, (folder / "output").read_text()) == (2, "exit-code=2\n")
    assert not (folder / "summary.md").exists()
    assert not (folder / "harm").exists()


def test_no_input_is_written_into_a_script():
    """What a workflow gives reaches the script by its environment, where it is no code."""
    text = ACTION.read_text("utf-8")
    inputs = set(re.findall(r"\$\{\{ inputs\.([\w-]+) }}", text))
    runs = [line for line in text.splitlines() if line.strip().startswith("run:")]

    assert inputs == set(re.findall(r"^  ([\w-]+):$", text.partition("outputs:")[0], re.MULTILINE))
    assert runs and not [line for line in runs if "${{" in line]


def test_a_workflow_has_eight_lines():
    """It is complete: it names the action by its repository, and inputs that the action has."""
    workflow = PAGE.partition("```yaml\n")[2].partition("```")[0]
    inputs = re.findall(r"^  ([\w-]+):$", ACTION.read_text("utf-8").partition("outputs:")[0], re.MULTILINE)

    assert len(workflow.splitlines()) == 8
    assert "uses: OWNER/runlock@v1" in workflow
    assert set(re.findall(r"([\w-]+): ", workflow.partition("with: {")[2])) <= set(inputs)
