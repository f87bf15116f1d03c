"""The nightly workflow: what runs packages may not write, and what writes runs no package of a runtime."""

import os
import re
import shutil
import subprocess

import pytest
from command_line import run
from places import ROOT

TEXT = (ROOT / ".github/workflows/nightly.yml").read_text("utf-8")
PAGE = (ROOT / "docs/how-to-read-the-matrix.md").read_text("utf-8")
JOBS = re.split(r"^  (?=\w+: #)", TEXT.partition("\njobs:\n")[2], flags=re.MULTILINE)[1:]
MATRIX, KEEP = JOBS
BLOCK = re.compile(r"run: \|.*\n((?: {10}.*\n)+)")
INLINE = re.compile(r"run: ([^|].*)\n")


def scripts(text):
    """The scripts of the steps."""
    blocks = [re.sub(r"^ {10}", "", one, flags=re.MULTILINE) for one in BLOCK.findall(text)]
    return blocks + INLINE.findall(text)


def git(folder, *words):
    """What a command of git prints."""
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_it_runs_once_a_night_and_two_never_at_once():
    """The history has one writer."""
    assert re.search(r'^    - cron: "\d+ \d+ \* \* \*"$', TEXT, re.MULTILINE)
    assert re.search(r"^concurrency:\n  group: nightly", TEXT, re.MULTILINE)


def test_what_runs_packages_may_only_read():
    """A release of today gets no token of the repository; the job that has one runs none of it."""
    assert re.search(r"^permissions:\n  contents: read\n", TEXT, re.MULTILINE)
    assert "permissions" not in MATRIX
    assert MATRIX.count("actions/checkout") == MATRIX.count("persist-credentials: false") == 2
    assert "contents: write" in KEEP
    assert not re.search(r"\b(pip|npm|node|python|runlock matrix)\b", "".join(scripts(KEEP)))


def test_every_action_has_a_version():
    """The same as in the other workflows."""
    used = set(re.findall(r"uses: (\S+)", TEXT))
    others = (ROOT / ".github/workflows/release.yml").read_text("utf-8")

    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", one) for one in used)
    assert used <= set(re.findall(r"uses: (\S+)", others))


@pytest.mark.parametrize("script", scripts(TEXT))
def test_a_script_is_one_for_bash_and_has_no_expression(script):
    """What a workflow gives reaches a script by its environment, where it is no code."""
    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)

    assert (checked.returncode, checked.stderr) == (0, "")
    assert "${{" not in script


def test_the_command_of_the_job_is_the_one_of_the_page(capsys, tmp_path, monkeypatch):
    """Its options are there: it refuses the day, which is no day here."""
    monkeypatch.chdir(tmp_path)
    (words,) = [one.split() for one in scripts(MATRIX) if one.startswith("runlock")]
    ran = run(capsys, *(word for word in words[1:] if word not in ('"$(date', "-u")))

    assert ran.code == 2
    assert "is no day. Write it as 2026-11-28." in " ".join(ran.err.split())
    assert " ".join(words[:3]) in PAGE


@pytest.fixture
def repository(tmp_path):
    """A repository and its clone, in which a job runs."""
    for words in (["init", "--quiet", "--bare", "origin"], ["clone", "--quiet", "origin", "clone"]):
        git(tmp_path, *words)
    clone = tmp_path / "clone"
    (clone / "code.py").write_text("")
    git(clone, "add", "--all")
    git(clone, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "--message", "code")
    git(clone, "push", "--quiet", "origin", "HEAD:refs/heads/main")
    return tmp_path


def keeps(repository, **files):
    """Run the script of the job that keeps a night, as its runner does; the files of the branch then."""
    shutil.rmtree(repository / "clone")
    git(repository, "clone", "--quiet", "--branch", "main", "origin", "clone")
    temporary = repository / f"temporary-{len(files)}"
    temporary.mkdir()
    night = repository / "clone" / "night"
    night.mkdir()
    for name, text in files.items():
        (night / f"{name}.md").write_text(text)
    tools = {"RUNNER_TEMP": str(temporary), "GITHUB_STEP_SUMMARY": str(repository / "summary")}
    (script,) = scripts(KEEP)
    subprocess.run(["bash", "-e", "-c", script], cwd=night.parent, env={**os.environ, **tools}, check=True)
    return git(repository / "origin", "ls-tree", "-r", "--name-only", "matrix").split()


def test_each_night_is_kept_on_a_branch(repository):
    """The first one makes it; the next one replaces its files, and what came before stays in its history."""
    assert keeps(repository, summary="one", matrix="", witness="") == [
        "matrix.md",
        "summary.md",
        "witness.md",
    ]
    assert keeps(repository, summary="two", matrix="") == ["matrix.md", "summary.md"]

    assert git(repository / "origin", "rev-list", "--count", "matrix") == "2\n"
    assert git(repository / "origin", "show", "matrix:summary.md") == "two"
    assert (repository / "summary").read_text() == "onetwo"
