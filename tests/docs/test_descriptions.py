"""The description of a page is its first sentences."""

from importlib import import_module

import pytest
from places import ROOT

LONG = "A sentence that says a thing or two about the page. " * 4


@pytest.fixture
def description(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return import_module("docs.generator.descriptions").description


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        ("# Title\n\nOne sentence.\n\nAnother.\n", "One sentence."),
        ("# Title\n\n<!-- a note -->\n\n```sh\nls\n\nls -l\n```\n\n| a |\n|---|\n\nText.\n", "Text."),
        ("A [link](to.md){ .id } and\n`code` and **bold** and a\\_b.", "A link and code and bold and a_b."),
        (LONG, LONG[:155].strip()),
        ("word " * 50, f"{('word ' * 32).strip()}…"),
        ("# Title alone\n", ""),
    ],
)
def test_it_is_the_first_paragraph_without_markup(description, markdown, said):
    """Headings, tables, code and comments are left out; what is too long ends with a sentence or a word."""
    assert description(markdown) == said
