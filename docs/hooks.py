"""What mkdocs calls while it builds the site: adds the pages that are facts, and the pictures in the others.

A page that is written by hand asks for a picture with a comment, `<!-- sequence: RunsTheRejected -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from generator import charts, clauses, interfaces, reference
from generator.markdown import picture
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from interlock.conformance.exhibits import exhibit_of
from interlock.conformance.mutants import MUTANTS
from interlock.conformance.trace import Trace
from interlock.diagrams import drawn_sequence, drawn_timeline, layout, palette
from interlock.diagrams.dot import Wish, dot, page_of
from interlock.diagrams.picture import pictures
from interlock.diagrams.svg import Drawing

DARK = '[data-md-color-scheme="slate"] '


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that are added into the navigation, where it has room for them."""
    every_area = [{area: f"clauses/{area.lower()}.md"} for area in clauses.areas()]
    every_chart = [{one.name: f"charts/{one.name}.md"} for one in charts.ordered()]
    added = {"Clauses": every_area, "Charts": every_chart}
    for entry in config.nav or []:
        for title, below in entry.items():
            below.extend(added.get(title, []))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is written at build: the pages, the pictures, the data, and the colours."""
    for module in (charts, clauses, reference, interfaces):
        for name, content in module.pages():
            files.append(File.generated(config, name, content=content))
    others = [*charts.files(), *((f"schemas/{name}", text) for name, text in interfaces.schemas())]
    for name, content in [*others, ("assets/colours.css", _colours())]:
        files.append(File.generated(config, name, content=content))
    return files


def _colours() -> str:
    """The dark colours of the pictures, where the reader has chosen a dark page."""
    return palette.darkened(DARK) + "\n"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put pictures where a page asks for them."""
    depth = "../" * page.file.src_uri.count("/") or "./"
    return re.sub(
        r"<!-- (\w+): (\w+) -->", lambda found: _drawn(found[1], found[2], depth.rstrip("/")), markdown
    )


def _drawn(kind: str, name: str, root: str) -> str:
    if kind not in KINDS:
        raise PluginError(f"There is no picture of kind {kind}; there are {', '.join(KINDS)}.")
    return picture(KINDS[kind](name, root))


def _chart(name: str, root: str) -> Drawing:
    return layout.svg(dot(pictures()[name], Wish(lambda clause: page_of(clause, root))), f"The chart {name}")


def _witness(draw: Callable[[Trace, str, str], Drawing], name: str, what: str) -> Drawing:
    mutant = next(one for one in MUTANTS if one.name == name)
    exhibit = exhibit_of(mutant)
    if exhibit is None:
        raise PluginError(f"There is no witness of {name}.")
    return draw(
        exhibit.trace, f"{what} in which {mutant.clause} is broken", f"{mutant.clause}: {exhibit.because}"
    )


KINDS: dict[str, Callable[[str, str], Drawing]] = {
    "chart": _chart,
    "sequence": lambda name, _: _witness(drawn_sequence.drawn, name, "A sequence"),
    "timeline": lambda name, _: _witness(drawn_timeline.drawn, name, "A timeline"),
}
"""The pictures that a page can ask for."""
