"""The rules of the architecture, checked on the source: layers, who may see whom, and what decides nothing.

Each rule is shown to fail on a planted violation.
"""

import ast
from collections.abc import Container, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest
from places import ROOT

from runlock.conformance.family.family import families

PACKAGES = ("spec", "machines", "conformance", "diagrams")

LAYERS = (
    ("spec",),
    ("machines",),
    (
        "conformance.text",
        "conformance.errors",
        "conformance.extras",
        "conformance.inputs",
        "conformance.outputs",
        "conformance.safe_path",
        "conformance.cluster",
    ),
    ("conformance.protocol",),
    ("conformance.trace",),
    ("conformance.family", "conformance.transport"),
    ("conformance.judging",),
    ("conformance.driving",),
    ("conformance.campaign", "conformance.families", "conformance.audit", "conformance.wires"),
    ("conformance.selftest", "conformance.adapters", "conformance.adapter", "diagrams"),
    ("conformance.report",),
    ("conformance.cli", "conformance.pytest_plugin", "conformance.pytest_suite"),
)
"""Each layer imports only from itself and from those before it."""

JUDGING = (
    "conformance.judging",
    *(f"conformance.families.*.{part}" for part in ("state", "invariants", "monitors", "joint")),
)
MADE = tuple(f"conformance.families.*.{part}" for part in ("reference", "mutants", "variants"))


class Rule(NamedTuple):
    """Modules under `who` import nothing that lies under `never`."""

    who: tuple[str, ...]
    never: tuple[str, ...]
    why: str


RULES = (
    Rule(
        JUDGING, (*MADE, "machines.*.runtime", "conformance.adapters"), "a judge must not see what it judges"
    ),
    Rule(
        tuple(f"conformance.families.*.{part}" for part in ("invariants", "monitors", "joint")),
        ("conformance.families.*.state.fold",),
        "a check reads what is known, and changes nothing of it",
    ),
    Rule(
        ("conformance.adapters", "conformance.adapter", "conformance.wires"),
        JUDGING,
        "an adapter that sees a judge can agree with it",
    ),
    Rule(
        ("conformance.audit.importers",),
        ("conformance.judging", "conformance.driving", "conformance.campaign", "conformance.families"),
        "an importer that sees a judge can agree with it",
    ),
    Rule(PACKAGES, ("tests", "docs"), "what is shipped works without its tests and its docs"),
    Rule(
        tuple(
            f"conformance.{wing}"
            for wing in ("protocol", "trace", "family", "transport", "judging", "driving")
        )
        + tuple(
            f"conformance.{wing}"
            for wing in ("campaign", "audit", "selftest", "report", "cli", "pytest_plugin")
        ),
        ("conformance.families", "machines.lifecycle", "machines.tool_runner", "machines.message_loop"),
        "shared code knows a family by the object `Family` alone",
    ),
    Rule(
        ("machines.joint", "diagrams.state_space"),
        ("conformance.families", "machines.lifecycle", "machines.tool_runner", "machines.message_loop"),
        "joint states are searched, checked and drawn alike for every family",
    ),
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
    (
        "conformance.transport.child_process",
        "time.monotonic",
    ): "waiting for a process needs a limit; no verdict comes of it",
    (
        "conformance.campaign.baseline",
        "datetime.date.today",
    ): "--baseline alone asks for the day, and says so",
    (
        "conformance.wires.wiring",
        "uuid.uuid4",
    ): "a server that outlives the kit has not met the name of a thread, which is shown nowhere",
    ("conformance.cli.commands.explore", "time.monotonic"): "--budget only cuts off, and says so",
    (
        "conformance.campaign.worker_process",
        "time.monotonic",
    ): "a worker that hangs is given up; no verdict comes of it",
    ("conformance.campaign.interrupts", "time.monotonic"): "--budget only cuts off, and says so",
    ("conformance.campaign.exhaustive_campaign", "time.monotonic"): "how often a search saves itself",
}


@cache
def parsed(source: str) -> ast.Module:
    """A source text as a tree, which several tests read."""
    return ast.parse(source)


