"""Docstrings, comments and pages avoid words that plain technical English does not need.

`tests/data/banned_words.toml` has the number of uses that a folder may still have; a folder that is not
listed may have none.  A number may only go down: `--rewrite` lowers those that are too high.
"""

import ast
import io
import re
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT

RATCHET = ROOT / "tests" / "data" / "banned_words.toml"
BANNED = re.compile(
    r"\b(whoever|whomever|nobody|somebody|beside|so many|cry wolf|(?:is|are) told)\b",
    re.IGNORECASE,
)
FOLDERS = ("spec", "machines", "conformance", "diagrams", "docs", "tests")
DEPTH = {"conformance": 2, "tests": 2}
"""How many parts of a path name its folder in the ratchet; one where nothing is said."""


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


def folder_of(path: Path) -> str:
    """The folder of a file in the ratchet; a family's folder is one of its own."""
    parts = path.relative_to(ROOT).parts[:-1]
    if "families" in parts:
        return "/".join(parts[: parts.index("families") + 2])
    return "/".join(parts[: DEPTH.get(parts[0], 1)])


def counted() -> Counter[str]:
    """The uses in each folder."""
    files = [path for folder in FOLDERS for end in ("py", "md") for path in (ROOT / folder).rglob(f"*.{end}")]
    counts = Counter[str]()
    for path in files:
        counts[folder_of(path)] += uses_in(path)
    return +counts


@pytest.fixture(scope="module")
def uses() -> Counter[str]:
    """The uses in each folder, counted once."""
    return counted()


def test_no_folder_uses_more_banned_words_than_before(uses, rewrites):
    """The numbers of the ratchet only go down."""
    allowed = tomllib.loads(RATCHET.read_text("utf-8"))
    if rewrites:
        lower = {folder: min(most, uses[folder]) for folder, most in allowed.items() if uses[folder]}
        RATCHET.write_text("".join(f'"{folder}" = {most}\n' for folder, most in sorted(lower.items())))

    assert {folder: many for folder, many in uses.items() if many > allowed.get(folder, 0)} == {}


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
