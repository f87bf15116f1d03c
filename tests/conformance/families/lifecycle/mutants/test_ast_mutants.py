"""A sample of the machine-made mutants of the reference: what is plainly wrong is killed."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest
from places import BENCHMARKS

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


@pytest.mark.parametrize(
    ("file", "operator", "before"),
    [
        ("rounds", "negate", "if call.is_final: await self.journal()"),
        ("state", "return-not", "return self.status in FINAL"),
        ("inbox", "compare", "decision.suspension is None"),
        ("ledger", "drop", "self.state.messages.append(message)"),
        ("runtime", "off-by-one", "1"),
    ],
)
def test_each_operator_finds_its_node(ast_mutants: ModuleType, file: str, operator: str, before: str) -> None:
    """A change is named by what it changes, and leaves the module one that compiles."""
    found = [one for one in ast_mutants.changes(file) if (one.operator, one.before) == (operator, before)]

    assert found
    assert compile(found[0].tree(), found[0].name, "exec") is not None


def test_a_change_that_is_plainly_wrong_is_killed_and_the_right_one_is_not(ast_mutants: ModuleType) -> None:
    """What the thread loses is seen within a few schedules; the same schedules leave the reference alone."""
    benches = [ast_mutants.bench_of("awaken-8", {})]
    places = ast_mutants.placed(benches)[:5]
    lost = "self.state.messages.append(message)"
    wrong = next(one for one in ast_mutants.changes("ledger") if one.before == lost)

    assert ast_mutants.fate(wrong, benches, places) != "survived"
    assert all(not ast_mutants.played(benches[0], schedule).found for _, schedule in places)


@pytest.mark.long
def test_what_is_argued_to_be_equivalent_is_there(ast_mutants: ModuleType) -> None:
    """An argument about a change that no one makes any more is removed."""
    every = [one for file in ast_mutants.FILES for one in ast_mutants.changes(file)]
    there = {(f"{one.file}.py", one.operator, one.before) for one in every}
    assert ast_mutants.equivalents().keys() - there == set()
