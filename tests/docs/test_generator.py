"""The generator brings a folder to what the site is, and touches nothing else in it."""

import re
import runpy
import sys
from importlib import import_module
from os.path import normpath
from pathlib import Path

import pytest
from places import ROOT


@pytest.fixture
def generator(monkeypatch):
    """The module that writes the site, with two pages in the place of all."""
    monkeypatch.syspath_prepend(str(ROOT))
    module = import_module("docs.generator.site")
    monkeypatch.setattr(module, "_by_hand", lambda: iter([("a.md", b"by hand")]))
    monkeypatch.setattr(module, "_generated", lambda: iter([("sub/b.md", b"generated")]))
    monkeypatch.setattr(module.joined, "wholes", dict)
    monkeypatch.setattr(module.joined, "places", dict)
    return module


def test_pages_are_written_with_their_folders(generator, tmp_path):
    """Both kinds of pages are there, and counted."""
    assert generator.write(tmp_path) == 2
    assert (tmp_path / "a.md").read_bytes() == b"by hand"
    assert (tmp_path / "sub/b.md").read_bytes() == b"generated"


def test_a_page_that_is_gone_is_removed_and_a_file_of_somebody_else_is_not(generator, tmp_path, monkeypatch):
    """The folder follows the site; what the generator did not write it leaves alone."""
    (tmp_path / "notes.txt").write_text("mine")
    generator.write(tmp_path)
    monkeypatch.setattr(generator, "_generated", lambda: iter([]))
    generator.write(tmp_path)

    assert not (tmp_path / "sub/b.md").exists()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_page_that_is_the_same_is_left_alone(generator, tmp_path):
    """A builder that watches the folder sees changes only."""
    generator.write(tmp_path)
    page = tmp_path / "a.md"
    page.chmod(0o444)
    before = page.stat()
    generator.write(tmp_path)
    after = page.stat()  # it was read, which may change the time of the last access

    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_picture_of_no_kind_is_an_error(generator):
    """A page that asks for what cannot be drawn does not go out with a hole."""
    with pytest.raises(LookupError, match=r"There is no picture of kind photo; there are chart, "):
        generator.drawn_into("<!-- photo: Run -->", 0)


def test_a_folder_is_written_by_a_command(generator, tmp_path, monkeypatch, capsys):
    """Without a builder: the command writes what `write` does."""
    monkeypatch.setattr(sys, "argv", ["docs.generator", str(tmp_path)])
    runpy.run_module("docs.generator", run_name="__main__")

    assert capsys.readouterr().out == f"2 files in {tmp_path}\n"
    assert (tmp_path / "sub/b.md").is_file()


@pytest.mark.long
@pytest.mark.site
def test_any_builder_finds_all_that_the_pages_link_to(written):
    """Every relative link of every page leads to a file that was written."""
    names = (written / ".written").read_text("utf-8").splitlines()
    pages = [written / name for name in names if name.endswith(".md")]
    links = [
        (page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
    ]
    inside = [(page, link) for page, link in links if not re.match(r"[a-z]+:", link)]
    there = {written / name for name in names}

    assert len(pages) > 60
    assert len(inside) > 2_000
    assert [
        (page.name, link) for page, link in inside if Path(normpath(page.parent / link)) not in there
    ] == []
    assert [name for name in names if name.endswith(".py")] == []
