"""Which disturbances each check excuses, read off its source: golden/tolerated.txt is the table.

A check excuses a disturbance if it, or a function of the invariants that it refers to, calls `disturbed_by`
with it.  `pytest --rewrite` writes the table anew; read the difference before committing it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from places import GOLDEN

from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.state.disturbances import Disturbance

PACKAGE = "runlock.conformance.families.lifecycle.invariants"
TABLE = GOLDEN / "tolerated.txt"


@cache
def functions_of(module: str) -> dict[str, tuple[str, ast.AST]]:
    """The functions that a module of invariants knows by name, with the module in which each is defined."""
    tree = ast.parse(inspect.getsource(import_module(module)))
    known: dict[str, tuple[str, ast.AST]] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            known[node.name] = (module, node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
            theirs = functions_of(str(node.module))
            known |= {one.asname or one.name: theirs[one.name] for one in node.names if one.name in theirs}
    return known


def excused(module: str, function: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """The names of the disturbances that a function asks about, itself or through another one."""
    home, tree = functions_of(module)[function]
    if f"{home}.{function}" in seen:
        return set()
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & functions_of(home).keys()
    found = set(asked_directly(tree))
    for other in named:
        found |= excused(home, other, seen | {f"{home}.{function}"})
    return found


def asked_directly(tree: ast.AST) -> Iterator[str]:
    """The names that are passed to `disturbed_by` in a function."""
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr == "disturbed_by":
            yield from (ast.unparse(one) for one in getattr(node, "args", ()))


def lines() -> Iterator[str]:
    """A line for each check, in the order of the modules and of the names."""
    for module, check, function in sorted(
        {(one.check.__module__, one.check.__name__, one.check.__qualname__) for one in INVARIANTS}
    ):
        found = excused(module, function.partition(".")[0])
        kinds = ", ".join(kind.value for kind in Disturbance if kind.name in found)
        yield f"{module.removeprefix(PACKAGE + '.')}.{check}: {kinds or '-'}"


def test_each_check_excuses_what_the_table_says(rewrites: bool) -> None:
    """A check that begins to excuse more, or less, shows in the difference of one line."""
    table = "".join(f"{line}\n" for line in lines())
    if rewrites:
        TABLE.write_text(table, encoding="utf-8")
    assert table == TABLE.read_text("utf-8")


def test_only_disturbances_are_asked_about() -> None:
    """Each argument of `disturbed_by` is the name of a disturbance, so that the table misses none."""
    modules = {one.check.__module__ for one in INVARIANTS}
    trees = (ast.parse(inspect.getsource(import_module(module))) for module in modules)
    assert {name for tree in trees for name in asked_directly(tree)} == {kind.name for kind in Disturbance}


def test_what_a_helper_asks_about_counts_for_its_check() -> None:
    """One check asks about nothing, and another one has a helper ask."""
    assert excused(f"{PACKAGE}.payload_modes", "the_payload_arrives") == set()
    assert excused(f"{PACKAGE}.cancel", "a_cancelled_run_ends_as_Cancelled") == {"FAULT", "CRASH"}
