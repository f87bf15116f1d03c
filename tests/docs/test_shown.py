"""Every command that the docs show is run again, and prints what they show; the others can be typed.

In a block of the language `console`, a line after `$` is a command and the lines below it are what it
prints; a line of `…` stands for any lines.  `--rewrite` writes what is printed now.  A block of the language
`diff` changes a file on the way, in hunks after `@@`, and the command `cd` changes the folder.
"""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import typer
from places import ROOT

from runlock.conformance.cli.app import app
from runlock.conformance.cli.main import main
from runlock.conformance.report.matrix import as_markdown

DOCS = ROOT / "docs"
TEMPLATE = ROOT / "conformance" / "adapters" / "python" / "adapter.py"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^```(console|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONG = ("tutorial", "tutorial-recovery", "check-an-agent", "check-a-url")
TYPED = re.compile(r"^runlock (.*?)(?:\s+# .*)?$|`runlock ([^`]+)`", re.MULTILINE)
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
PAGES = sorted(path for path in DOCS.rglob("*.md") if BLOCK.search(path.read_text("utf-8")))

pytestmark = pytest.mark.shown


def commands(block):
    """Each command of a block, with what is shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown.strip("\n")


def printed(capfd, command):
    """What a command prints for a person, errors last; the exit code is part of it if it is not 0."""
    program, *words = shlex.split(command)
    if program in ("cd", "cp"):
        {"cd": os.chdir, "cp": shutil.copy}[program](*words)
        return ""
    assert program == "runlock", "the docs show commands of the kit"
    main(words)
    said = capfd.readouterr()
    errors = "".join(line for line in said.err.splitlines(keepends=True) if line.startswith("runlock: "))
    return "\n".join(line.rstrip() for line in (said.out + errors).strip("\n").splitlines())


def change(block):
    """Replace the lines of each hunk of a diff, which stand in its file once; what follows `@@` is a hunk."""
    name, *lines = block.splitlines()
    path = Path(name.removeprefix("--- "))
    for hunk in filter(None, "\n".join(lines).split("@@\n")):
        old, new = (_side(hunk, signs) for signs in (" -", " +"))
        assert path.read_text().count(old) == 1
        path.write_text(path.read_text().replace(old, new))
    sys.modules.pop(path.stem, None)


def _side(hunk, signs):
    """The lines of a hunk with one of these signs; an empty line is one of both sides."""
    return "".join(f"{line[1:]}\n" for line in hunk.splitlines() if (line or " ")[0] in signs)


def fits(shown, now):
    """Whether what is shown is what is printed, but for the lines that are left out."""
    parts = [re.escape(part) for part in re.split(r"^…\n?", shown + "\n", flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), now + "\n") is not None


def renewed(shown, now):
    """What is printed now, without the lines that were left out; all of it, if they are found no more."""
    parts = re.split(r"^…$", shown, flags=re.MULTILINE)
    if len(parts) == 1:
        return now
    lines, kept, at = now.splitlines(), [], 0
    try:
        for part in parts:
            wanted = part.strip("\n").splitlines()
            if wanted:
                start = _first(lines, at, wanted[0])
                at = _first(lines, start, wanted[-1]) + 1
                wanted = lines[start:at]
            kept.append("\n".join(wanted))
    except StopIteration:
        return now
    return "\n…\n".join(kept).strip("\n")


def _first(lines, at, like):
    """Where the first line from here on stands that begins with the same two words."""
    return next(n for n in range(at, len(lines)) if lines[n].split()[:2] == like.split()[:2])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of someone who reads along."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("adapter", None)


def every_page():
    """The pages that show commands; some take long."""
    for page in PAGES:
        yield pytest.param(page, id=page.stem, marks=[pytest.mark.long] if page.stem in LONG else [])


@pytest.mark.sampled(5, nightly=3)
@pytest.mark.parametrize("page", list(every_page()))
def test_the_docs_show_what_is_printed(page, folder, capfd, rewrites):
    """One after the other, in one folder, the commands of a page print what the page says."""
    text = page.read_text("utf-8")
    parts, at, stale = [], 0, []
    for step in STEP.finditer(text):
        kind, block = step.groups()
        if kind == "diff":
            change(block)
            continue
        fresh = []
        for command, shown in commands(block):
            now = printed(capfd, command)
            if not fits(shown, now):
                stale.append(command)
            kept = shown if fits(shown, now) else renewed(shown, now)
            fresh.append(f"$ {command}\n" + (f"{kept}\n" if kept else ""))
        parts += [text[at : step.start(2)], *fresh]
        at = step.end(2)
    if rewrites:
        page.write_text("".join(parts) + text[at:], "utf-8")
    else:
        assert stale == [], "`pytest -m shown --rewrite` writes what is printed now"


def test_the_second_tutorial_ends_with_the_file_that_it_offers(folder):
    """Its changes, made to the adapter of the first tutorial, give the file of the page."""
    shutil.copy(TEMPLATE, folder)
    for kind, block in STEP.findall((DOCS / "tutorial-recovery.md").read_text("utf-8")):
        if kind == "diff":
            change(block)

    assert (folder / "adapter.py").read_text() == (DOCS / "examples" / "adapter.py").read_text("utf-8")


def typed():
    """Every other command of the README and the pages: where it stands, and its words; N is a number."""
    texts = {page.name: page.read_text("utf-8") for page in WRITTEN}
    texts["the matrix"] = as_markdown(json.loads((DOCS / "matrix.json").read_text("utf-8")))
    for name, text in texts.items():
        for in_block, in_words in TYPED.findall(text.replace("\\\n", "")):
            yield name, ["1" if word == "N" else word for word in shlex.split(in_block or in_words)]


def slip(words):
    """What keeps a command from being typed, or nothing; a name alone speaks of the command."""
    root = typer.main.get_command(app)
    with root.make_context("runlock", list(words)) as context:
        try:
            name, command, rest = root.resolve_command(context, list(words))
            if rest:
                command.make_context(name, rest, parent=context)
        except Exception as error:
            return str(error)
    return None


@pytest.mark.long
def test_every_command_that_is_named_can_be_typed():
    """A command or an option that is gone, or never was, stands on no page."""
    every = list(typed())

    assert len(every) > 70
    assert [(page, words, said) for page, words in every if (said := slip(words)) is not None] == []


@pytest.mark.parametrize("words", ["chekc reference", "check reference --example 3", "explore --calls many"])
def test_a_command_that_cannot_be_typed_is_seen(words):
    """A name, an option or a value that the command line does not take."""
    assert slip(shlex.split(words)) is not None


def test_what_was_left_out_stays_left_out():
    """Writing anew keeps to the lines that a page wants to show."""
    assert renewed("a 1\n…\nc 1\nd 1\n…", "a 2\nb 2\nc 1 2\nd 2\ne 2") == "a 2\nb 2\nc 1 2\nd 2\ne 2"
    assert renewed("a x\n…\nc y 1\nd z 1\n…", "a x\nb 2\nc y 2\nd 2\nd z 2") == "a x\n…\nc y 2\nd 2\nd z 2\n…"
    assert renewed("the 1\nthe last", "the 2\nb\nthe last") == "the 2\nb\nthe last"


def test_an_ellipsis_stands_for_any_lines():
    """What is left out may be anything; what is shown may not."""
    assert fits("a\n…\nd", "a\nb\nc\nd")
    assert fits("a\n…", "a\nb")
    assert not fits("a\n…\nd", "a\nb\nc")
    assert not fits("a", "a\nb")
