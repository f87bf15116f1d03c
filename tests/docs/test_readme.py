"""The README keeps its word: its adapter runs as it stands, and its violation is the one that is printed."""

import os
import re
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import pytest
from command_line import run
from places import ROOT

README = (ROOT / "README.md").read_text("utf-8")
ADAPTER = README.partition("```python\n")[2].partition("```")[0]
VIOLATION = README.partition("```\nGATE-2")[2].partition("```")[0]


SETS_UP = re.findall(r"^python3 -m venv .*$", README, re.MULTILINE)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The reader's folder, with the adapter in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "tiny.py").write_text(ADAPTER)
    yield tmp_path
    sys.modules.pop("tiny", None)


def _words(text):
    """The words of a report, whatever the ids in it; columns are as wide as the ids."""
    return re.sub(r"\b([cdr])\d+\b", r"\1", text).split()


def test_the_adapter_holds(capsys):
    """A newcomer's first check ends well."""
    ran = run(capsys, "check", "py:tiny:Adapter", "--examples", 60)

    assert (ran.code, ran.out.partition("\n")[0]) == (
        0,
        "held: py:tiny:Adapter is tiny-agent 1.0, profile core",
    )


@pytest.mark.long
def test_the_slip_is_found_and_shown_as_printed(capsys, folder):
    """The mistake that the README proposes gives what it shows, by the command as it stands."""
    assert ADAPTER.count('if action == "resume":') == 1
    (folder / "tiny.py").write_text(ADAPTER.replace('if action == "resume":', "if action:"))
    ran = run(capsys, "check", "py:tiny:Adapter", "--quick")

    printed = ran.out.partition("\nGATE-2")[2].partition("\n\nexercised")[0]
    assert _words(VIOLATION) == _words(printed)


def test_what_was_found_is_what_the_matrix_says(rewrites, monkeypatch):
    """The numbers and sentences about real runtimes come from `docs/matrix.json`."""
    monkeypatch.syspath_prepend(str(ROOT))
    paragraphs = import_module("docs.generator.evidence").as_text().splitlines()
    fresh = "\n".join(
        textwrap.fill(line, 119, subsequent_indent="  " * line.startswith("-"), break_on_hyphens=False)
        for line in paragraphs
    )
    rest = README.partition("<!-- evidence -->\n")[2]
    shown = rest.partition("\n<!-- /evidence -->")[0]
    if rewrites:
        (ROOT / "README.md").write_text(README.replace(shown, fresh), "utf-8")
    else:
        assert shown == fresh, "`pytest tests/docs/test_readme.py --rewrite` writes it anew"


def test_every_command_has_its_line():
    """The table of commands is the command line's own."""
    from runlock.conformance.cli.app import app

    named = set(re.findall(r"^\| `runlock ([\w-]+)", README, re.MULTILINE))
    registered = {command.name or command.callback.__name__.strip("_") for command in app.registered_commands}
    groups = {group.name for group in app.registered_groups}
    assert named == registered | groups


@pytest.fixture
def clone(tmp_path):
    """The files of the repository as they are now, in a folder without an environment."""
    if not (ROOT / ".git").exists():
        pytest.skip("a source archive is no clone")
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    packed = subprocess.run(
        ("tar", "--create", "--null", "--files-from=-"),
        cwd=ROOT,
        input=names,
        capture_output=True,
        check=True,
    )
    folder = tmp_path / "runlock"
    folder.mkdir()
    subprocess.run(("tar", "--extract"), cwd=folder, input=packed.stdout, check=True)
    return folder


def typed(line, clone, tmp_path):
    """Run a line in a shell that knows this Python as `python3`, and nothing else of this environment."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python3").symlink_to(Path(sys.executable).resolve())
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
    env["PATH"] = f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin"
    ran = subprocess.run(
        ("bash", "-c", line), cwd=clone, env=env, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    return ran.stdout


def test_two_lines_set_everything_up():
    """The first runs the main job, the second the tests."""
    assert [line.rpartition(" && ")[2] for line in SETS_UP] == [
        ".venv/bin/runlock check reference",
        ".venv/bin/python -m pytest",
    ]


@pytest.mark.packaging
def test_the_first_line_checks_the_reference(clone, tmp_path):
    """In a fresh clone, on a machine with Python alone."""
    printed = typed(SETS_UP[0], clone, tmp_path)

    assert printed.startswith("held: reference is runlock-reference")


@pytest.mark.packaging
@pytest.mark.nightly
def test_the_second_line_runs_the_tests(clone, tmp_path):
    """In a fresh clone, on a machine with Python alone."""
    assert re.search(r"^\d+ passed", typed(SETS_UP[1], clone, tmp_path), re.MULTILINE)