@cache
def imports_of(source: str, module: str) -> list[str]:
    """The modules, and the names in them, that a source text imports, as absolute dotted names."""
    package, found = module.split(".")[:-1], []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            found += [f"{base}.{alias.name}" for alias in node.names]
    return found


def ours(name: str) -> str | None:
    """A dotted name without the brand, if it is one of ours."""
    branded = name.removeprefix("runlock.")
    return branded if branded.split(".")[0] in (*PACKAGES, "tests", "docs") and branded != name else None


@cache
def is_under(name: str, places: tuple[str, ...]) -> bool:
    """Whether a dotted name is one of these places, or in one; `*` stands for any one part."""
    parts = name.split(".")
    return any(_begins(parts, place.split(".")) for place in places)


def _begins(parts: list[str], place: list[str]) -> bool:
    return len(parts) >= len(place) and all(b in ("*", a) for a, b in zip(parts, place, strict=False))


@cache
def layer_of(module: str) -> int:
    """The number of the layer in which a module lies; the package itself lies below all layers."""
    return next((at for at, places in enumerate(LAYERS) if is_under(module, places)), -1)


def violations(source: str, module: str) -> Iterator[str]:
    """A sentence for each import of the module that a rule forbids."""
    for name in imports_of(source, f"runlock.{module}"):
        bare = ours(name) or (name if name.split(".")[0] in ("tests", "docs") else None)
        if bare is None:
            continue
        if layer_of(bare) > layer_of(module):
            yield f"{module} imports {bare}, which lies in a later layer"
        for rule in RULES:
            if is_under(module, rule.who) and is_under(bare, rule.never):
                yield f"{module} imports {bare}, but {rule.why}"
        families_of = [
            name.split(".")[2] for name in (module, bare) if is_under(name, ("conformance.families.*",))
        ]
        if len(set(families_of)) > 1 and bare.count(".") > 2:
            yield f"{module} imports {bare}, but families do not see each other"


def uses(source: str, module: str) -> Iterator[str]:
    """A sentence for each use of a clock, of sleep, or of chance without a seed."""
    tree = parsed(source)
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


def circle(texts: list[tuple[str, str]]) -> list[str]:
    """Modules that import each other in a circle, late and for types included; empty if there are none."""
    texts_of = {module.removesuffix(".__init__"): (module, text) for module, text in texts}
    graph = {
        bare: {found for name in imports_of(text, f"runlock.{module}") if (found := _known(name, texts_of))}
        for bare, (module, text) in texts_of.items()
    }
    try:
        TopologicalSorter({one: used - {one} for one, used in graph.items()}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _known(name: str, modules: Container[str]) -> str:
    """The module that an imported name is, or is in; empty for one that is not ours."""
    bare = name.removeprefix("runlock.")
    while bare and bare not in modules:
        bare = bare.rpartition(".")[0]
    return bare


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_the_layers_and_the_rules_hold() -> None:
    """No module imports from a later layer, or what a rule keeps from it."""
    found = [sentence for module, source in sources(*PACKAGES) for sentence in violations(source, module)]

    assert found == []


def test_every_module_lies_in_a_layer() -> None:
    """A new wing has to say where it belongs."""
    outside = {module for module, _ in sources(*PACKAGES) if layer_of(module) < 0}

    assert outside <= {"conformance.__init__", "conformance"}


def test_no_modules_import_each_other_in_a_circle():
    """What a module needs can be read before it, down to the last one."""
    assert circle(sources(*PACKAGES)) == []


def test_a_planted_circle_is_found():
    """A circle counts over a package, late, and for types alone."""
    texts = [
        ("spec.one.__init__", "from .part import name"),
        ("spec.one.part", "def late():\n    from runlock.spec.two import name"),
        ("spec.two", "if TYPE_CHECKING:\n    from .one import name"),
    ]

    assert set(circle(texts)) == {"spec.one", "spec.one.part", "spec.two"}
    assert circle(texts[:2]) == []


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
    ("spec.model", "import runlock.machines.table"): "which lies in a later layer",
    ("spec.model", "from ..conformance import judging"): "which lies in a later layer",
    ("machines.table", "from runlock.conformance.protocol import Report"): "which lies in a later layer",
    ("conformance.trace.moves", "from ..family.family import Family"): "which lies in a later layer",
    (
        "conformance.judging.judge",
        "def late():\n    from ..driving import session",
    ): "which lies in a later layer",
    (
        "conformance.families.acme.invariants.run",
        "from ..reference import factory",
    ): "but a judge must not see what it judges",
    (
        "conformance.families.acme.monitors.flow",
        "from runlock.machines.acme.runtime import Runtime",
    ): "but a judge must not see what it judges",
    (
        "conformance.families.acme.invariants.run",
        "from ..state.fold.stimuli import SENT",
    ): "but a check reads what is known",
    ("conformance.adapters.acme", "from ..judging.judge import Judge"): "an adapter that sees a judge",
    (
        "conformance.audit.importers.acme",
        "from runlock.conformance.judging.judge import Judge",
    ): "an importer that sees a judge",
    ("conformance.driving.session", "from ..families.lifecycle import state"): "by the object `Family` alone",
    (
        "conformance.families.acme.state.fold",
        "from ...lifecycle.state import records",
    ): "do not see each other",
    ("diagrams.render.svg", "import tests.architecture"): "but what is shipped",
    (
        "machines.joint.checker",
        "from runlock.machines.lifecycle.joint.state import Call",
    ): "searched, checked and drawn alike",
}


