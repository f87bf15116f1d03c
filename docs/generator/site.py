"""The whole site as a folder of Markdown, pictures and data, which any static site builder can render."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from runlock.diagrams.charts.playable import script
from runlock.diagrams.render import palette

from . import charts, clauses, evidence, interfaces, kills, matrix, reference, scenarios
from .pictures import drawn_into

HERE = Path(__file__).parent.parent
DARK = '[data-md-color-scheme="slate"] '
PAGES = (charts, clauses, reference, interfaces, kills, matrix, scenarios)
FILES = (charts, evidence, interfaces, matrix, scenarios)
LISTING = ".written"
"""The names of the files that were written last time, so that obsolete ones are removed."""

Made = tuple[str, bytes]
"""The name of a file in the folder, and its content."""


def write(folder: Path) -> int:
    """Update the folder; returns the number of files in the site.

    Unchanged files are not written again, so that a builder that watches the folder sees only changes.
    """
    made = dict((*_by_hand(), *_generated()))
    listing = folder / LISTING
    before = listing.read_text("utf-8").splitlines() if listing.is_file() else []
    for name in set(before) - made.keys():
        (folder / name).unlink(missing_ok=True)
    for name, content in made.items():
        _update(folder / name, content)
    _update(listing, "\n".join(made).encode())
    return len(made)


def _update(path: Path, content: bytes) -> None:
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _by_hand() -> Iterator[Made]:
    """The hand-written pages and assets, with the pictures that the pages include."""
    for path in sorted(path for path in HERE.rglob("*") if path.is_file()):
        name = path.relative_to(HERE)
        if path.suffix in (".py", ".pyc"):
            continue
        content = path.read_bytes()
        if path.suffix == ".md":
            content = drawn_into(content.decode(), len(name.parts) - 1).encode()
        yield name.as_posix(), content


def _generated() -> Iterator[Made]:
    for module in PAGES:
        yield from ((name, text.encode()) for name, text in module.pages())
    for source in FILES:
        yield from ((name, text.encode()) for name, text in source.files())
    yield "assets/charts.js", script().encode()
    yield "assets/colours.css", f"{palette.darkened(DARK)}\n".encode()


def sections() -> dict[str, list[dict[str, str]]]:
    """The pages of the generated sections, in their order: title and file of each."""
    return {
        "Clauses": [{area: f"clauses/{area.lower()}.md"} for area in clauses.areas()],
        "Charts": [{one.name: f"charts/{one.name}.md"} for one in charts.ordered()],
    }
