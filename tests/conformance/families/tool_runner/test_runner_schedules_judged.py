"""Right runners pass every script and random walk, and wrong ones are blamed on their clause."""

import pytest
from plain_runner import PlainRunner

from runlock.conformance.driving.bench import Bench, Tally
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.families.tool_runner.family import FAMILY
from runlock.conformance.families.tool_runner.host.hosted import HostedRunner
from runlock.conformance.families.tool_runner.mutants import MUTANTS
from runlock.conformance.families.tool_runner.reference import reference
from runlock.conformance.families.tool_runner.variants import VARIANTS
from runlock.conformance.family.chooser import Seeded

WALKS = 12
OUT_OF_REACH = {"AsksAfterACancel"}
"""Mutants that no script shows."""


def scripted(make, until=""):
    """What the scripts show of a runner; those that name a clause come first, and end once it is broken."""
    bench, tally = Bench(lambda: HostedRunner(make)), Tally()
    for script in sorted(corpus(FAMILY), key=lambda one: until not in one.about):
        if not applicable(FAMILY, script, bench.handshake):
            bench.play(script.scenario, play(script), tally)
        if until in tally.found:
            break
    return bench, tally


def walked(make, seed):
    """What random walks show of a runner."""
    bench, tally = Bench(lambda: HostedRunner(make)), Tally()
    scenarios = list(FAMILY.scenarios(bench.handshake, bench.policies))
    for number in range(WALKS):
        chooser = Seeded(seed, number)
        bench.play(scenarios[number % len(scenarios)], lambda session, by=chooser: walk(session, by), tally)
    return tally


def objections(tally):
    """What was wrong, in words."""
    broken = [f"{clause}: {found.violation.because}" for clause, found in tally.found.items()]
    return [*broken, *(trouble.what for trouble in tally.troubles), *tally.leaks]


@pytest.mark.parametrize("profile", list(FAMILY.spec.profiles))
def test_the_reference_passes_and_exercises_nearly_everything(profile):
    """Of each profile."""
    bench, tally = scripted(reference(profile))
    idle = {one for one, found in bench.standings.items() if found.is_judged and not tally.exercised[one]}

    assert objections(tally) == []
    assert idle <= {"RUNNER-28", "RUNNER-47"}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda one: one.name)
def test_a_variant_passes(variant):
    """Its scripts and its random walks."""
    assert objections(scripted(variant)[1]) == []
    assert objections(walked(variant, 5)) == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_a_mutant_is_blamed_on_its_clause(mutant):
    """Some script shows it."""
    found = scripted(mutant, mutant.clause)[1].found

    if mutant.name in OUT_OF_REACH:
        assert not found
    else:
        assert mutant.clause in found
        assert mutant.says in found[mutant.clause].violation.because


def test_a_plain_runner_is_told_what_it_lacks():
    """It runs unknown tools, knows no limit, and ignores the abort signal."""
    found = scripted(PlainRunner)[1].found

    assert {"RUNNER-34", "STOP-1", "CANCEL-1", "CANCEL-2", "ROUND-3"} <= found.keys()
    assert (
        not {"RUNNER-1", "RUNNER-5", "RUNNER-8", "RUNNER-9", "RUNNER-10", "PAIR-1", "PAIR-4"} & found.keys()
    )
