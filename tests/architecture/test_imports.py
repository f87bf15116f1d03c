"""The rules of the house, read off the source: who may import whom, and what decides nothing.

Each rule is shown to fire on a planted violation, so that a rule which never fires is seen too.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from places import ROOT

PACKAGES = ("spec", "machines", "conformance", "diagrams")

JUDGED_BY = (
    "oracle", "follower", "paths", "round_followers", "invariants", "account", "subjects", "judge",
    "open_policies", "standing", "twice", "coverage", "derived", "refusals", "joint_charts", "joint_states",
    "joint_world", "joint_oracle", "joint_ground", "joint_events", "joint_words",
)  # fmt: skip
JUDGES = tuple(f"conformance.{name}" for name in JUDGED_BY)
CHARTS = ("machines.chart", "machines.charts", "machines.table", "machines.explore")
WIRE = ("conformance.protocol", "conformance.trace")
SHOWN = (
    *CHARTS, "machines.catalogue", "spec", *WIRE,
    *(f"conformance.{name}" for name in ("account", "subjects", "moves", "wording", "exceptions")),
)  # fmt: skip
MADE_OF_THE_RUNTIME = ("conformance.mutants", "conformance.variants", "conformance.adapters.reference")
RUNTIME_USERS = ("machines.runtime", *MADE_OF_THE_RUNTIME)


class Rule(NamedTuple):
    """Modules under `who` import of ours nothing but what is under `only`, and nothing under `never`."""

    who: tuple[str, ...]
    only: tuple[str, ...] | None
    never: tuple[str, ...]
    why: str


RULES = (
    Rule(("spec",), ("spec",), (), "the words depend on nothing"),
    Rule(("machines",), ("machines", "spec"), (), "the charts stand on the words alone"),
    Rule(
        JUDGES,
        (*JUDGES, *CHARTS, *WIRE, "spec"),
        ("machines.runtime",),
        "who judges must not see the reference, a mutant or an adapter",
    ),
    Rule(("conformance.adapters",), None, JUDGES, "an adapter that sees a judge can agree with it"),
    Rule(("diagrams",), ("diagrams", *SHOWN), (), "a picture shows charts, clauses and traces, and no more"),
    Rule(PACKAGES, None, ("tests", "docs"), "what is shipped stands without its tests and its docs"),
)

BANNED = {
    "time.sleep": "waiting is for something that happens",
    "time.time": "the clock is the kit's own",
    "time.monotonic": "the clock is the kit's own",
    "time.perf_counter": "the clock is the kit's own",
    "datetime.datetime.now": "the clock is the kit's own",
    "datetime.datetime.utcnow": "the clock is the kit's own",
    "datetime.date.today": "the clock is the kit's own",
    "uuid.uuid1": "ids come from the kit",
    "uuid.uuid4": "ids come from the kit",
    "os.urandom": "choices come from a seed",
}
EXCEPTIONS = {
    ("conformance.child", "time.monotonic"): "waiting for a process needs a limit; no verdict comes of it",
    ("conformance.commands.check", "datetime.date.today"): "--baseline alone asks for the day, and says so",
    ("conformance.commands.explore", "time.monotonic"): "--budget only cuts off, and says so",
    ("conformance.hand", "time.monotonic"): "a worker that hangs is given up; no verdict comes of it",
    ("conformance.supervisor", "time.monotonic"): "--budget only cuts off, and says so",
}


def imports_of(source: str, module: str) -> Iterator[str]:
    """The modules, and the names in them, that a source text imports, as absolute dotted names."""
    package = module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def ours(name: str) -> str | None:
    """A dotted name without the brand, if it is one of ours."""
    branded = name.removeprefix("runlock.")
    return branded if branded.split(".")[0] in (*PACKAGES, "tests", "docs") and branded != name else None


def is_under(name: str, places: tuple[str, ...]) -> bool:
    """Whether a dotted name is one of these places, or in one (`schedules`, `schedule_x` count as one)."""
    return any(name == place or name.startswith((f"{place}.", f"{place}_", f"{place}s")) for place in places)


def violations(source: str, module: str) -> Iterator[str]:
    """A sentence for each import of the module that the house forbids."""
    for name in imports_of(source, f"runlock.{module}"):
        bare = ours(name) or (name if name.split(".")[0] in ("tests", "docs") else None)
        if bare is None:
            continue
        for rule in RULES:
            if is_under(module, rule.who) and not _is_allowed(bare, rule):
                yield f"{module} imports {bare}, but {rule.why}"
        if is_under(bare, ("machines.runtime",)) and not is_under(module, RUNTIME_USERS):
            yield f"{module} imports {bare}, but only {', '.join(MADE_OF_THE_RUNTIME)} see the runtime"


def _is_allowed(name: str, rule: Rule) -> bool:
    if is_under(name, rule.never):
        return False
    return rule.only is None or is_under(name, rule.only)


def uses(source: str, module: str) -> Iterator[str]:
    """A sentence for each use of a clock, of sleep, or of chance without a seed."""
    tree = ast.parse(source)
    local = dict(_names(tree))
    for node in ast.walk(tree):
        name = _dotted(node, local)
        why = BANNED.get(name or "") or _unseeded(node, name, local)
        if why and (module, name) not in EXCEPTIONS:
            yield f"{module} uses {name or 'random.Random'}, but {why}"


def _unseeded(node: ast.AST, name: str | None, local: dict[str, str]) -> str | None:
    is_drawn = name is not None and name.startswith(("random.", "secrets.")) and name != "random.Random"
    is_unseeded = (
        isinstance(node, ast.Call) and _dotted(node.func, local) == "random.Random" and not node.args
    )
    return "choices come from a seed" if is_drawn or is_unseeded else None


def _names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _dotted(node: ast.AST, local: dict[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return local.get(node.id)
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value, local)
        return f"{base}.{node.attr}" if base else None
    return None


def sources(*packages: str) -> list[tuple[str, str]]:
    """Each module of our packages, by its dotted name, with its text."""
    return [
        (_module_name(path), path.read_text("utf-8"))
        for package in packages
        for path in sorted((ROOT / package).rglob("*.py"))
    ]


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_the_import_directions_hold():
    """Words, charts, then runtime and oracle apart: nobody imports against the flow."""
    found = [sentence for module, source in sources(*PACKAGES) for sentence in violations(source, module)]

    assert found == []


def test_nothing_but_the_kit_decides():
    """No wall clock, no chance, no sleep in what judges and what is judged by."""
    shipped = sources("spec", "machines", "conformance")
    found = [sentence for module, source in shipped for sentence in uses(source, module)]

    assert found == []


def test_every_exception_is_needed():
    """An exception that nothing uses any more is taken off the list."""
    texts = dict(sources("spec", "machines", "conformance"))
    unused = [
        (module, name) for module, name in EXCEPTIONS if name.rpartition(".")[2] not in texts.get(module, "")
    ]

    assert unused == []


PLANTED = {
    ("spec.model", "import runlock.machines.table"): "spec.model imports machines.table, but the words",
    (
        "spec.model",
        "from ..conformance import oracle",
    ): "spec.model imports conformance.oracle, but the words",
    (
        "machines.explore.joint",
        "from runlock.conformance.protocol import Report",
    ): "but the charts stand on",
    ("machines.explore.joint", "from ..runtime import core"): "joint imports machines.runtime.core, but only",
    (
        "conformance.oracle",
        "from runlock.machines import runtime",
    ): "but who judges must not",
    (
        "conformance.oracle",
        "from .mutants import early",
    ): "imports conformance.mutants.early",
    ("conformance.invariants.run", "from ..adapters import reference"): "but who judges must not see",
    (
        "conformance.judge_search",
        "from .stdio import Pipe",
    ): "imports conformance.stdio.Pipe, but",
    ("conformance.adapters.acme", "from ..oracle import Oracle"): "but an adapter that sees a judge",
    ("conformance.adapters.acme", "def late():\n    from .. import invariants"): "but an adapter that sees",
    (
        "conformance.adapters.acme",
        "import runlock.machines.lifecycle.runtime.core",
    ): "but only conformance.mut",
    (
        "conformance.cli",
        "from runlock.machines.lifecycle.runtime import Reference",
    ): "but only conformance.mut",
    ("diagrams.dot", "from ..conformance.oracle import Oracle"): "oracle.Oracle, but a picture shows charts,",
    ("diagrams.dot", "import tests.test_house"): "diagrams.dot imports tests.test_house, but what is shipped",
}


@pytest.mark.parametrize(("module", "source"), list(PLANTED), ids=[" ".join(key) for key in PLANTED])
def test_a_planted_import_is_found(module, source):
    """Each import rule fires on a module that breaks it, late imports included."""
    assert any(PLANTED[module, source] in sentence for sentence in violations(source, module))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("machines.table", "from runlock.spec import model\nimport statemachine"),
        (
            "conformance.oracle",
            "from runlock.machines.lifecycle.charts import run\nfrom .protocol import Report",
        ),
        ("conformance.mutants.early", "from runlock.machines.lifecycle.runtime import Reference"),
        ("conformance.adapters.reference", "from ...machines.runtime import Reference"),
        ("conformance.suite", "from .oracle import Oracle\nfrom .adapters import reference"),
    ],
)
def test_an_import_with_the_flow_is_allowed(module, source):
    """The rules forbid no more than they say."""
    assert list(violations(source, module)) == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import time\ntime.sleep(1)", "time.sleep"),
        ("from time import sleep as rest\nrest(1)", "time.sleep"),
        ("from datetime import datetime\ndatetime.now()", "datetime.datetime.now"),
        ("import datetime as dt\ndt.datetime.now()", "datetime.datetime.now"),
        ("import time\nclock = time.time", "time.time"),
        ("import random\nrandom.random()", "random.random"),
        ("from random import Random\nRandom()", "random.Random"),
        ("import secrets\nsecrets.token_hex()", "secrets.token_hex"),
    ],
)
def test_a_planted_clock_is_found(source, name):
    """Each ban fires, under whatever name the thing was imported."""
    assert [
        sentence for sentence in uses(source, "machines.explore.joint") if f"uses {name}, but" in sentence
    ]


def test_a_seeded_choice_is_allowed():
    """A seed makes chance repeatable."""
    assert list(uses("import random\nrandom.Random(7).random()", "machines.explore.joint")) == []
