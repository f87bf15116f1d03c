"""The scripts of the tool runner: they pass on every reference, and find the faults of a minimal runner."""

from functools import cache

import pytest
from plain_runner import PlainRunner
from played_scripts import reasons, scripts_on

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.tool_runner.family import FAMILY
from runlock.conformance.families.tool_runner.host.hosted import HostedRunner
from runlock.conformance.families.tool_runner.reference import reference

PROFILES = tuple(FAMILY.spec.profiles)
SCRIPTS = {script.name: script for script in corpus(FAMILY)}


@cache
def bench(profile):
    """The reference of a profile."""
    return Bench(lambda: HostedRunner(reference(profile)))


def objections(tally):
    """The reasons of the violations."""
    return [*reasons(tally).items(), *(trouble.what for trouble in tally.troubles)]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_right_on_every_reference(name):
    """Each move can be performed on some; the clauses in its comment are judged in it, or nowhere."""
    tallies = [scripts_on(bench(profile), [SCRIPTS[name]]) for profile in PROFILES]
    named = {one.strip() for one in SCRIPTS[name].about.splitlines()[-1].split(",")}
    exercised = {one for tally in tallies for one in +tally.exercised}

    assert [one for tally in tallies for one in objections(tally)] == []
    assert max(tally.stimuli for tally in tallies) > 1
    assert named <= FAMILY.spec.clauses.keys()
    assert len((named & judged_somewhere()) - exercised) <= 1


@cache
def judged_somewhere():
    """The clauses that are judged on at least one reference."""
    return {one for profile in PROFILES for one, found in bench(profile).standings.items() if found.is_judged}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_scripts_exercise_every_clause_that_is_judged(profile):
    """RUNNER-28 and RUNNER-47 need policy values that not every profile has."""
    tally = scripts_on(bench(profile), SCRIPTS.values())
    judged = {one for one, found in bench(profile).standings.items() if found.is_judged}

    assert {one for one in judged if not tally.exercised[one]} <= {"RUNNER-28", "RUNNER-47"}


@pytest.mark.long
def test_a_plain_runner_is_told_what_it_lacks():
    """It runs unknown tools, has no limit and ignores the abort signal; other clauses pass."""
    found = scripts_on(Bench(lambda: HostedRunner(PlainRunner)), SCRIPTS.values()).found

    assert {"RUNNER-34", "STOP-1", "CANCEL-1", "CANCEL-2", "ROUND-3"} <= found.keys()
    assert (
        not {"RUNNER-1", "RUNNER-5", "RUNNER-8", "RUNNER-9", "RUNNER-10", "PAIR-1", "PAIR-4"} & found.keys()
    )
