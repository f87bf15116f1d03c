"""The page of bugs that agent runtimes share: its facts fit the specification and the matrix."""

import re
import tomllib
from importlib import import_module

import pytest
from places import ROOT

from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.selftest.witnesses import mutants_of

DATA = tomllib.loads((ROOT / "docs/bugs.toml").read_text("utf-8"))
CLASSES = DATA["class"]
REPORTS = [one for each in CLASSES for one in each["reports"]] + [one["report"] for one in DATA["uncovered"]]


@pytest.mark.parametrize("one", CLASSES, ids=[one["name"] for one in CLASSES])
def test_a_class_is_named_by_clauses_that_are_shown_to_fail(one):
    """Each clause has a mutant, so that the page can show how the bug looks."""
    assert one["reports"]
    assert all(list(mutants_of(FAMILY, clause)) for clause in one["clauses"])


def test_a_report_is_named_once_and_in_full():
    """Repository and number, when its thread was read, its state then, and a sentence."""
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", issue) for issue, *_ in REPORTS)
    assert all(re.fullmatch(r"20\d\d(-\d\d)?", month) for _, month, *_ in REPORTS)
    assert {state for _, _, state, _ in REPORTS} == {"open", "closed", "merged"}
    assert len({issue for issue, *_ in REPORTS}) == len(REPORTS)


@pytest.mark.long
def test_the_page_shows_runtimes_of_the_matrix(monkeypatch):
    """A class that some runtime breaks today names it, with the place on its page."""
    monkeypatch.syspath_prepend(str(ROOT))
    (_, page), *_ = import_module("docs.generator.bugs").pages()
    _, *sections = page.split("\n## ")

    assert len(sections) == len(CLASSES) + 1
    assert "(runtimes/google-adk.md#pair-4)" in next(one for one in sections if one.startswith("A sibling"))
    assert all("<svg" in one for one in sections[:-1])
