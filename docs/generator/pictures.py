"""The pictures and programs in hand-written pages, included as in `<!-- sequence: RunsTheRejected -->`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.cli.main import main
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import Script, corpus, send
from runlock.conformance.families.lifecycle.exploration import CALLS
from runlock.conformance.family.family import DEFAULT, family_named
from runlock.conformance.family.recordings import parse
from runlock.conformance.report.examples import example_of
from runlock.conformance.trace.trace import Trace
from runlock.diagrams import state_space as explored
from runlock.diagrams.charts.dot import DotOptions, page_of
from runlock.diagrams.charts.drawn import drawn
from runlock.diagrams.charts.picture import pictures
from runlock.diagrams.charts.playable import fragment
from runlock.diagrams.lifecycle import sequence_svg as drawn_sequence
from runlock.diagrams.lifecycle import timeline_svg as drawn_timeline
from runlock.diagrams.render import elk_layout
from runlock.diagrams.render import graphviz_layout as layout
from runlock.diagrams.render.png import painted
from runlock.machines.joint.model import System
from runlock.machines.joint.search import Search
from runlock.machines.lifecycle.joint.calls import Calls
from runlock.machines.lifecycle.joint.policies import choose
from runlock.machines.lifecycle.joint.transitions import Joint
from runlock.machines.message_loop.joint import policies as loop_policies
from runlock.machines.message_loop.joint import transitions as loop_transitions
from runlock.machines.tool_runner.joint import policies as runner_policies
from runlock.machines.tool_runner.joint import transitions as runner_transitions
from runlock.spec.model import load_spec

from . import architecture, evidence
from .markdown import clause, folder_of, later, picture, played, text
from .matrix import report

CHECK = ("check", "reference", "--only", "GATE-*", "--examples", "0", "--jobs", "1")
"""The clauses that the coverage in a picture is about."""


def drawn_into(markdown: str, depth: int) -> str:
    """The page with its pictures; `depth` is the number of folders that it lies in."""
    root = "/".join([".."] * depth) or "."
    return re.sub(r"<!-- (\w+): ([\w-]+) -->", lambda found: _drawn(found[1], found[2], root), markdown)


def _drawn(kind: str, name: str, root: str) -> str:
    if kind not in KINDS:
        raise LookupError(f"There is no picture of kind {kind}; there are {', '.join(KINDS)}.")
    return KINDS[kind](name, root)


def _chart(name: str, root: str) -> str:
    options = DotOptions(lambda clause: page_of(clause, root))
    shown = picture(drawn(pictures()[name], f"The chart {name}", options), is_graph=True)
    return re.sub(r'id="((?:node|edge)\d+)"', rf'id="{name}-\1"', shown)  # a page may show several charts


def _covered(name: str, root: str) -> str:
    """A chart with the coverage of a check."""
    source = dict(painted(_result(), lambda clause: page_of(clause, root)))[name]
    return picture(layout.svg(source, f"The chart {name}, as it was covered"))


@cache
def _result() -> dict[str, Any]:
    """The result of a small check, which the page shows."""
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        main([*CHECK, "-o", folder])
        return dict(json.loads((Path(folder) / "result.json").read_text("utf-8")))


def _explored(name: str, root: str) -> str:
    """Every state of one call; or of a run with one call under a profile, folded by what is observable."""
    label = f"The explored graph of {name} with one call, folded"
    further = next((one for one in SMALL if name in load_spec(one).profiles), None)
    if further is not None:
        return _explored_further(name, SMALL[further](name), label, root)
    if name == CALLS:
        graph = explored.merged(explored.whole(Search(Calls(1, resuspensions=1)).run()))
        label = "The explored graph of one call alone"
    else:
        graph = explored.folded(Search(Joint(choose(name, {}).policies, 1, crashes=0)).run())
    return _graph(partial(explored.dot, graph, name, DEFAULT, lambda clause: page_of(clause, root)), label)


def _a_runner(name: str) -> System:
    """A tool runner with one iteration and no cancel."""
    return runner_transitions.Joint(runner_policies.choose(name, {}).policies, 1, limit=1, cancels=0)


def _a_loop(name: str) -> System:
    """A message loop with one interactor, and neither a continuation nor a cancel."""
    policies = loop_policies.choose(name, {}).policies
    return loop_transitions.Joint(policies, 1, iterations=0, interactors=1, cancels=0)


SMALL: Mapping[str, Callable[[str], System]] = {"tool-runner": _a_runner, "message-loop": _a_loop}
"""What is drawn of a further family: a system with one call that is small enough."""


def _explored_further(name: str, system: System, label: str, root: str) -> str:
    """Every state of a system of a further family, folded by what its charts show."""
    of_call = "stack" if system.family == "message-loop" else ""
    graph = explored.folded(Search(system).run(), of_call=of_call)
    link = partial(page_of, root=f"{root}/{folder_of(system.family)}".rstrip("/"))
    return _graph(partial(explored.dot, graph, name, system.family, link), label)


def _graph(source: Callable[..., str], label: str) -> str:
    """A graph, placed by ELK where that is installed."""
    if not elk_layout.is_available():
        return later(picture(layout.svg(source(), label), is_graph=True))
    [placement] = elk_layout.placements([layout.measured(source())])
    return later(picture(layout.svg(source(where=placement), label, is_placed=True), is_graph=True))


def _sequence(name: str, _: str) -> str:
    clause, because, trace = _witness(name)
    label = f"A sequence in which {clause} is broken"
    return picture(drawn_sequence.drawn(trace, label, f"{clause}: {because}"))


def _timeline(name: str, _: str) -> str:
    clause, because, trace = _witness(name)
    label = f"A timeline in which {clause} is broken"
    return picture(drawn_timeline.drawn(trace, label, f"{clause}: {because}"))


def _scene(name: str, root: str) -> str:
    """The timeline of a scripted scenario on a reference, and a link that plays it."""
    script = next((one for one in corpus(family_named(DEFAULT)) if one.name == name), None)
    if script is None:
        raise LookupError(f"There is no scenario {name}.")
    trace = _on_its_reference(script)
    drawing = drawn_timeline.drawn(trace, f"The scenario {name} on {script.target}")
    return (
        f"{picture(drawing)}\n{played(fragment(trace, ''), root, 'Play it step by step')}\n{{ .caption }}\n"
    )


def _on_its_reference(script: Script) -> Trace:
    bench = Bench(resolve(script.target).open)
    try:
        session = bench.session(script.scenario)
        for move in script.moves:
            send(session, move)
        session.close()
        return session.trace
    finally:
        bench.close()


def _finding(name: str, root: str) -> str:
    """The messages that break a clause in a released runtime, and in which ones else, as in the matrix."""
    found = [
        (runtime, one)
        for runtime in report()["runtimes"]
        for one in runtime["violations"]
        if one["clause"] == name and "cause" not in one
    ]
    (runtime, violation), *_ = found
    trace = parse("\n".join(violation["witness"]) + "\n", f"{runtime['name']}.{name}").trace
    drawing = drawn_sequence.drawn(trace, f"How {runtime['title']} breaks {name}", violation["because"])
    releases = "; ".join(_release(one, name, root) for one, _ in found)
    caption = f"{clause(name, root)} in released runtimes: {releases}."
    return f"{picture(drawing)}\n{caption}\n{{ .caption }}\n"


def _release(runtime: Mapping[str, Any], clause_id: str, root: str) -> str:
    """A link to what a release does against a clause."""
    name = f"{text(runtime['title'])} {runtime['implementation']['version']}"
    return f"[{name}]({root}/runtimes/{runtime['name']}.md#{clause_id.lower()})"


def _link(name: str, root: str) -> str:
    clause, because, trace = _witness(name)
    return played(fragment(trace, f"{clause}: {because}"), root, "play it step by step")


def _witness(name: str) -> tuple[str, str, Trace]:
    """The clause that a mutant breaks, why, and the trace that shows it."""
    family = family_named(DEFAULT)
    mutant = family.made.mutants().get(name)
    example = example_of(family, mutant) if mutant is not None else None
    if mutant is None or example is None:
        raise LookupError(f"There is no witness of {name}.")
    return mutant.clause, example.because, example.trace


def _diagram(name: str, _: str) -> str:
    """A diagram that fits a phone, and grows on a larger screen."""
    made = picture({"architecture": architecture.drawn}[name]())
    return made.replace('class="picture"', 'class="picture grows"', 1)


def _source(name: str, root: str) -> str:
    """An example program as a block of code, and a link to the file."""
    file = f"examples/{name}.py"
    text = (Path(__file__).parent.parent / file).read_text("utf-8")
    return f"[Download `{name}.py`]({root}/{file}.txt){{ download={name}.py }}\n\n```python\n{text}```\n"


KINDS: dict[str, Callable[[str, str], str]] = {
    "chart": _chart,
    "covered": _covered,
    "explored": _explored,
    "sequence": _sequence,
    "timeline": _timeline,
    "scene": _scene,
    "finding": _finding,
    "play": _link,
    "diagram": _diagram,
    "source": _source,
    "evidence": evidence.shown,
}
"""The kinds of picture, and of generated text and programs, that a page can include."""