@pytest.mark.parametrize(("module", "source"), list(PLANTED), ids=[" ".join(key) for key in PLANTED])
def test_a_planted_import_is_found(module: str, source: str) -> None:
    """Each import rule fails on a module that breaks it, late imports included."""
    assert any(PLANTED[module, source] in sentence for sentence in violations(source, module))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("machines.table", "from runlock.spec import model\nimport statemachine"),
        ("conformance.families.acme.mutants.early", "from runlock.machines.acme.runtime import Runtime"),
        ("conformance.families.acme.state.fold", "from ..messages import Handshake"),
        ("conformance.cli.main", "from ..report import text"),
    ],
)
def test_an_allowed_import_is_not_found(module: str, source: str) -> None:
    """The rules forbid no more than they say."""
    assert list(violations(source, module)) == []


# --- shared code speaks of no family ------------------------------------------------------------

SHARED = {
    "initialize", "scenario.open", "scenario.close", "shutdown", "run.start", "gate.release", "cancel",
    "clock.advance", "deliver", "settle", "crash", "recover", "inspect", "gate.open", "gate.closed",
    "run.status", "run.finished", "message", "event", "model", "tool",
}  # fmt: skip
"""Methods, kinds of observation and gates of the page that all families share."""


@cache
def words_of_families() -> set[str]:
    """The methods, kinds and gates that are not of every family."""
    vocabularies = [family.vocabulary for family in families()]
    every = {word for one in vocabularies for word in (*one.methods, *one.observations, *one.outcomes)}
    return every - SHARED


def mentions(source: str, words: set[str]) -> Iterator[str]:
    """The string literals of a source text that are a word of a family."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Constant) and node.value in words:
            yield str(node.value)


WINGS = (
    "protocol", "trace", "family", "transport", "judging", "driving", "campaign", "selftest", "report", "cli",
)  # fmt: skip


def test_shared_code_mentions_no_word_of_a_family() -> None:
    """What a verb, an observation or a gate of one family is called stands in its own folder."""
    shared = tuple(f"conformance.{wing}" for wing in WINGS)
    found = {
        (module, word)
        for module, source in sources("conformance")
        if is_under(module, shared)
        for word in mentions(source, words_of_families())
    }

    assert found == set()


def test_a_planted_word_is_found() -> None:
    """The rule sees a literal that names a verb of one family."""
    assert list(mentions("if method == 'decide': pass", words_of_families())) == ["decide"]


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
