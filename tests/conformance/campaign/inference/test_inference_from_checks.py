"""Inference from the checks of a family: tool runners and message loops that hide their policies."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hidden_policies
import pytest
from hidden_policies import OF_PROFILES, does, hiding
from played_scripts import played_on, reasons

from runlock.conformance.campaign.inference import search
from runlock.conformance.campaign.inference.bench import LearningBench
from runlock.conformance.campaign.inference.result import Inferred, to_find_out
from runlock.conformance.campaign.inference.search import infer
from runlock.conformance.campaign.order import Inferring, Order
from runlock.conformance.campaign.worker import as_found
from runlock.conformance.campaign.workforce import Workforce
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.strategies.random_walk import run_shard
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.family.family import Family, family_named

SCRIPTS = tomllib.loads(Path(__file__).with_name("telling_scripts.toml").read_text("utf-8"))
FAMILIES = [family_named(name) for name in SCRIPTS]
TOGETHER_WITH = {"runner.answered": {"runner.inspects": "received"}}
"""The values of other policies without which a policy has no observable effect."""


def found_out(factory: str) -> Inferred:
    """What the scripted scenarios tell of a runtime."""
    return infer(Order(f"py:hidden_policies:{factory}", Inferring(0)))


def known_reasons(family: Family) -> set[str]:
    """The reasons in the notes of a family for which values are left open."""
    alike = {why for _, why in family.inference.alike.values()}
    idle = {pair for pairs in family.inference.idle.values() for pair in pairs}
    ruled_out = {
        (key, value)
        for policy in family.spec.policies.values()
        for key, values in policy.when.items()
        for value in family.spec.policy(key).values
        if value not in values
    }
    return alike | {f"it makes no difference where {key} is {value}" for key, value in idle | ruled_out}


@pytest.mark.long
@pytest.mark.sampled(1, nightly=2)
@pytest.mark.parametrize(
    "factory",
    [one if one == "python" else pytest.param(one, marks=pytest.mark.long) for one in OF_PROFILES],
)
@pytest.mark.usefixtures("unshrunk")
def test_a_runtime_that_hides_its_policies_is_found_out(factory: str) -> None:
    """No true value is ruled out, and every other one is, or there is a reason in the notes."""
    found = found_out(factory)
    has = does(found.family, OF_PROFILES[factory])

    assert [key for key in found.policies if has[key.key] not in found.left(key.key)] == []
    assert {key: why for key, why in found.untold.items() if why not in known_reasons(found.family)} == {}
    assert (found.mixed, found.aside, found.troubles) == ([], (), [])
    assert found.nearest.name == OF_PROFILES[factory]
    assert len(found.settled) > len(found.policies) * 3 // 4


@pytest.mark.long
@pytest.mark.parametrize(("factory", "calls"), [("documented", 1), ("documented_in_real_time", 0)])
def test_evidence_is_shrunk_unless_a_schedule_takes_real_time(
    factory: str, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it is the schedule that was played, which ends with what rules a value out."""
    asked: list[int] = []

    def made_short(workforce: Workforce, found: list[Found]) -> list[Witness]:
        asked.append(len(found))
        return [as_found(one) for one in found]

    monkeypatch.setattr(search, "made_short", made_short)

    assert all(one.trace.records for one in found_out(factory).against.values())
    assert len(asked) == calls


@pytest.mark.long
def test_a_runner_that_mixes_two_values_is_reported_with_both_witnesses() -> None:
    """Each value of the policy is ruled out by a schedule of its own."""
    found = found_out("mixing_executors")
    witnesses = {value: against for (key, value), against in found.against.items() if key == "round.executor"}

    assert (found.mixed, found.exit_code) == (["round.executor"], 1)
    assert set(witnesses) == {"sequential", "parallel"}
    assert all(one.clause and one.steps and one.trace.records for one in witnesses.values())


def test_a_loop_that_mixes_two_values_leaves_none() -> None:
    """Two scripts rule out both values, each for its own reason."""
    order = Order("py:hidden_policies:mixing_late_answers", Inferring(0))
    tally = played(LearningBench(order, lambda _: True), ["first-of-two-answers", "cancel-of-a-tool"])
    reasons = {value: why.reason for (key, value), (why, _) in tally.excluded.items() if key == "late.answer"}

    assert set(reasons) == {"refused", "ignored"}
    assert reasons["refused"] != reasons["ignored"]


# --- every value --------------------------------------------------------------------------------


def every_value() -> Iterator[Any]:
    """Each value of each policy; a share of them is in the default lane."""
    for family in FAMILIES:
        for policy in to_find_out(family):
            for value in policy.values:
                marks = () if policy.key.startswith(("runner.", "grant.")) else pytest.mark.long
                yield pytest.param(family, policy.key, value, id=f"{policy.key}={value}", marks=marks)


@pytest.mark.parametrize(("family", "policy", "value"), list(every_value()))
def test_every_value_is_told_or_listed_as_alike(family: Family, policy: str, value: str) -> None:
    """The scripts of a policy leave its true value alone, or those that the notes call alike."""
    settings = {**TOGETHER_WITH.get(policy, {}), policy: value}
    others = does(family, family.default_profile, settings)
    known = tuple((key, one) for key, one in others.items() if key != policy and isinstance(one, str))
    words = ",".join(f"{key}={one}" for key, one in settings.items())
    bench = LearningBench(
        Order(f"reference:{family.default_profile},{words}", Inferring(0, settled=known)), lambda _: True
    )
    tally = played(bench, SCRIPTS[family.name][policy])
    left = {one for one in family.spec.policy(policy).values if (policy, one) not in tally.excluded}
    alike = family.inference.alike.get(policy, (frozenset(), ""))[0]

    assert reasons(tally) == {}
    assert value in left
    assert left == {value} or left <= alike


def played(bench: Bench, names: list[str]) -> Tally:
    """The tally of some scripts."""
    tally = played_on(bench, (script for script in corpus(bench.family) if script.name in names))
    assert tally.schedules >= len(names)
    return tally


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_notes_speak_of_what_there_is(family: Family) -> None:
    """Every policy has scripts, and the notes name policies and values of the spec."""
    spec = family.spec
    assert set(SCRIPTS[family.name]) == {policy.key for policy in to_find_out(family)}
    for key, (values, _) in family.inference.alike.items():
        assert values <= set(spec.policy(key).values)
    for key, others in family.inference.idle.items():
        assert spec.policy(key)
        assert all(value in spec.policy(other).values for other, value in others)


# --- nothing declared ---------------------------------------------------------------------------

RUNTIMES = {
    **{factory: getattr(hidden_policies, factory) for factory in OF_PROFILES},
    **{
        f"{family.name} with the last values": hiding(
            family.name, family.default_profile, {one.key: one.values[-1] for one in to_find_out(family)}
        )
        for family in FAMILIES
    },
}


@pytest.mark.sampled(1, nightly=3)
@pytest.mark.parametrize("schedules", [30, pytest.param(120, marks=pytest.mark.long)])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_what_a_runtime_does_not_declare_is_no_fault(runtime: str, schedules: int) -> None:
    """A right runtime that declares nothing breaks nothing, and keeps the values that it has."""
    make = RUNTIMES[runtime]
    adapter = make()
    bench = Bench(lambda: family_named(adapter.handshake.family).host(make))
    tally = run_shard(bench, 1, schedules, seed=7)
    bench.close()

    assert reasons(tally) == {}
    assert [one for one in tally.excluded if adapter.policies[one[0]] == one[1]] == []
    assert len({key for key, _ in tally.excluded}) > 2
    assert (tally.schedules, tally.troubles) == (schedules, [])
