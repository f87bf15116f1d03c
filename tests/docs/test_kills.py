"""The kill matrix of the site is that of the kit: `docs/kills.json` is what a selftest finds.

`pytest -m long tests/docs/test_kills.py --rewrite` plays all of it and writes the file anew.
"""

import json
from dataclasses import asdict

import pytest
from places import ROOT

from runlock.conformance.campaign.stages import Order
from runlock.conformance.cli.commands.check import EXAMPLES
from runlock.conformance.cli.main import main
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.variants import VARIANTS
from runlock.conformance.selftest.mutation_testing import kill

KEPT = ROOT / "docs" / "kills.json"

EVERY = 25
"""One mutant of so many is hunted again: what moves the schedule of one moves that of most."""


def shown(killed):
    """What of a kill is the same on every machine."""
    return {name: killed[name] for name in ("mutant", "clause", "blamed", "why")}


@pytest.fixture
def kept():
    """The matrix as it is checked in."""
    return json.loads(KEPT.read_text("utf-8"))


def test_every_mutant_has_its_row(kept):
    """One that was added or renamed is missing in the picture until a selftest was run."""
    named = {(mutant.name, mutant.clause) for mutant in MUTANTS}

    assert {(kill["mutant"], kill["clause"]) for kill in kept["kills"]} == named


def test_every_mutant_is_dead_and_every_variant_alive(kept):
    """The picture shows a kit that sees and does not cry wolf."""
    excused = {mutant.name: {mutant.clause, *mutant.also} for mutant in MUTANTS}

    assert [kill["why"] for kill in kept["kills"] if kill["why"]] == []
    assert all(kill["blamed"].keys() <= excused[kill["mutant"]] for kill in kept["kills"])
    assert kept["mutants"] == kept["killed"] == len(MUTANTS)
    assert kept["variants"] == kept["passed"] == len(VARIANTS)


@pytest.mark.long
def test_a_mutant_is_blamed_where_the_matrix_says(kept, capsys, rewrites):
    """Hunted again, a mutant is blamed on the same clauses at the same schedules."""
    if rewrites:
        code = main(["selftest", "--family", "lifecycle", "--shortest", "0", "--json"])
        found = json.loads(capsys.readouterr().out)
        assert {kill["mutant"]: kill["why"] for kill in found["kills"] if kill["why"]} == {}
        assert code == 0
        KEPT.write_text(written(found), "utf-8")
        return
    hunted = [kill(FAMILY, mutant, Order("the mutants", EXAMPLES)) for mutant in MUTANTS[::EVERY]]
    again = [shown({**asdict(one), "why": one.why}) for one in hunted]

    assert again == kept["kills"][::EVERY], "`pytest -m long --rewrite` of this file plays all of it again"


def written(found):
    """The file: the numbers, and a line for each mutant."""
    numbers = {name: found[name] for name in ("schema", "mutants", "killed", "variants", "passed")}
    kills = ",\n".join(json.dumps(shown(one)) for one in found["kills"])
    return f'{json.dumps(numbers)[:-1]}, "kills": [\n{kills}\n]}}\n'
