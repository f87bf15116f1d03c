"""The whole site as a folder of Markdown, pictures and data, which any static site builder can render."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runlock.conformance.family.family import DEFAULT, Family, families, family_named
from runlock.diagrams.charts import playable, playable_joint
from runlock.diagrams.render import palette

from . import (
    adapter,
    bugs,
    charts,
    clauses,
    evidence,
    interfaces,
    joined,
    kills,
    libraries,
    matrix,
    overviews,
    patches,
    questions,
    reference,
    runtimes,
    scenarios,
    search,
    stores,
)
from .markdown import folder_of
from .pictures import drawn_into

HERE = Path(__file__).parent.parent
THEME = HERE / "theme"
"""Templates, which are no pages."""
DARK = '[data-md-color-scheme="slate"] '
PAGES = (
    adapter, bugs, charts, clauses, reference, interfaces, kills, libraries, matrix, overviews, questions,
    runtimes, scenarios,
)  # fmt: skip
FILES = (adapter, charts, evidence, interfaces, matrix, patches, runtimes, scenarios)
PAGE = ".md"
LISTING = ".written"
"""The names of the files that were written last time, so that obsolete ones are removed."""

Made = tuple[str, bytes]
"""The name of a file in the folder, and its content."""


def write(folder: Path) -> int:
    """Update the folder; returns the number of files in the site.

    Unchanged files are not written again, so that a builder that watches the folder sees only changes.
    """
    made = _joined(dict((*_by_hand(), *_generated())))
    listing = folder / LISTING
    before = listing.read_text("utf-8").splitlines() if listing.is_file() else []
    for name in set(before) - made.keys():
        (folder / name).unlink(missing_ok=True)
    for name, content in made.items():
        _update(folder / name, content)
    _update(listing, "\n".join(made).encode())
    return len(made)


def _joined(made: dict[str, bytes]) -> dict[str, bytes]:
    """The files with their pages joined, and what each page loads later."""
    texts = {name.removesuffix(PAGE): text.decode() for name, text in made.items() if name.endswith(PAGE)}
    pages = joined.joined(texts)
    files = {name: content for name, content in made.items() if not name.endswith(PAGE)}
    for name, text in pages.items():
        page, stored = stores.split(name, text)
        files |= {name: text.encode() for name, text in {f"{name}{PAGE}": page, **stored}.items()}
    return files | {name: text.encode() for name, text in joined.moved()}


def _update(path: Path, content: bytes) -> None:
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _by_hand() -> Iterator[Made]:
    """The hand-written pages and assets, with the pictures that the pages include."""
    for path in sorted(path for path in HERE.rglob("*") if path.is_file()):
        name = path.relative_to(HERE)
        if path.suffix in (".py", ".pyc") or path.is_relative_to(THEME):
            continue
        if path.suffix == ".md":
            page = patches.linked(name.as_posix(), path.read_text("utf-8"))
            yield name.as_posix(), drawn_into(page, len(name.parts) - 1).encode()
        else:
            yield name.as_posix(), path.read_bytes()


def _generated() -> Iterator[Made]:
    for module in PAGES:
        for name, text in module.pages():
            yield name, text.encode()
    for source in FILES:
        yield from ((name, text.encode()) for name, text in source.files())
    yield "changelog.md", (HERE.parent / "CHANGELOG.md").read_bytes()
    yield "assets/charts.js", playable.script().encode()
    for family in playable_joint.systems():
        yield f"assets/joints/{family}.js", playable_joint.script(family).encode()
    yield "assets/words.js", search.script().encode()
    yield "assets/colours.css", f"{palette.properties(DARK)}\n{palette.darkened(DARK)}\n".encode()


Nav = list[dict[str, "str | Nav"]]


def sections() -> dict[str, Nav]:
    """The generated pages of each section of the navigation, in their order."""
    return {
        "Clauses": _areas(family_named(DEFAULT)),
        "Charts": _charts(family_named(DEFAULT)),
        "Families": [{one.name: _family(one)} for one in families() if one.name != DEFAULT],
        "Results": [
            {"Each library": libraries.navigation()},
        ],
    }


def extend(nav: list[Any]) -> None:
    """Add the generated pages of each section to a navigation, at whatever depth the section is."""
    generated = sections()
    for entry in nav:
        for title, below in entry.items() if isinstance(entry, dict) else ():
            if isinstance(below, list):
                extend(below)
                below.extend(generated.get(title, []))


def _areas(family: Family) -> Nav:
    folder = folder_of(family.name)
    return [{area: f"{folder}clauses/{area.lower()}.md"} for area in family.spec.areas]


def _charts(family: Family) -> Nav:
    """The pages of charts; several charts may be on one."""
    named = (f"{folder_of(family.name)}charts/{one.name}" for one in charts.ordered(family.name))
    own = dict.fromkeys(joined.places()[name].page if name in joined.places() else name for name in named)
    return [{name.rpartition("/")[2]: f"{name}{PAGE}"} for name in own if not name.endswith("/index")]


def _family(family: Family) -> Nav:
    folder = folder_of(family.name)
    return [
        {"Overview": f"{folder}index.md"},
        {"Clauses": [{"Overview": f"{folder}clauses/index.md"}, *_areas(family)]},
        {"Charts": [{"Overview": f"{folder}charts/index.md"}, *_charts(family)]},
        {"Reference": f"{folder}reference.md"},
    ]
