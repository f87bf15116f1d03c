"""What mkdocs calls while it builds the site: adds the pages that are facts, and the pictures in the others.

A page that is written by hand asks for a picture with a comment, `<!-- sequence: RunsTheRejected -->`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from generator import charts, clauses, interfaces, kills, reference
from generator.markdown import picture, played
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from runlock.conformance.cli.main import main
from runlock.conformance.families.lifecycle.exploration import CALLS
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.report.examples import example_of
from runlock.conformance.trace.trace import Trace
from runlock.diagrams.charts.dot import Wish, dot, page_of
from runlock.diagrams.charts.picture import pictures
from runlock.diagrams.charts.playable import fragment, script
from runlock.diagrams.lifecycle import sequence_svg as drawn_sequence
from runlock.diagrams.lifecycle import state_space as explored
from runlock.diagrams.lifecycle import timeline_svg as drawn_timeline
from runlock.diagrams.render import graphviz_layout as layout
from runlock.diagrams.render import palette
from runlock.diagrams.render.png import painted
from runlock.machines.lifecycle.joint.calls import Calls
from runlock.machines.lifecycle.joint.policies import choose
from runlock.machines.lifecycle.joint.search import Search
from runlock.machines.lifecycle.joint.transitions import Joint

CHECK = ("check", "reference", "--only", "GATE-*", "--examples", "0", "--jobs", "1")
"""What the coverage in a picture is of."""

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
    for module in (charts, clauses, reference, interfaces, kills):
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
        r"<!-- (\w+): ([\w-]+) -->", lambda found: _drawn(found[1], found[2], depth.rstrip("/")), markdown
    )


def _drawn(kind: str, name: str, root: str) -> str:
    if kind not in KINDS:
        raise PluginError(f"There is no picture of kind {kind}; there are {', '.join(KINDS)}.")
    return KINDS[kind](name, root)


def on_post_page(output: str, config: MkDocsConfig, **_: Any) -> str:
    """Give names to what the theme leaves without."""
    return _named(output, config)


def on_post_template(output_content: str, config: MkDocsConfig, **_: Any) -> str:
    """Give them on the page of what is not there, too."""
    return _named(output_content, config)


def _named(output: str, config: MkDocsConfig) -> str:
    """The search has a name, and so have sections with a page of their own."""
    titles = [title for entry in config.nav or [] for title in entry]
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    unnamed = r'aria-labelledby="__nav_(\d+)_label"'
    return re.sub(unnamed, lambda found: f'aria-label="{titles[int(found[1]) - 1]}"', output)


def _chart(name: str, root: str) -> str:
    wish = Wish(lambda clause: page_of(clause, root))
    return picture(layout.svg(dot(pictures()[name], wish), f"The chart {name}"))


def _covered(name: str, root: str) -> str:
    """A chart with what a check took of it."""
    source = dict(painted(_result(), lambda clause: page_of(clause, root)))[name]
    return picture(layout.svg(source, f"The chart {name}, as it was covered"))


@cache
def _result() -> dict[str, Any]:
    """The result of a small check, the one that the page shows."""
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        main([*CHECK, "-o", folder])
        return dict(json.loads((Path(folder) / "result.json").read_text("utf-8")))


def _explored(name: str, root: str) -> str:
    """One call alone, every state of it; or with its run under a profile, as it looks from outside."""
    if name == CALLS:
        graph = explored.whole(Search(Calls(1, resuspensions=1)).run())
        label = "The explored graph of one call alone"
    else:
        graph = explored.folded(Search(Joint(choose(name, {}).policies, 1, crashes=0)).run())
        label = f"The explored graph of {name} with one call, folded"
    source = explored.dot(graph, name, lambda clause: page_of(clause, root))
    return picture(layout.svg(source, label))


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
    example = example_of(mutant) if mutant is not None else None
    if mutant is None or example is None:
        raise PluginError(f"There is no witness of {name}.")
    return mutant.clause, example.because, example.trace


KINDS: dict[str, Callable[[str, str], str]] = {
    "chart": _chart,
    "covered": _covered,
    "explored": _explored,
    "sequence": _sequence,
    "timeline": _timeline,
    "play": _link,
}
"""What a page can ask for."""
