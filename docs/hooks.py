"""What mkdocs calls while it builds the site: adds the pages that are facts, and the pictures in the others.

A page that is written by hand asks for a picture with a comment, `<!-- sequence: RunsTheRejected -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from generator import charts, clauses, interfaces, reference
from generator.markdown import picture, played
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from interlock.conformance.exhibits import exhibit_of
from interlock.conformance.mutants import MUTANTS
from interlock.conformance.trace import Trace
from interlock.diagrams import drawn_sequence, drawn_timeline, layout, palette
from interlock.diagrams.dot import Wish, dot, page_of
from interlock.diagrams.picture import pictures
from interlock.diagrams.playable import fragment, script

DARK = '[data-md-color-scheme="slate"] '


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that are written at build into the navigation."""
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
    others = [
        ("assets/charts.js", script()),
        *charts.files(),
        *((f"schemas/{name}", text) for name, text in interfaces.schemas()),
    ]
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
    return KINDS[kind](name, root)


def on_post_page(output: str, config: MkDocsConfig, **_: Any) -> str:
    """Give names to what the theme leaves without: the search, and sections that have a page of their own."""
    titles = [title for entry in config.nav or [] for title in entry]
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    unnamed = r'aria-labelledby="__nav_(\d+)_label"'
    return re.sub(unnamed, lambda found: f'aria-label="{titles[int(found[1]) - 1]}"', output)


def _chart(name: str, root: str) -> str:
    wish = Wish(lambda clause: page_of(clause, root))
    return picture(layout.svg(dot(pictures()[name], wish), f"The chart {name}"))


def _sequence(name: str, _: str) -> str:
    clause, because, trace = _witness(name)
    label = f"A sequence in which {clause} is broken"
    return picture(drawn_sequence.drawn(trace, label, f"{clause}: {because}"))


def _timeline(name: str, _: str) -> str:
    clause, because, trace = _witness(name)
    label = f"A timeline in which {clause} is broken"
    return picture(drawn_timeline.drawn(trace, label, f"{clause}: {because}"))


def _link(name: str, root: str) -> str:
    clause, because, trace = _witness(name)
    return played(fragment(trace, f"{clause}: {because}"), root, "play it step by step")


def _witness(name: str) -> tuple[str, str, Trace]:
    """The clause that a mutant breaks, why, and the trace that shows it."""
    mutant = next((one for one in MUTANTS if one.name == name), None)
    exhibit = exhibit_of(mutant) if mutant is not None else None
    if exhibit is None:
        raise PluginError(f"There is no witness of {name}.")
    return exhibit.mutant.clause, exhibit.because, exhibit.trace


KINDS: dict[str, Callable[[str, str], str]] = {
    "chart": _chart,
    "sequence": _sequence,
    "timeline": _timeline,
    "play": _link,
}
"""What a page can ask for."""
