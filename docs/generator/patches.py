"""The changes of the second tutorial as patches, each of which `patch` makes to the file of the reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from importlib import resources
from pathlib import Path
from typing import Final

PAGE: Final = "tutorial-recovery.md"
TEMPLATE: Final = resources.files("runlock.conformance.adapters").joinpath("python", "adapter.py")
"""The file that the tutorial starts from."""

CHANGE: Final = re.compile(r"^```diff\n--- (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files() -> Iterator[tuple[str, str]]:
    """Each change as a file."""
    page = (Path(__file__).parent.parent / PAGE).read_text("utf-8")
    before = TEMPLATE.read_text("utf-8")
    for number, (name, block) in enumerate(CHANGE.findall(page), 1):
        after = changed(before, block)
        sides = (before.splitlines(keepends=True), after.splitlines(keepends=True))
        yield f"patches/{_name(number)}", "".join(unified_diff(*sides, name, name))
        before = after


def changed(text: str, block: str) -> str:
    """A text with the lines of each hunk replaced, which stand in it once; what follows `@@` is a hunk."""
    for hunk in filter(None, block.split("@@\n")):
        old, new = (_side(hunk, signs) for signs in (" -", " +"))
        if text.count(old) != 1:
            raise ValueError(
                f"a hunk of {PAGE} is {text.count(old)} times in the file that it changes: {old!r}"
            )
        text = text.replace(old, new)
    return text


def linked(name: str, markdown: str) -> str:
    """The page with a link to its patch after each change; any other page as it is."""
    if name != PAGE:
        return markdown
    numbers = iter(range(1, markdown.count("```diff\n") + 1))

    def with_link(found: re.Match[str]) -> str:
        patch = _name(next(numbers))
        said = f"[`{patch}`](patches/{patch}) makes this change: `patch < {patch}`."
        return f"{found[0]}\n\n{said}\n{{ .caption }}"

    return CHANGE.sub(with_link, markdown)


def _name(number: int) -> str:
    return f"recovery-{number}.patch"


def _side(hunk: str, signs: str) -> str:
    """The lines of a hunk with one of these signs; an empty line is one of both sides."""
    return "".join(f"{line[1:]}\n" for line in hunk.splitlines() if (line or " ")[0] in signs)
