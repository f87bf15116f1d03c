"""The page of scripted scenarios, and a file for each with the current observations of a reference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from html import escape

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import Script, corpus, corpus_files, recorded
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.wording import step
from runlock.conformance.family.recordings import parse, render
from runlock.conformance.report.examples import clauses_of
from runlock.conformance.trace.scenario_file import ENDING

from .markdown import clause, clauses, fold, later


def pages() -> Iterator[tuple[str, str]]:
    """The one page."""
    yield "scenarios.md", _page()


def files() -> Iterator[tuple[str, str]]:
    """Each scenario with the observations of its target."""
    benches: dict[str, Bench] = {}
    for script, file in zip(corpus(FAMILY), corpus_files(FAMILY), strict=True):
        bench = benches.setdefault(script.target, Bench(resolve(script.target).open))
        shown = recorded(parse(file.read_text("utf-8"), file.name), bench.session(script.scenario))
        yield f"scenarios/{script.name}{ENDING}.txt", render(shown)
    for bench in benches.values():
        bench.close()


def _page() -> str:
    by_area: dict[str, list[Script]] = defaultdict(list)
    for script in corpus(FAMILY):
        by_area[clauses_of(script)[0].rpartition("-")[0]].append(script)
    parts = "".join(f"## {area}\n\n{''.join(map(_scenario, by_area[area]))}" for area in sorted(by_area))
    return f"""# The scripted scenarios

Each of these {len(corpus(FAMILY))} short scenarios shows one behaviour. A campaign plays them first, before
it generates schedules of its own. A scenario holds only what the kit does; the clauses say what a runtime has
to show. The file of each has, in addition, what a reference shows at each step.

{parts}"""


def _scenario(one: Script) -> str:
    steps = later(f"<ol>{''.join(f'<li>{escape(step(move))}</li>' for move in one.moves)}</ol>")
    about = [line for line in one.about.splitlines() if line != ", ".join(clauses_of(one))]
    named = ", ".join(clause(each, ".") for each in clauses_of(one))
    folded = fold(f"{len(one.moves)} steps", steps)
    file = f"[The steps with what {one.target} shows](scenarios/{one.name}{ENDING}.txt)"
    return f"### {one.name}\n\n{clauses(' '.join(about), '.')} {named}\n\n{folded}\n{file}\n\n"
