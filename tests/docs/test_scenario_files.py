"""docs/scenario-files.md: its examples are read, and its table has every line of the default family."""

from __future__ import annotations

import re

import pytest
from places import ROOT

from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.family.recordings import from_text, parse, render
from runlock.conformance.trace.line_formats import FAMILY, NEEDS, TARGET

PAGE = (ROOT / "docs" / "scenario-files.md").read_text("utf-8")
EXAMPLES = re.findall(r"```scenario\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES, ids=["moves", "with observations"])
def test_an_example_is_read_and_written_back(text: str) -> None:
    """What the page shows is in the one form that is written."""
    assert render(parse(text, "example")) == text
    assert from_text(text).stimuli


def test_every_line_is_in_the_table() -> None:
    """Each word that can begin a line is explained, and nothing else is."""
    table = PAGE.partition("| line | meaning |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    explained = {code.split()[0] for row in rows for code in re.findall(r"`([^`]+)`", row)}

    assert explained == {FAMILY, TARGET, NEEDS, *LINE_FORMATS.headings, *LINE_FORMATS.members}
