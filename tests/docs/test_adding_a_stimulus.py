"""The page on adding a stimulus shows the code as it is; `--rewrite` copies it anew."""

import ast
import re

from places import ROOT

PAGE = ROOT / "docs" / "adding-a-stimulus.md"
SHOWN = re.compile(r"^(`(?P<path>[\w/.]+)` · `(?P<name>\w+)`\n\n```python\n)(?P<code>.*?)```$", re.M | re.S)


def source(path: str, name: str) -> str:
    """The definition of a name in a file, as it is written there."""
    text = (ROOT / path).read_text("utf-8")
    (found,) = [node for node in ast.parse(text).body if name in names(node)]
    return (ast.get_source_segment(text, found) or "") + "\n"


def names(node: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    return [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []


def test_the_page_shows_the_code_as_it_is(rewrites: bool) -> None:
    """Each definition on the page stands in the file that is named above it."""
    text = PAGE.read_text("utf-8")
    fresh = SHOWN.sub(lambda found: f"{found[1]}{source(found['path'], found['name'])}```", text)
    if rewrites:
        PAGE.write_text(fresh, "utf-8")

    assert len(SHOWN.findall(fresh)) == 6
    assert PAGE.read_text("utf-8") == fresh


def test_the_words_of_the_page_are_those_of_the_code() -> None:
    """Files and tables that the page names without showing them are there."""
    family = ROOT / "conformance" / "families" / "message_loop"

    assert "PLANS" in (family / "host" / "dispatch.py").read_text("utf-8")
    assert "TABLE" in (family / "actions" / "__init__.py").read_text("utf-8")
    assert '"interactor.gone"' in (ROOT / "spec" / "message_loop" / "needs.toml").read_text("utf-8")
