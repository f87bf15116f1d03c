"""The page on adding a stimulus shows the code as it is; `--rewrite` copies it anew."""

import ast
import re

from places import ROOT

from runlock.conformance.families.message_loop.family import FAMILY
from runlock.conformance.family.fitting import check_fits
from runlock.conformance.family.recordings import from_text
from runlock.conformance.trace.moves import moves_of

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

    assert len(SHOWN.findall(fresh)) == 8
    assert PAGE.read_text("utf-8") == fresh


def test_the_script_of_the_page_sends_it() -> None:
    """It is a scenario file of the family, whose steps have words."""
    (text,) = re.findall(r"```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    trace = from_text(text)
    check_fits(FAMILY, list(enumerate(trace.records, 1)), PAGE.name)
    *_, last = moves_of(trace, FAMILY.line_formats.gate_name)

    assert FAMILY.wording.move(last) == "interactor i1 goes"


def test_what_the_page_names_is_in_the_code() -> None:
    """Tables and words that the page names without showing them are there."""
    named = {
        "host/dispatch.py": "PLANS", "host/hosted.py": "needed = ", "actions/__init__.py": "TABLE",
        "adapter.py": "def gone", "reference.py": "def gone", "state/fold/stimuli.py": "SENT",
        "../tool_runner/host/dispatch.py": "PLANS", "../tool_runner/state/fold/stimuli.py": "SENT",
        "../../../spec/message_loop/needs.toml": "interactor.gone",
    }  # fmt: skip
    folder = ROOT / "conformance" / "families" / "message_loop"

    assert [path for path, name in named.items() if name not in (folder / path).read_text("utf-8")] == []
