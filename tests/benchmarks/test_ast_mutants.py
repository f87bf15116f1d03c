"""A sample of the machine-made mutants of the references: what is plainly wrong is killed."""

from __future__ import annotations

import ast
import importlib.util
import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from places import BENCHMARKS

from runlock.conformance.family.family import families, family_named

BENCHMARK = BENCHMARKS / "ast_mutants.py"


@pytest.fixture(scope="module")
def ast_mutants() -> ModuleType:
    """The benchmark, as a module."""
    spec = importlib.util.spec_from_file_location("ast_mutants", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["ast_mutants"] = module
    spec.loader.exec_module(module)
    return module


def unchanged(subject: Any) -> ast.Module:
    """The module that keeps the messages, as it is."""
    return ast.parse((subject.folder / "ledger.py").read_text("utf-8"))


def lifecycle(ast_mutants: ModuleType) -> Any:
    """The runtime of the lifecycle, to be changed."""
    return ast_mutants.Subject(family_named("lifecycle"))


@pytest.mark.parametrize(
    ("file", "operator", "before"),
    [
        ("rounds", "negate", "if call.is_final: await self.journal()"),
        ("state", "return-not", "return self.status in FINAL"),
        ("inbox", "compare", "decision.suspension is None"),
        ("ledger", "drop", "self.state.messages.append(message)"),
        ("runtime", "off-by-one", "number=self.state.number + 1,"),
    ],
)
def test_each_operator_finds_its_node(ast_mutants: ModuleType, file: str, operator: str, before: str) -> None:
    """A change is named by what it changes, and leaves the module one that compiles."""
    found = [
        one
        for one in ast_mutants.changes(lifecycle(ast_mutants), file)
        if (one.operator, one.before) == (operator, before)
    ]

    assert found
    assert compile(found[0].tree(), found[0].name, "exec") is not None


def test_a_change_that_is_plainly_wrong_is_killed_and_the_right_one_is_not(ast_mutants: ModuleType) -> None:
    """What the thread loses is seen within a few schedules; an unchanged module survives them."""
    subject = lifecycle(ast_mutants)
    benches = [ast_mutants.bench_of(subject, "awaken-8", {})]
    places = ast_mutants.placed(subject, benches)[:5]
    lost = "self.state.messages.append(message)"
    wrong = next(one for one in ast_mutants.changes(subject, "ledger") if one.before == lost)

    assert ast_mutants.fate(wrong, benches, places) != "survived"
    assert ast_mutants.fate(replace(wrong, tree=lambda: unchanged(subject)), benches, places) == "survived"


@pytest.mark.long
def test_what_is_argued_to_be_equivalent_is_there(ast_mutants: ModuleType) -> None:
    """An argument about a change that no one makes any more is removed."""
    subjects = [ast_mutants.Subject(family) for family in families()]
    there = {
        ast_mutants.key_of(one)
        for subject in subjects
        for file in subject.files
        for one in ast_mutants.changes(subject, file)
    }
    assert ast_mutants.equivalents().keys() - there == set()
