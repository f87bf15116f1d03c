"""Docstrings, comments and pages avoid words that plain technical English does not need."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT

BANNED = re.compile(
    r"\b(whoever|whomever|nobody|somebody|beside|so many|cry wolf|(?:is|are) told)\b",
    re.IGNORECASE,
)
FOLDERS = ("spec", "machines", "conformance", "diagrams", "docs", "tests")


def prose_of(text: str) -> Iterator[str]:
    """The docstrings and comments of a module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def uses_in(path: Path) -> int:
    """How often a file uses a banned word; the output of commands and code in a page does not count."""
    text = path.read_text("utf-8")
    if not BANNED.search(" ".join(text.replace("#", " ").split())):
        return 0  # most files; to parse them takes seconds
    if path.suffix == ".py":
        return sum(len(BANNED.findall(" ".join(part.split()))) for part in prose_of(text))
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    return len(BANNED.findall(" ".join(prose.split())))


def test_no_file_uses_a_banned_word():
    """Neither code nor pages."""
    files = [path for folder in FOLDERS for end in ("py", "md") for path in (ROOT / folder).rglob(f"*.{end}")]

    assert [path for path in files if path != Path(__file__) and uses_in(path)] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_the_first_pages_use_none(name):
    """The pages that a newcomer reads first are clean."""
    assert uses_in(ROOT / name) == 0


@pytest.mark.parametrize(
    ("name", "text", "uses"),
    [
        ("a.py", '"""Whoever reads it."""\nx = "nobody"  # beside it\n', 2),
        ("a.md", "Somebody\n```console\nnobody\n```\nis `beside` it, so\nmany.", 2),
    ],
)
def test_prose_is_counted_and_code_is_not(tmp_path, name, text, uses):
    """Strings of a program and blocks of a page may hold any word."""
    (tmp_path / name).write_text(text)

    assert uses_in(tmp_path / name) == uses
