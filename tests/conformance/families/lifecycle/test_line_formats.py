"""The scenario files of the family: each is in normal form, and every message has a line of its own."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

import pytest

from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.families.lifecycle.messages import LISTED, STIMULI
from runlock.conformance.family.recordings import parse, render


def found_in(folder: str) -> list[Traversable]:
    """The scenario files in a folder of the family, by name."""
    there = (files("runlock.conformance.families.lifecycle") / folder).iterdir()
    return sorted(there, key=lambda file: file.name)


FILES = [*found_in("scenarios"), *found_in("witnesses")[::10]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_is_written_as_it_was_read(file: Traversable) -> None:
    """Each file that comes with the kit is in normal form, and needs no `record` line."""
    text = file.read_text("utf-8")

    assert render(parse(text, LINE_FORMATS, file.name), LINE_FORMATS) == text
    assert "\nrecord " not in text


def test_every_message_has_a_line() -> None:
    """A kind or a method that is added to the protocol needs a format."""
    assert LINE_FORMATS.observations.keys() == LISTED.keys()
    assert LINE_FORMATS.stimuli.keys() == {*STIMULI, "inspect"}
