"""A policy that is not declared may have any one value, the same throughout."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import hidden_policies
import pytest
from played_scripts import scripts_on, walks_on

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk_over
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import ReferenceAdapter
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.family.family import family_named
from runlock.conformance.family.invariant import Invariant, broken
from runlock.conformance.judging.policy_hypotheses import OpenPolicies, Undeclared
from runlock.machines.lifecycle.runtime.runtime import Runtime

PROFILES = ("tirea", "tirea-stream", "awaken-8", "awaken-9", "awaken-concurrent")
WALKS = 40
EVERYTHING = slice(None)
SHARES = 12
"""In the default lane each of the runtimes that declare nothing plays one schedule in SHARES."""

TELLING = (
    "start",
    "model_asks_for_one_kind",
    "decide_with_a_bad_one",
    "tool_ok",
    "permission_allow",
    "approve",
)
"""Classes of action that tell the two executors, and the two ways with a batch, apart."""


def undeclared(
    profile: str, claimed: str, make: Callable[..., Runtime] = Runtime
) -> Callable[[], ReferenceAdapter]:
    """The reference under a profile, of which it declares no policy."""
    return lambda: ReferenceAdapter(profile, {}, make, {"profile": claimed, "policies": {}})


def played(adapter: Callable[[], Any], part: slice = EVERYTHING) -> tuple[Bench, Tally]:
    """What a part of the corpus and of some random walks shows of a runtime."""
    bench = Bench(lambda: Hosted(adapter))
    tally = walks_on(bench, range(WALKS)[part], 3, scripts_on(bench, corpus(FAMILY)[part]))
    for index in range(WALKS)[part]:
        bench.play(
            bench.scenarios[0],
            lambda session, index=index: walk_over(session, Seeded(4, index), TELLING),
            tally,
        )
    tally.settle(bench.undeclared)
    return bench, tally


@pytest.mark.sampled(7, nightly=6)
@pytest.mark.parametrize(
    "part", [None, pytest.param(EVERYTHING, marks=pytest.mark.long)], ids=["a share", "everything"]
)
@pytest.mark.parametrize("claimed", ["core", "its own"])
@pytest.mark.parametrize("profile", PROFILES)
def test_what_a_runtime_does_not_declare_is_no_fault(profile: str, claimed: str, part: slice | None) -> None:
    """A right runtime that declares nothing breaks nothing, and keeps the values that it has."""
    share = slice((PROFILES.index(profile) + len(claimed)) % SHARES, None, SHARES)
    said = profile if claimed == "its own" else claimed
    bench, tally = played(undeclared(profile, said), part or share)
    has = ReferenceAdapter(profile, {}).policies

    assert {clause: found.violation.reason for clause, found in tally.found.items()} == {}
    assert [key for key in bench.undeclared.policies if (key, has.get(key)) in tally.excluded] == []


@pytest.mark.long
def test_values_that_were_not_seen_are_ruled_out() -> None:
    """What a runtime was seen to do rules out what it would have done otherwise."""
    _, tally = played(undeclared("tirea", "core"))
    ruled_out = {one for one, _ in tally.excluded.items()}

    assert ("round.mixed", "wait") in ruled_out
    assert ("decision.batch", "atomic") in ruled_out
    assert ("round.block", "end_run") in ruled_out


def scripted(bench: Bench, names: set[str]) -> Tally:
    """What these scripts show of a runtime."""
    return scripts_on(bench, (script for script in corpus(bench.family) if script.name in names))


@pytest.mark.parametrize(
    ("make", "policy", "scripts"),
    [
        (hidden_policies.mixing_executors, "round.executor", {"respond", "two-calls-one-fails"}),
        (hidden_policies.mixing_late_answers, "late.answer", {"cancel-of-a-tool", "first-of-two-answers"}),
    ],
    ids=["tool-runner", "message-loop"],
)
def test_values_that_several_schedules_refute_are_mixed_too(
    make: Callable[[], Any], policy: str, scripts: set[str]
) -> None:
    """No schedule alone refutes every value, and the clause of the family is broken all the same."""
    family = family_named(make().handshake.family)
    bench = Bench(lambda: family.host(make))
    tally = scripted(bench, scripts)
    alone = dict(tally.found)
    tally.settle(bench.undeclared)
    found = tally.found[family.judging.mixing]
    witness = bench.witness(found)
    bench.close()

    assert family.judging.mixing not in alone
    assert f"no value of the policy {policy} explains" in witness.reason
    assert 0 < witness.steps <= len(found.moves)


def test_a_runtime_without_a_profile_is_judged_by_what_it_declares() -> None:
    """A declared policy binds by its clauses; a false `decision.window=immediate` explains nothing."""
    said = {"profile": "core", "policies": {"decision.window": "immediate"}}
    bench = Bench(lambda: Hosted(lambda: ReferenceAdapter("awaken-8", {}, declare=said)))
    tally = scripted(bench, {"stop-after-the-barrier"})
    bench.close()

    assert bench.standings["DECIDE-16"].is_judged
    assert "decision.window=immediate as declared" in tally.found[FAMILY.judging.mixing].violation.reason


def test_a_check_that_objects_under_every_value_blames_its_own_clause() -> None:
    """An open policy that a check has read does not change what the check is about."""

    def objects(state: Any) -> Any:
        yield broken(f"it is {state.policies.get('waiting')}")

    policies = OpenPolicies(Undeclared({"waiting": ("parked", "reentered")}, {}, "RUN-34"))
    state = SimpleNamespace(policies={}, under=lambda view: SimpleNamespace(policies=view))
    (result,) = policies.judge(Invariant("ONCE-1", objects), {"waiting"}, state)  # type: ignore[arg-type]

    assert (result.clause, result.reason) == ("ONCE-1", "it is parked")
    assert policies.excluded == {}
