"""First-order mutants of the references, made by machine: how many of them the judge sees.

    python tests/benchmarks/ast_mutants.py [FAMILY] [COUNT] [SCHEDULES]

COUNT (200) changes of one node of the runtime of a family (lifecycle) are spread evenly over its modules.
Each is loaded in a child process in the place of its module, and played through at most SCHEDULES (400)
schedules, corpus and seeded walks under each profile and other values of policies, in a fixed order that
mixes them.  Killed: the judge objects, the adapter raises or breaks, or it hangs.  A survivor is equivalent
if ast_equivalents.toml argues so; others are findings.
"""

from __future__ import annotations

import ast
import copy
import importlib
import importlib.abc
import importlib.util
import itertools
import os
import random
import resource
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from runlock import machines
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.family.family import Family, family_named

HERE = Path(__file__).parent
WALKS = 8
SECONDS_MAX = 120  # of the processor, for one that never comes back

POLICIES: Mapping[str, Sequence[tuple[str, dict[str, Any]]]] = {
    "lifecycle": [
        ("awaken-8", {"round.executor": "sequential"}),
        ("awaken-8", {"round.executor": "sequential", "round.rest": "failed"}),
        ("awaken-8", {"durability": "call"}),
        ("awaken-8", {"cancel.inflight": "drain"}),
        ("tirea-stream", {"cancel.inflight": "drain"}),
        ("awaken-8", {"decision.early": "refuse"}),
        ("awaken-8", {"decision.batch": "atomic", "decision.cancel_path": "via_resuming"}),
        ("awaken-8", {"replay.gate": "no", "tool.raises": "end_run", "round.block": "fail_call"}),
        ("awaken-8", {"end.live": "left", "stop.threshold": "reaches", "stop.tools": "preempted"}),
        ("tirea", {"input.waiting": "supersede", "replay.start": "by_outcomes"}),
        ("tirea", {"round.mixed": "wait"}),
        ("awaken-8", {"input.waiting": "placeholder", "cancel.results": "dropped"}),
        ("awaken-8", {"resume": "collect"}),
        ("awaken-8", {"resume": "all_or_nothing"}),
        ("awaken-8", {"state": "caller"}),
    ],
}
"""By family: values of policies that no profile has."""


