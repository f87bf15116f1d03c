"""Every command that the docs show is run again, and prints what they show.

In a block of the language `console`, a line after `$` is a command and the lines below it are what it
prints; a line of `…` stands for any lines.  `--rewrite` writes what is printed now.
"""

import re
import shlex
from pathlib import Path

import pytest

from interlock.conformance.cli import main

DOCS = Path(__file__).parent.parent.parent / "docs"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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
    assert program == "interlock", "the docs show commands of the kit"
    main(words)
    said = capfd.readouterr()
    errors = "".join(line for line in said.err.splitlines(keepends=True) if line.startswith("interlock: "))
    return "\n".join(line.rstrip() for line in (said.out + errors).strip("\n").splitlines())


def fits(shown, now):
    """Whether what is shown is what is printed, but for the lines that are left out."""
    parts = [re.escape(part) for part in re.split(r"^…\n?", shown + "\n", flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), now + "\n") is not None


def renewed(shown, now):
    """What is printed now, without the lines that were left out; all of it, if they are found no more."""
    lines, kept, at = now.splitlines(), [], 0
    try:
        for part in re.split(r"^…$", shown, flags=re.MULTILINE):
            wanted = part.strip("\n").splitlines()
            if wanted:
                start = next(
                    n for n in range(at, len(lines)) if lines[n].split()[:2] == wanted[0].split()[:2]
                )
                ends = wanted[-1].split()[:1]
                at = next(n for n in range(start, len(lines)) if lines[n].split()[:1] == ends) + 1
                wanted = lines[start:at]
            kept.append("\n".join(wanted))
    except StopIteration:
        return now
    return "\n…\n".join(kept).strip("\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of somebody who reads along."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_docs_show_what_is_printed(page, folder, capfd, rewrites):
    """One after the other, in one folder, the commands of a page print what the page says."""
    text = page.read_text("utf-8")
    stale = []
    for block in BLOCK.findall(text):
        fresh = []
        for command, shown in commands(block):
            now = printed(capfd, command)
            if not fits(shown, now):
                stale.append(command)
            fresh.append(f"$ {command}\n{shown if fits(shown, now) else renewed(shown, now)}\n")
        text = text.replace(block, "".join(fresh))
    if rewrites:
        page.write_text(text, "utf-8")
    else:
        assert stale == [], "`pytest -m shown --rewrite` writes what is printed now"


def test_what_was_left_out_stays_left_out():
    """Writing anew keeps to the lines that a page wants to show."""
    assert renewed("a 1\n…\nc 1\nd 1\n…", "a 2\nb 2\nc 1 2\nd 2\ne 2") == "a 2\nb 2\nc 1 2\nd 2\ne 2"
    assert renewed("a x\n…\nc y 1\nd 1\n…", "a x\nb 2\nc y 2\nd 2\ne 2") == "a x\n…\nc y 2\nd 2\n…"


def test_an_ellipsis_stands_for_any_lines():
    """What is left out may be anything; what is shown may not."""
    assert fits("a\n…\nd", "a\nb\nc\nd")
    assert fits("a\n…", "a\nb")
    assert not fits("a\n…\nd", "a\nb\nc")
    assert not fits("a", "a\nb")
