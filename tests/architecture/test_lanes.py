"""The default lane plays every mutant, clause, variant and script, or `tests/long_only.toml` says why not."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import cache

import pytest
from places import ROOT

from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.family.family import families, family_named

EXCUSED = tomllib.loads((ROOT / "tests" / "long_only.toml").read_text("utf-8"))
ITEM = re.compile(r"^(?P<test>\S+?)\[(?P<id>.*)\]$", re.MULTILINE)


MUTANTS = "tests/conformance/families/lifecycle/mutants/test_mutants.py"
RUNNER_MUTANTS = "tests/conformance/families/tool_runner/mutants/test_runner_mutants.py"
RUNNER_SCRIPTS = "tests/conformance/families/tool_runner/test_runner_scripts.py"
LOOP_MUTANTS = "tests/conformance/families/message_loop/mutants/test_loop_mutants.py"
LOOP_SCRIPTS = "tests/conformance/families/message_loop/test_loop_scripts.py"
SCRIPTED = "tests/conformance/driving/strategies/test_scripted.py"
PLAYED = {
    ("lifecycle", "mutants"): f"{MUTANTS}::test_a_mutant_is_blamed_on_its_clause",
    ("lifecycle", "variants"): f"{MUTANTS}::test_a_variant_passes",
    ("lifecycle", "scripts"): f"{SCRIPTED}::test_every_script_is_legal_on_every_reference",
    ("tool-runner", "mutants"): f"{RUNNER_MUTANTS}::test_a_mutant_is_blamed_on_its_clause",
    ("tool-runner", "variants"): f"{RUNNER_MUTANTS}::test_a_variant_passes",
    ("tool-runner", "scripts"): f"{RUNNER_SCRIPTS}::test_a_script_is_right_on_every_reference",
    ("message-loop", "mutants"): f"{LOOP_MUTANTS}::test_a_mutant_is_blamed_on_its_clause",
    ("message-loop", "variants"): f"{LOOP_MUTANTS}::test_a_variant_passes",
    ("message-loop", "scripts"): f"{LOOP_SCRIPTS}::test_a_script_is_right_on_the_reference",
}
"""By family and kind: the test that plays one of the kind for each of its ids."""

CLAUSES = {
    "message-loop": "tests/conformance/families/message_loop/test_arrow_clauses.py"
    "::test_the_clause_of_a_transition_is_shown_to_fail",
}
"""By family: the test that shows clauses to fail for which no mutant is blamed, for each of its ids."""


def names(family: str, kind: str) -> set[str]:
    """What there is of a kind."""
    of = family_named(family)
    if kind == "scripts":
        return {script.name for script in corpus(of)}
    return set(of.made.mutants() if kind == "mutants" else of.made.variants())


@cache
def collected() -> Mapping[str, set[str]]:
    """The ids of each of these tests, as the README's command collects them."""
    tests = [*PLAYED.values(), *CLAUSES.values()]
    words = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-q", *tests]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, set[str]] = {test: set() for test in tests}
    for item in ITEM.finditer(ran.stdout):
        found[item["test"]].add(item["id"].partition("-reference:")[0])  # a script is played on each
    return found


def excused(family: str, kind: str) -> Mapping[str, str]:
    """What is named in the file, with its reasons."""
    named: Mapping[str, str] = EXCUSED[family][kind]
    return named


@pytest.mark.parametrize(("family", "kind"), PLAYED, ids=["-".join(key) for key in PLAYED])
def test_everything_is_played_or_excused(family: str, kind: str) -> None:
    """What is in neither place is seen by no quick run; what is in both needs no excuse."""
    played = collected()[PLAYED[family, kind]]

    assert played <= names(family, kind)
    assert names(family, kind) - played == excused(family, kind).keys()


@pytest.mark.parametrize("family", [family for family, kind in PLAYED if kind == "mutants"])
def test_every_clause_is_played_or_excused(family: str) -> None:
    """A clause is shown to fail, by a mutant or otherwise, unless the spec says that it cannot be tested."""
    played, of = collected()[PLAYED[family, "mutants"]], family_named(family)
    broken = {mutant.clause for name, mutant in of.made.mutants().items() if name in played}
    broken |= collected()[CLAUSES[family]] if family in CLAUSES else set()
    testable = {clause.id for clause in of.spec.clauses.values() if not clause.untestable}

    assert testable - broken == excused(family, "clauses").keys()


def test_every_excuse_is_a_sentence() -> None:
    """An excuse without a reason would be a hole."""
    reasons = [reason for family in EXCUSED.values() for kind in family.values() for reason in kind.values()]

    assert [reason for reason in reasons if not re.fullmatch(r"[A-Z].{20,}\.", reason)] == []


def test_every_kind_of_every_family_has_its_test() -> None:
    """What a family has of a kind is in PLAYED as soon as there is any."""
    kinds = ("mutants", "variants", "scripts")
    there = {(of.name, kind) for of in families() for kind in kinds if names(of.name, kind)}

    assert there == PLAYED.keys()