@dataclass(frozen=True)
class Subject:
    """The runtime of a family: where its modules are, and the configurations that are played."""

    family: Family

    @property
    def package(self) -> str:
        """The name of the package that is changed."""
        return f"runlock.machines.{self.family.name.replace('-', '_')}.runtime"

    @property
    def reference(self) -> str:
        """The name of the module with the adapter of the runtime."""
        return f"runlock.conformance.families.{self.family.name.replace('-', '_')}.reference"

    @property
    def folder(self) -> Path:
        """Where the modules are."""
        return Path(machines.__path__[0]) / self.family.name.replace("-", "_") / "runtime"

    @property
    def files(self) -> list[str]:
        """The modules with behaviour."""
        return sorted({path.stem for path in self.folder.glob("*.py")} - {"__init__", "choices", "world"})

    @property
    def configurations(self) -> list[tuple[str, dict[str, Any]]]:
        """Each profile that settles policies, and other values: those that are listed, or one at a time."""
        every = self.family.spec.profiles
        others = POLICIES.get(self.family.name) or self.values()
        return [*((name, {}) for name, profile in every.items() if profile.policies), *others]

    def values(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each value that the runtime can have of a policy, on the fullest profile that leaves it open.

        A profile that settles less also asks for fewer clauses.
        """
        can: Mapping[str, Any] = importlib.import_module(f"{self.package}.choices").CHOICES
        profiles = self.family.spec.profiles
        fullest = sorted(profiles, key=lambda name: len(profiles[name].policies), reverse=True)
        for key, policy in self.family.spec.policies.items():
            if policy.kind == "one of" and key in can:
                profile = next(name for name in fullest if key not in profiles[name].policies)
                yield from ((profile, {key: value}) for value in policy.values)


# --- what is changed ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One change of one node: its file and line, its operator, and the module as it is then."""

    subject: Subject
    file: str
    line: int
    operator: str
    before: str
    tree: Callable[[], ast.Module]

    @property
    def name(self) -> str:
        """File, line and operator."""
        return f"{self.file}.py:{self.line}:{self.operator}"


COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def _negated(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        changed = copy.copy(node)
        changed.test = ast.UnaryOp(ast.Not(), node.test)
        yield "negate", changed


def _compared(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        changed = copy.copy(node)
        changed.ops = [COMPARED[type(node.ops[0])]()]
        yield "compare", changed


def _joined(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.BoolOp):
        changed = copy.copy(node)
        changed.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield "and-or", changed
        for index in range(len(node.values)):
            left = [value for at, value in enumerate(node.values) if at != index]
            yield f"drop-operand-{index + 1}", left[0] if len(left) == 1 else ast.BoolOp(node.op, left)


def _dropped(node: Any) -> Iterator[tuple[str, Any]]:
    spoken = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    if spoken or isinstance(node, ast.AugAssign | ast.Raise | ast.Continue):
        yield "drop", ast.Pass()


def _counted(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "flip", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield "off-by-one", ast.Constant(node.value + 1)


def _returned(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Compare | ast.BoolOp | ast.UnaryOp):
        yield "return-not", ast.Return(ast.UnaryOp(ast.Not(), node.value))


def _early(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _says_nothing(node):
        changed = copy.copy(node)
        changed.body = [*node.body[:1], ast.Return(None), *node.body[1:]]
        if len(node.body) > 2:
            yield "return-early", changed


def _says_nothing(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return isinstance(node.returns, ast.Constant) and node.returns.value is None


OPERATORS: tuple[Callable[[Any], Iterator[tuple[str, Any]]], ...] = (
    _negated, _compared, _joined, _dropped, _counted, _returned, _early,
)  # fmt: skip


def changes(subject: Subject, file: str) -> Iterator[Change]:
    """Every change of a module, from its first line to its last; that of a constant is named by its line."""
    text = (subject.folder / f"{file}.py").read_text("utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    for parent, name, index, node in _places(tree):
        shown = (
            lines[node.lineno - 1] if isinstance(node, ast.Constant) else ast.get_source_segment(text, node)
        )
        for operator, changed in itertools.chain.from_iterable(change(node) for change in OPERATORS):
            put = _Put(parent, name, index, ast.copy_location(copy.copy(changed), node))
            before = " ".join((shown or "").split())[:100]
            yield Change(subject, file, node.lineno, operator, before, partial(_whole, tree, put))


def _whole(tree: ast.Module, put: _Put) -> ast.Module:
    """The module with one node in the place of another."""
    with put:
        return ast.fix_missing_locations(copy.deepcopy(tree))


def _places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, Any]]:
    """Each node of a function, and where it hangs."""
    ahead: list[tuple[ast.AST, bool]] = [(tree, False)]
    while ahead:
        parent, within = ahead.pop(0)
        for name, value in ast.iter_fields(parent):
            for index, node in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(node, ast.AST):
                    inside = within or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                    ahead.append((node, inside))
                    if inside and hasattr(node, "lineno"):
                        yield parent, name, index if isinstance(value, list) else None, node


class _Put:
    """A node in the place of another, for a while."""

    def __init__(self, parent: ast.AST, name: str, index: int | None, node: ast.AST) -> None:
        self.parent, self.name, self.index, self.node = parent, name, index, node

    def _exchange(self) -> None:
        held = getattr(self.parent, self.name)
        if self.index is None:
            setattr(self.parent, self.name, self.node)
            self.node = held
        else:
            held[self.index], self.node = self.node, held[self.index]

    def __enter__(self) -> None:
        self._exchange()

    def __exit__(self, *_: object) -> None:
        self._exchange()


# --- what is played -------------------------------------------------------------------------------

Place = tuple[int, int]
"""A configuration, and a schedule of it: the scripts of the corpus first, then the walks."""


def bench_of(subject: Subject, profile: str, policies: dict[str, Any]) -> Bench:
    """The reference on the bench; its module is looked up whenever a life of it begins."""
    family = subject.family

    def life() -> Any:
        return family.made.reference(profile, policies)()

    return Bench(lambda: family.host(life))


def placed(subject: Subject, benches: list[Bench]) -> list[Place]:
    """Every schedule that applies, in an order that leaves no configuration for the end."""
    scripts = corpus(subject.family)
    every = [
        (configuration, schedule)
        for configuration, bench in enumerate(benches)
        for schedule in range(len(scripts) + WALKS)
        if schedule >= len(scripts) or not applicable(subject.family, scripts[schedule], bench.handshake)
    ]
    random.Random(1).shuffle(every)
    return every


def played(bench: Bench, schedule: int) -> Tally:
    """What a schedule showed."""
    tally, scripts = Tally(), corpus(bench.family)
    if schedule < len(scripts):
        bench.play(scripts[schedule].scenario, play(scripts[schedule]), tally)
        return tally
    index = schedule - len(scripts)
    scenario = bench.scenarios[index % len(bench.scenarios)]
    bench.play(scenario, lambda session: walk(session, Seeded(1, index)), tally)
    return tally


# --- what becomes of it ---------------------------------------------------------------------------


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module as it was changed."""

    def __init__(self, change: Change) -> None:
        self.change = change
        self.name = f"{change.subject.package}.{change.file}"

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self.name else None

    def exec_module(self, module: Any) -> None:
        exec(compile(self.change.tree(), f"<{self.change.name}>", "exec"), module.__dict__)


def _fate(change: Change, benches: list[Bench], places: list[Place]) -> str:
    """What the judge says of a change, in a process of its own."""
    of_runtime = (change.subject.package, change.subject.reference)
    for name in [name for name in sys.modules if name.startswith(of_runtime)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Changed(change))
    for configuration, schedule in places:
        bench = benches[configuration]
        if configuration not in RENEWED:
            bench.restart()
            RENEWED.add(configuration)
        tally = played(bench, schedule)
        if tally.found or tally.troubles or tally.raised:
            return next(iter(tally.found), "broken")
    return "survived"


RENEWED: set[int] = set()


def fate(change: Change, benches: list[Bench], places: list[Place]) -> str:
    """Survived, or by what it was killed: a clause, that it broke, or that it hangs."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            answer = _fate(change, benches, places)
        except BaseException:
            answer = "broken"
        os.write(tell, answer.encode())
        os._exit(0)
    os.close(tell)
    with os.fdopen(told) as answers:
        said = answers.read()
    os.waitpid(child, 0)
    return said or "hangs"


# --- the table ------------------------------------------------------------------------------------


def equivalents() -> dict[tuple[str, str, str, str], str]:
    """The changes that are argued to change nothing, by family, file, operator and text."""
    rows = tomllib.loads((HERE / "ast_equivalents.toml").read_text("utf-8"))["equivalent"]
    return {(row["family"], row["file"], row["operator"], row["before"]): row["because"] for row in rows}


def key_of(change: Change) -> tuple[str, str, str, str]:
    """What a change is named by in the file of equivalents."""
    return change.subject.family.name, f"{change.file}.py", change.operator, change.before


def sample(subject: Subject, count: int) -> list[Change]:
    """As many changes, spread evenly over the modules."""
    every = [change for file in subject.files for change in changes(subject, file)]
    count = min(count, len(every))
    return [every[number * len(every) // count] for number in range(count)]


def fates(subject: Subject, count: int, most: int) -> Iterator[tuple[Change, str]]:
    """What becomes of each change."""
    benches = [bench_of(subject, *configuration) for configuration in subject.configurations]
    places = placed(subject, benches)[:most]
    for change in sample(subject, count):
        yield change, fate(change, benches, places)


def main(family: str = "lifecycle", count: str = "200", most: str = "400") -> None:
    """Print the table."""
    argued, rows = equivalents(), dict[str, Counter[str]]()
    print("Survived, and not argued to be equivalent:\n")
    for change, said in fates(Subject(family_named(family)), int(count), int(most)):
        what = "survived" if said == "survived" else "killed"
        if what == "survived" and key_of(change) in argued:
            what = "equivalent"
        elif what == "survived":
            print(f"- {change.name}: `{change.before}`", flush=True)
        rows.setdefault(change.file, Counter())[what] += 1
    columns = ("killed", "equivalent", "survived")
    total = sum(rows.values(), Counter[str]())
    print(f"\n| module | mutants | {' | '.join(columns)} |\n|---|--:|--:|--:|--:|")
    for name, row in (*rows.items(), ("**all**", total)):
        print(f"| {name} | {row.total()} | {' | '.join(str(row[column]) for column in columns)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
