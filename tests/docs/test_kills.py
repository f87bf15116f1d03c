"""The kill matrix of the site is that of the kit: `docs/kills.json` is what a selftest finds.

`pytest -m long tests/docs/test_kills.py --rewrite` plays all of it and writes the file anew.
"""

import json
from typing import Any

import pytest
from command_line import selftested
from places import ROOT
from played_once import PlayedOnce

from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.variants import VARIANTS

KEPT = ROOT / "docs" / "kills.json"


def shown(killed: dict[str, Any]) -> dict[str, Any]:
    """What of a kill is the same on every machine."""
    return {name: killed[name] for name in ("mutant", "clause", "blamed", "why")}


@pytest.fixture
def kept() -> Any:
    """The matrix as it is checked in."""
    return json.loads(KEPT.read_text("utf-8"))


def test_every_mutant_has_its_row(kept: Any) -> None:
    """One that was added or renamed is missing in the picture until a selftest was run."""
    named = {(mutant.name, mutant.clause) for mutant in MUTANTS}

    assert {(kill["mutant"], kill["clause"]) for kill in kept["kills"]} == named


def test_every_mutant_is_dead_and_every_variant_alive(kept: Any) -> None:
    """The picture shows a kit that sees and does not raise a false alarm."""
    excused = {mutant.name: {mutant.clause, *mutant.also} for mutant in MUTANTS}

    assert [kill["why"] for kill in kept["kills"] if kill["why"]] == []
    assert all(kill["blamed"].keys() <= excused[kill["mutant"]] for kill in kept["kills"])
    assert kept["mutants"] == kept["killed"] == len(MUTANTS)
    assert kept["variants"] == kept["passed"] == len(VARIANTS)


@pytest.mark.long
def test_the_matrix_is_that_of_a_selftest(kept: Any, played_once: PlayedOnce, rewrites: bool) -> None:
    """A sample of the mutants, hunted again, is blamed on the same clauses at the same schedules."""
    if rewrites:
        found = selftested(played_once, 1).json
        assert {kill["mutant"]: kill["why"] for kill in found["kills"] if kill["why"]} == {}
        KEPT.write_text(written(found), "utf-8")
        return

    found = {one["mutant"]: shown(one) for one in selftested(played_once).json["kills"]}
    stored = {one["mutant"]: one for one in kept["kills"] if one["mutant"] in found}
    assert found == stored, "--rewrite writes the matrix anew"


def written(found: dict[str, Any]) -> str:
    """The file: the numbers, and a line for each mutant."""
    numbers = {name: found[name] for name in ("schema", "mutants", "killed", "variants", "passed")}
    kills = ",\n".join(json.dumps(shown(one)) for one in found["kills"])
    return f'{json.dumps(numbers)[:-1]}, "kills": [\n{kills}\n]}}\n'
