"""The default lane plays every mutant, clause, variant and script, or `tests/long_only.toml` says why not."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import NamedTuple

import pytest
from places import ROOT

from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.variants import VARIANTS
from runlock.spec.model import load_spec

FAMILIES = ROOT / "conformance" / "families"
EXCUSED = tomllib.loads((ROOT / "tests" / "long_only.toml").read_text("utf-8"))
ITEM = re.compile(r"^(?P<test>\S+?)\[(?P<id>.*)\]$", re.MULTILINE)


class Lane(NamedTuple):
    """What there is of a family, and the test that plays one of it for each of its ids."""

    test: str
    names: Callable[[], Collection[str]]


LANES = {
    ("lifecycle", "mutants"): Lane(
        "tests/conformance/families/lifecycle/mutants/test_mutants.py::test_a_mutant_is_blamed_on_its_clause",
        lambda: [mutant.name for mutant in MUTANTS],
    ),
    ("lifecycle", "variants"): Lane(
        "tests/conformance/families/lifecycle/mutants/test_mutants.py::test_a_variant_passes",
        lambda: [variant.name for variant in VARIANTS],
    ),
    ("lifecycle", "scripts"): Lane(
        "tests/conformance/driving/strategies/test_scripted.py::test_each_file_says_what_its_target_does",
        lambda: [script.name for script in corpus()],
    ),
}


@cache
def collected() -> Mapping[str, set[str]]:
    """The ids of each of these tests, as the README's command collects them."""
    tests = sorted({lane.test for lane in LANES.values()})
    words = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-q", *tests]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, set[str]] = {test: set() for test in tests}
    for item in ITEM.finditer(ran.stdout):
        found[item["test"]].add(item["id"])
    return found


def excused(family: str, kind: str) -> Mapping[str, str]:
    """What is named in the file, with its reasons."""
    named: Mapping[str, str] = EXCUSED[family][kind]
    return named


@pytest.mark.parametrize(("family", "kind"), LANES, ids="-".join)
def test_everything_is_played_or_excused(family: str, kind: str) -> None:
    """What is in neither place is seen by no quick run; what is in both needs no excuse."""
    lane = LANES[family, kind]
    played, names = collected()[lane.test], set(lane.names())

    assert played <= names
    assert names - played == excused(family, kind).keys()


def test_every_clause_is_played_or_excused() -> None:
    """A clause is played by a mutant that breaks it, unless the spec says that it cannot be tested."""
    played = collected()[LANES["lifecycle", "mutants"].test]
    broken = {mutant.clause for mutant in MUTANTS if mutant.name in played}
    testable = {clause.id for clause in load_spec().clauses.values() if not clause.untestable}

    assert testable - broken == excused("lifecycle", "clauses").keys()


def test_every_excuse_is_a_sentence() -> None:
    """An excuse without a reason would be a hole."""
    reasons = [reason for family in EXCUSED.values() for kind in family.values() for reason in kind.values()]

    assert [reason for reason in reasons if not re.fullmatch(r"[A-Z].{20,}\.", reason)] == []


def test_every_family_with_mutants_has_its_lanes() -> None:
    """A family is added to LANES as soon as there is something of it to play."""
    named = {path.parent.name for path in FAMILIES.glob("*/mutants") if any(path.glob("*.py"))}

    assert named == {family for family, _ in LANES}
