"""`runlock infer`: what a runtime does about each policy, found out from what it shows alone."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import policy_fakes
import pytest
from command_line import run
from places import DOUBLES
from played_scripts import played_on
from policy_fakes import BELIED, TOGETHER_WITH

from runlock.conformance.campaign.inference.bench import LearningBench
from runlock.conformance.campaign.inference.result import NOT_SEEN, Against, Inferred, Value, to_find_out
from runlock.conformance.campaign.inference.search import infer
from runlock.conformance.campaign.order import ALONE, Inferring, Means, Order
from runlock.conformance.cli.commands.infer import EXAMPLES
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.inference.known import ALIKE, ENDS, IDLE, hidden
from runlock.conformance.families.lifecycle.inference.questions import TELLING, signs
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.messages import DecisionSupport, Handshake, Scenario
from runlock.conformance.families.lifecycle.variants import VARIANTS
from runlock.conformance.protocol import Control, Party
from runlock.conformance.report import inference as report
from runlock.conformance.report.console import Page
from runlock.conformance.trace.moves import moves_of
from runlock.conformance.trace.trace import Trace
from runlock.machines.lifecycle.runtime.choices import policies_of
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.spec.model import load_spec

PLAIN = f"cmd:{sys.executable} {DOUBLES / 'plain_runtime.py'}"


def found_out(target: str, examples: int = 0, jobs: int = 1) -> Inferred:
    """What the scripted scenarios, and some walks, tell of a runtime."""
    return infer(Order(target, Inferring(examples)), Means(jobs))


IN_A_PARALLEL_ROUND = "it makes no difference where round.executor is parallel"
IN_A_PARKED_RUN = "it makes no difference where waiting is parked"
UNTOLD = {
    "tirea": {"decision.window": ALIKE["decision.window"][1]},
    "tirea-stream": {},
    "awaken-8": {
        "decision.window": ALIKE["decision.window"][1],
        "replay.start": IN_A_PARKED_RUN,
    },
    "awaken-9": {
        "decision.window": ALIKE["decision.window"][1],
        "replay.start": IN_A_PARKED_RUN,
    },
    "awaken-concurrent": {"replay.start": IN_A_PARKED_RUN},
}
"""What the reference does not tell under each profile, and why, in addition to what no profile tells."""

SHOWN_BY_ANY = {
    **{key: ALIKE[key][1] for key in ("durability", "decision.kept", "input.fate", "state")},
    **{key: hidden(key, {}) for key in ENDS},
    **dict.fromkeys(("round.rest", "round.failure", "input.round"), IN_A_PARALLEL_ROUND),
}


@pytest.mark.long
@pytest.mark.sampled(1, nightly=5)
@pytest.mark.parametrize(
    "profile",
    [
        "awaken-8",
        *(pytest.param(one, marks=pytest.mark.long) for one in UNTOLD if one != "awaken-8"),
    ],
)
def test_a_runtime_that_hides_its_policies_is_found_out(profile: str) -> None:
    """Every policy that makes a difference has its true value, and the profile is the nearest one."""
    found, does = found_out(f"py:policy_fakes:{profile.replace('-', '_')}"), policies_of(profile, {})

    assert {key: value for key, value in found.settled.items() if does[key] != value} == {}
    assert [key for key in found.untold if key in does and does[key] not in found.left(key)] == []
    assert found.untold == {**UNTOLD[profile], **SHOWN_BY_ANY}
    assert (found.nearest.name, found.mixed, found.aside, found.troubles) == (profile, [], (), [])
    assert found.pasteable["profile"] == profile
    assert {key: does[key] for key in found.pasteable["policies"]} == found.pasteable["policies"]
    assert dict(ruled_out_again(found)) == dict.fromkeys(found.against, True)


def ruled_out_again(found: Inferred) -> Iterator[tuple[Value, bool]]:
    """Whether each witness rules its value out when it is played once more."""
    bench = LearningBench(
        Order(found.target, Inferring(0, settled=tuple(found.settled.items()))), lambda _: True
    )
    for value, against in found.against.items():
        session = bench.session(Scenario.model_validate(next(against.trace.of("scenario"))))
        session.play(moves_of(against.trace, FAMILY.line_formats.gate_name))
        session.close()
        yield value, value in session.judge.open.excluded
    bench.close()


@pytest.mark.sampled(1, nightly=3)
@pytest.mark.long
@pytest.mark.parametrize(
    ("toy", "policy", "examples"),
    [
        ("mixing_batches", "decision.batch", 40),
        ("mixing_fates", "input.fate", 40),
        pytest.param("mixing_executors", "round.executor", EXAMPLES, marks=pytest.mark.long),
    ],
)
def test_who_mixes_two_values_is_told_so_with_both_witnesses(toy: str, policy: str, examples: int) -> None:
    """Of a policy with two values each is ruled out, by a schedule of its own."""
    found = found_out(f"py:policy_fakes:{toy}", examples)

    assert (found.mixed, found.exit_code) == ([policy], 1)
    assert {value for key, value in found.against if key == policy} == set(
        load_spec("lifecycle").policy(policy).values
    )
    assert policy not in found.pasteable["policies"]


@pytest.mark.long
def test_what_a_runtime_says_of_itself_is_not_believed_and_contradicted() -> None:
    """A declaration changes nothing of what is found out, and a wrong one is reported with what shows it."""
    found = found_out("py:policy_fakes:belying")

    assert found.contradicted == BELIED
    assert BELIED.items() <= dict(found.against).keys()
    assert (found.settled["round.executor"], found.settled["tool.raises"]) == ("parallel", "failed_call")
    assert found.exit_code == 1


@pytest.mark.long
def test_what_a_runtime_does_not_show_is_not_told_and_why() -> None:
    """Over a pipe, of a runtime that shows no phase and no checkpoint, what is left is reported."""
    found = found_out(PLAIN)

    assert found.untold["phases"] == "the runtime does not show phase"
    assert found.untold["checkpoint.at"] == "the runtime does not show checkpoint"
    assert found.untold["durability"] == "it cannot be crashed"
    assert found.untold["stop.threshold"] == "the runtime declares no stop.conditions"
    assert found.untold["waiting"].startswith(NOT_SEEN)
    assert found.settled["round.rest"] == "deferred"
    assert (found.mixed, found.contradicted, found.troubles) == ([], {}, [])


@pytest.mark.nightly
@pytest.mark.long
def test_after_a_breach_only_what_nothing_speaks_against_is_believed() -> None:
    """A runtime that breaks a clause of the core is found out all the same, and what broke is named."""
    found = found_out("mutant:WorksUnseen")

    assert found.aside
    assert (found.mixed, found.contradicted) == ([], {})
    assert len(found.settled) > len(found.policies) // 2


# --- values -----------------------------------------------------------------------------------

PROFILES = {"replay.start": "tirea", "decision.window": "tirea-stream", "replay.commit": "tirea"}
"""The profile under which a policy makes a difference; else it is awaken-8."""


TAKEN = [policies_of(profile, {}) for profile in UNTOLD]
"""What the references of the profiles do, which are found out as a whole."""


def is_one_of_the_values(variant: Any) -> bool:
    """Whether a variant is the reference with one value of a policy, as in the test of values."""
    made = (variant.make, variant.declare, variant.profile) == (Runtime, {}, "awaken-8")
    return made and len(variant.policies) == 1 and not variant.policies.keys() & PROFILES.keys()


VALUES = [
    (policy.key, value)
    for policy in to_find_out(FAMILY)
    for value in policy.values
    if all(does.get(policy.key) != value for does in TAKEN)
][::2]
"""Every other value that no profile has."""

FREE = [one for one in VARIANTS if not is_one_of_the_values(one)]
"""The variants that no single value makes."""

SHARES = 6
"""A variant plays one script in SHARES, the next variant from the next script on."""


@pytest.mark.sampled(1, nightly=6)
@pytest.mark.long
@pytest.mark.parametrize(("policy", "value"), VALUES, ids=["=".join(one) for one in VALUES])
@pytest.mark.usefixtures("unshrunk")
def test_a_value_is_found_out_or_left_open(policy: str, value: str) -> None:
    """The value that a runtime has is reported, or left open with those that show the same."""
    profile = PROFILES.get(policy, "awaken-8")
    settings = {**TOGETHER_WITH.get(policy, {}), policy: value}
    target = ",".join([f"reference:{profile}", *(f"{key}={one}" for key, one in settings.items())])
    found = found_out(target)

    assert value in found.left(policy)
    assert policy in found.settled or found.untold[policy] != NOT_SEEN
    assert found.mixed == []
    assert found.contradicted == {}


@pytest.mark.sampled(1, nightly=6)
@pytest.mark.long
@pytest.mark.parametrize(
    ("variant", "at"), [(one, at) for at, one in enumerate(FREE)], ids=[one.name for one in FREE]
)
def test_what_a_legal_variant_declares_is_not_contradicted(variant: Any, at: int) -> None:
    """Nothing that it shows speaks against what it declares."""
    bench = LearningBench(Order(f"variant:lifecycle/{variant.name}", Inferring(0)), lambda _: True)
    said = Inferred(variant.name, bench.handshake).declared
    tally = played_on(bench, corpus(FAMILY)[at % SHARES :: SHARES])

    against = {key: (value, why.reason) for (key, value), (why, _) in tally.excluded.items()}
    assert len(against) > 3
    assert {key: why for key, why in against.items() if (key, said.get(key)) in tally.excluded} == {}


WEAK: dict[str, dict[str, Any]] = {
    "settles as observed": {"control": Control(settle="observed", crash=["soft"], store="kit")},
    "shows nothing but gates": {"observes": []},
    "shows no statuses": {"observes": ["phase", "message", "checkpoint", "decision", "run.finished"]},
    "takes nothing while it works": {"decisions": DecisionSupport(live=False, ids=False, payload=False)},
}


@pytest.mark.sampled(1, nightly=2)
@pytest.mark.long
@pytest.mark.usefixtures("unshrunk")
@pytest.mark.parametrize(("weakness", "profile"), [*zip(WEAK, ["tirea", "awaken-8"] * 2, strict=True)])
def test_a_weak_adapter_leads_to_no_wrong_value(weakness: str, profile: str, monkeypatch: Any) -> None:
    """What is not shown, or cannot be driven, leaves more open, and never tells what is not so."""
    monkeypatch.setattr(policy_fakes, "weak", policy_fakes.hiding(profile, **WEAK[weakness]), raising=False)
    found = infer(Order("py:policy_fakes:weak", Inferring(0)), ALONE)  # this process has the fake
    does = policies_of(profile, {})

    assert {one: why.reason for one, why in found.against.items() if does[one[0]] == one[1]} == {}
    assert len(found.untold) > len(UNTOLD[profile])


def test_each_policy_can_be_told_or_says_why_not() -> None:
    """There is a sign for every policy but who holds a suspended run, and what must be declared."""
    unsigned = {policy.key for policy in to_find_out(FAMILY)} - {sign.policy for sign in signs()}

    assert unsigned == {"state", *ENDS}


def test_every_clause_that_tells_is_checked() -> None:
    """A clause from which a policy is read has a check, and names that policy itself."""
    checked = {check.clause for check in INVARIANTS}
    for policy, clauses in TELLING.items():
        assert set(clauses) <= checked
        assert all(policy in load_spec("lifecycle").clause(clause).applies for clause in clauses)


def test_the_reasons_speak_of_what_there_is() -> None:
    """What shows the same, or makes no difference, are policies and values of the spec."""
    spec = load_spec("lifecycle")
    for key, (values, _) in ALIKE.items():
        assert values <= set(spec.policy(key).values)
    for key, others in IDLE.items():
        assert spec.policy(key)
        assert all(value in spec.policy(other).values for other, value in others)


# --- the command --------------------------------------------------------------------------------

SEEN = Against("call c1 is executing, yet call c2 runs concurrently with it", "ROUND-4", 2, Trace())
SERIAL = Against("call c1 is executing, yet call c2 has not begun", "ROUND-5", 1, Trace())
MADE = Inferred(
    "cmd:./acme --flag",
    Handshake(
        implementation=Party(name="acme-runtime", version="2.4.1"),
        profile="awaken-8",
        policies={"tool.raises": "end_run", "decision.modes": ["replay"]},
        observes=["call.status"],
    ),
    {
        ("round.executor", "sequential"): SEEN,
        ("round.executor", "parallel"): SERIAL,
        ("round.block", "end_run"): replace(SEEN, reason="call c1 was blocked, yet a model gate opened"),
        ("tool.raises", "end_run"): replace(SEEN, reason="a tool threw, yet the model is asked", clause=""),
    },
    schedules=91,
    aside=("RUN-9",),
)


@pytest.mark.parametrize("width", [80, 120])
def test_the_page_is_as_it_was(width: int, equals_golden: Any) -> None:
    """What a person reads of a runtime that mixes, belies and hides is pinned."""
    stream = io.StringIO()
    files = {one: Path("found") / f"{one[0]}-not-{one[1]}.jsonl" for one in MADE.against}
    report.write(MADE, files, Page(stream, width))

    equals_golden(f"infer-{width}.txt", stream.getvalue())


def test_a_runtime_of_which_nothing_shows_is_undecided() -> None:
    """A command that found no value could not decide."""
    assert replace(MADE, against={}).exit_code == 3


@pytest.mark.long
def test_the_command_tells_a_machine_and_writes_its_witnesses(capsys: Any, tmp_path: Path) -> None:
    """With --json there is one object, whose witnesses can be replayed; jobs change nothing."""
    told = run(capsys, "infer", "py:cli_fakes:Tiny", "--examples", 10, "--jobs", 1, "--json", "-o", tmp_path)
    executor = next(one for one in told.json["policies"] if one["key"] == "round.executor")
    witness = Path(executor["against"][0]["trace"])
    again = run(capsys, "replay", witness, "py:cli_fakes:Tiny", "--json")

    assert told.code == 0
    assert (executor["state"], executor["values"]) == ("found out", ["sequential"])
    assert witness.parent == tmp_path
    assert again.code == 0
    assert told.json["handshake"]["policies"]["round.executor"] == "sequential"
    assert json.loads(witness.read_text("utf-8").splitlines()[0]).keys() == {"handshake"}


@pytest.mark.nightly
@pytest.mark.long
def test_how_many_processes_share_the_work_changes_nothing() -> None:
    """One process and two find out the same, by the same schedules."""
    one = found_out("reference:awaken-8,round.executor=sequential", examples=20)
    two = found_out("reference:awaken-8,round.executor=sequential", examples=20, jobs=2)

    assert one.against == two.against
    assert (one.schedules, one.untold) == (two.schedules, two.untold)


def test_a_profile_is_claimed_only_where_it_shows() -> None:
    """A runtime that shows little of the nearest profile is advised to claim the core, and what was found."""
    assert MADE.pasteable == {
        "profile": "core",
        "policies": {"round.block": "fail_call", "tool.raises": "failed_call", **MADE.sets},
    }
