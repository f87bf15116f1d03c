"""The README keeps its word: its adapter runs as it stands, and its violation is the one that is printed."""

import re
import sys
import textwrap
from importlib import import_module

import pytest
from command_line import run
from places import ROOT

README = (ROOT / "README.md").read_text("utf-8")
ADAPTER = README.partition("```python\n")[2].partition("```")[0]
VIOLATION = README.partition("```\nGATE-2")[2].partition("```")[0]


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

    printed = ran.out.partition("\nGATE-2")[2].rpartition("\n\n")[0]
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
