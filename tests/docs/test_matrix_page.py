"""The page of real runtimes: a broken cell leads to what shows its violation."""

import json
import re
from importlib import import_module

import pytest
from places import ROOT

from runlock.conformance.report.matrix import anchor, place

REPORT = json.loads((ROOT / "docs" / "matrix.json").read_text("utf-8"))


@pytest.fixture
def matrix(monkeypatch):
    """The module that writes the page."""
    monkeypatch.syspath_prepend(str(ROOT))
    return import_module("docs.generator.matrix")


def test_a_broken_cell_leads_to_its_counterexample_and_program(matrix):
    """The section of a cell has its scenario file, and the program that shows it without the kit."""
    page = dict(matrix.pages())["matrix.md"]
    sections = re.split(r"^##+ ", page, flags=re.MULTILINE)
    for runtime in REPORT["runtimes"]:
        for found in runtime.get("violations", ()):
            place_on_page = f'<a id="{anchor(runtime["name"], found["clause"])}">'
            [section] = [one for one in sections if place_on_page in one]

            assert f"({place(matrix.Path(), runtime['name'], found['clause']).as_posix()})" in section
            assert "](standalone/" in section


def test_the_playground_shows_a_mutant_that_breaks_the_same_clause(matrix):
    """For the family that it plays traces of."""
    assert matrix._playground("lifecycle", "GATE-2").startswith('The <a href="./play.html#trace=')
    assert matrix._playground("message-loop", "WIRE-4") == ""
