"""`runlock selftest`: the kit shows that it can see, and says so when it cannot."""

from dataclasses import replace

import pytest
from command_line import SAMPLED, run, selftested
from played_once import PlayedOnce

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.cli.commands import selftest as command
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.variants import VARIANTS, Variant
from runlock.conformance.family.family import family_named
from runlock.conformance.selftest.mutation_testing import kill
from runlock.machines.lifecycle.runtime.runtime import Runtime

SCHEDULES_MAX = 1_000
"""Schedules within which a mutant has to be found; most are found in the first ten."""

RIGHT = replace(MUTANTS[0], make=type("Harmless", (Runtime,), {}))
WRONG = next(mutant for mutant in MUTANTS if mutant.name == "AsksOnWhenDone")


@pytest.fixture
def small(monkeypatch):
    """A kit with these mutants and variants, and a small budget."""

    def given(mutants=(), variants=()):
        monkeypatch.setattr(command, "EXAMPLES", 16)
        monkeypatch.setattr("runlock.conformance.families.lifecycle.mutants.MUTANTS", tuple(mutants))
        monkeypatch.setattr("runlock.conformance.families.lifecycle.variants.VARIANTS", tuple(variants))

    return given


@pytest.mark.long
def test_the_kit_sees_mutants_and_makes_their_witnesses_short(played_once: PlayedOnce) -> None:
    """Each sampled mutant dies, each variant passes; of half the witnesses or more the shortest is known.

    The reason says what is wrong, nothing else is blamed, and no witness is shorter than the shortest.
    """
    ran = selftested(played_once)

    assert (ran.code, ran.json["survivors"], ran.json["accused"]) == (0, [], [])
    assert 2 * ran.json["shortest_known"] >= ran.json["killed"] == len(MUTANTS[::SAMPLED])
    assert ran.json["witness_minus_shortest"] <= 1
    assert max(one["schedule"] for one in ran.json["kills"]) <= SCHEDULES_MAX
    assert all(one["witness"] >= (one["shortest"] or one["at_least"]) for one in ran.json["kills"])


@pytest.mark.sampled(1, nightly=2)
@pytest.mark.long
@pytest.mark.parametrize(("family", "share"), [("tool-runner", 1), ("message-loop", 8)])
def test_the_kit_sees_a_sample_of_the_mutants_of_each_other_family(capsys, family: str, share: int) -> None:
    """Each dies for the reason that it states, and no other clause is blamed but those that it excuses."""
    names = [*family_named(family).made.mutants()][::share]
    only = [word for name in names for word in ("--only", name)]
    ran = run(capsys, "selftest", "--family", family, "--shortest", "0", "--json", *only)

    assert {one["mutant"]: one["why"] for one in ran.json["kills"] if one["why"]} == {}
    assert (ran.code, ran.json["killed"]) == (0, len(names))


@pytest.mark.long
def test_a_masked_mutant_dies_with_the_clauses_that_break_first_muted():
    """Schedules end at the first violation: PAIR-1 masks what AnswersBeforeItWasAsked does to PAIR-2."""
    family = family_named("message-loop")
    mutant = family.made.mutants()["AnswersBeforeItWasAsked"]
    plan, seen = Sampled(64), replace(mutant, is_masked=False)

    assert [*kill(family, mutant, plan).blamed] == ["PAIR-2"]
    assert [*kill(family, seen, plan).blamed] == ["PAIR-1"]


@pytest.mark.long
def test_a_kit_that_sees_exits_0(capsys, small):
    """Every mutant dies and every variant passes."""
    small([WRONG], VARIANTS[:1])
    ran = run(capsys, "selftest", "--family", "lifecycle", "--jobs", "1", "--json")

    assert ran.code == ran.json["exit_code"] == 0
    assert (ran.json["killed"], ran.json["passed"]) == (1, 1)
    assert ran.json["kills"][0]["blamed"] == {WRONG.clause: ran.json["kills"][0]["schedule"]}


@pytest.mark.long
def test_a_survivor_is_named(capsys, small):
    """A mutant that no schedule tells from the reference lives, and the exit code says so."""
    small([RIGHT])
    ran = run(capsys, "selftest", "--family", "lifecycle", "--jobs", "1")

    assert ran.code == 1
    assert f"Harmless lives: {RIGHT.clause} was not blamed; nothing was" in ran.out
    assert "broken: 0 of 1 mutants killed" in ran.out


@pytest.mark.long
def test_a_mutant_that_is_blamed_elsewhere_lives(capsys, small):
    """A kit that blames another clause has not understood what is wrong."""
    small([replace(WRONG, clause="DERIVE-1")])
    ran = run(capsys, "selftest", "--family", "lifecycle", "--jobs", "1", "--shortest", "0", "--json")

    assert ran.code == 1
    assert ran.json["survivors"] == [WRONG.name]
    assert ran.json["kills"][0]["why"] == f"DERIVE-1 was not blamed; {WRONG.clause} was"


def test_a_mutant_that_dies_of_another_reason_lives(capsys, small):
    """The clause alone is not enough: the sentence has to say what was done wrong."""
    small([replace(WRONG, says="nobody would say this")])
    ran = run(capsys, "selftest", "--family", "lifecycle", "--jobs", "1", "--json")

    assert ran.code == 1
    assert f"{WRONG.clause} was blamed, but for this:" in ran.json["kills"][0]["why"]


@pytest.mark.long
def test_a_variant_that_is_blamed_is_a_false_alarm(capsys, small):
    """A right runtime that is blamed counts as much as a wrong one that is not."""
    small(variants=[Variant("asking-on", "none", make=WRONG.make)])
    ran = run(capsys, "selftest", "--family", "lifecycle", "--jobs", "1")

    assert ran.code == 1
    assert f"asking-on was blamed on {WRONG.clause}" in ran.out


@pytest.mark.processes
def test_who_shares_the_mutants_changes_nothing(capsys):
    """Two processes give what one gives, but for the seconds."""
    words = (
        "selftest",
        "--family",
        "lifecycle",
        "--only",
        "DECIDE-10",
        "--only",
        "DECIDE-7",
        "--json",
        "--shortest",
        "20",
    )
    alone, shared = (run(capsys, *words, "--jobs", jobs).json for jobs in (1, 2))
    for one in (*alone["kills"], *shared["kills"]):
        del one["seconds"]

    assert alone == shared
