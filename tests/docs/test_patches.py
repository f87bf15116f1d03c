"""The second tutorial offers each of its changes as a patch, which the reader's `patch` makes."""

import re
import shutil
import subprocess
from importlib import import_module

import pytest
from places import ROOT

DOCS = ROOT / "docs"


@pytest.fixture
def patches(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return import_module("docs.generator.patches")


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no `patch` on the PATH")
def test_one_patch_after_the_other_makes_the_complete_file(patches, tmp_path):
    """They apply to what `new-adapter` writes, in their order, without an offset."""
    (tmp_path / "adapter.py").write_text(patches.TEMPLATE.read_text("utf-8"))
    for _, patch in patches.files():
        ran = subprocess.run(
            ["patch"], cwd=tmp_path, input=patch, capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stdout.strip()) == (0, "patching file adapter.py")

    assert (tmp_path / "adapter.py").read_text() == (DOCS / "examples" / "adapter.py").read_text("utf-8")


def test_each_change_of_the_page_leads_to_its_patch(patches):
    """In the order of the page; other pages stay as they are."""
    text = (DOCS / patches.PAGE).read_text("utf-8")
    named = re.findall(r"\]\((patches/[^)]+)\)", patches.linked(patches.PAGE, text))

    assert named == [name for name, _ in patches.files()]
    assert len(named) == text.count("```diff\n") > 5
    assert patches.linked("tutorial.md", text) == text


def test_a_hunk_that_fits_nowhere_is_named(patches):
    """A page whose changes do not follow each other cannot be built."""
    with pytest.raises(ValueError, match=r"a hunk of tutorial-recovery.md is 0 times .*'gone\\n'"):
        patches.changed("here\n", "@@\n-gone\n+come\n")
