"""The reference under the values that it does not choose: every open policy, in every profile."""

from __future__ import annotations

from typing import Any

import pytest
from played_scripts import reasons, walks_on

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import factory
from runlock.machines.lifecycle.runtime.choices import CHOICES, policies_of
from runlock.spec.model import load_spec

SPEC = load_spec("lifecycle")
LIFECYCLES = [name for name, profile in SPEC.profiles.items() if profile.policies]
WALKS = 40
"""Walks that each table has to pass, in addition to the whole corpus."""


def table(profile: str, turn: int) -> dict[str, Any]:
    """Every policy that the profile leaves open, `turn` values on from the one that the reference chooses."""
    chosen = policies_of(profile, {})
    return {
        key: values[(values.index(chosen[key]) + turn) % len(values)]
        for key, values in open_policies(profile).items()
    }


def open_policies(profile: str) -> dict[str, list[str]]:
    """The policies with one value each that the profile does not settle."""
    settled = SPEC.profile(profile).policies
    return {
        key: list(policy.values)
        for key, policy in SPEC.policies.items()
        if policy.kind == "one of" and key in CHOICES and key not in settled
    }


def turns(profile: str) -> range:
    """As many tables as the policy with the most values has others."""
    return range(1, max(map(len, open_policies(profile).values())))


TABLES = [(profile, turn) for profile in LIFECYCLES for turn in turns(profile)]


@pytest.mark.sampled(1, nightly=8)
@pytest.mark.long
@pytest.mark.parametrize(("profile", "turn"), TABLES)
def test_the_reference_is_right_under_the_values_that_it_does_not_choose(profile, turn):
    """What is left open is free: a runtime that takes the other values breaks nothing."""
    bench, total = Bench(lambda: Hosted(factory(profile, table(profile, turn)))), Tally()
    for script in corpus(FAMILY)[turn % 2 :: 2]:
        if not applicable(FAMILY, script, bench.handshake):
            bench.play_twice(script.scenario, play(script), total)
    walks_on(bench, range(WALKS), 2, total)

    assert reasons(total) == {}
    assert total.troubles == []
    assert total.exercised.total() > 0


@pytest.mark.parametrize("profile", LIFECYCLES)
def test_the_reference_says_a_value_for_every_policy(profile):
    """A policy that is left open is said, so that no clause is undecided for want of a word."""
    said = factory(profile)().handshake.policies
    silent = [policy for key, policy in SPEC.policies.items() if key not in said]

    assert [policy.key for policy in silent if not policy.when] == []
    assert not any(said[key] in values for policy in silent for key, values in policy.when.items())


@pytest.mark.parametrize("profile", LIFECYCLES)
def test_the_tables_have_every_value_of_every_open_policy(profile):
    """No value of an open policy is left untried, one by the reference itself and the rest by the tables."""
    tried = {key: {policies_of(profile, {})[key]} for key in open_policies(profile)}
    for turn in turns(profile):
        for key, value in table(profile, turn).items():
            tried[key].add(value)

    assert tried == {key: set(values) for key, values in open_policies(profile).items()}
