"""The scenario files of the family: each is in normal form."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

import pytest

from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.trace.scenario_file import parse, render


def found_in(folder: str) -> list[Traversable]:
    """The scenario files in a folder of the family, by name."""
    there = (files("runlock.conformance.families.lifecycle") / folder).iterdir()
    return sorted(there, key=lambda file: file.name)


FILES = found_in("scenarios")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_is_written_as_it_was_read(file: Traversable) -> None:
    """Each file that comes with the kit is in normal form, and needs no `record` line."""
    text = file.read_text("utf-8")

    assert render(parse(text, LINE_FORMATS, file.name), LINE_FORMATS) == text
    assert "\nrecord " not in text
