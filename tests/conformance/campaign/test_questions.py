"""What a runtime shows, and no declared policy allows or forbids, is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from command_line import run

from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.questions import evidence
from runlock.conformance.campaign.result import ClauseVerdict, Result, Unanswered
from runlock.conformance.campaign.supervisor import campaign
from runlock.conformance.campaign.units import Facts
from runlock.conformance.campaign.worker import as_found, bench_of
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.family.family import families, family_named
from runlock.conformance.judging.judge import Violation
from runlock.conformance.judging.policy_hypotheses import Exclusion
from runlock.conformance.judging.selection import Selection
from runlock.conformance.trace.trace import Trace
from runlock.machines.lifecycle.runtime.choices import policies_of

LIFECYCLE = family_named("lifecycle")


def played(target: str, *names: str) -> tuple[Facts, Tally]:
    """What a runtime that plays these scripts says of itself, and what was found."""
    tally = Tally()
    with closing(bench_of(Order(target, Sampled(0)), lambda _: True)) as bench:
        for script in (one for one in corpus(bench.family) if one.name in names):
            assert applicable(bench.family, script, bench.handshake) == ""
            scenario = bench.family.fitting.fitted(script.scenario, bench.handshake)
            bench.play_twice(scenario, play(script), tally)
        return bench.facts, tally


def asked(target: str, *names: str) -> dict[str, Unanswered]:
    """What is asked of a runtime that plays these scripts and breaks nothing, by policy."""
    facts, tally = played(target, *names)
    assert (tally.found, tally.troubles) == ({}, [])
    found = evidence(facts, tally)
    return {one.policy: Unanswered(one, values, as_found(how)) for one, values, how in found}


# --- one script shows each harm -----------------------------------------------------------------

AGENTS, STEERED, REFERENCES, OTHERS = (
    "py:forgetful_agents:", "py:steered_loop:", "py:policy_fakes:", "py:hidden_policies:"
)  # fmt: skip
SHOWN = {
    (f"{AGENTS}StoresNoDecision", f"{AGENTS}Agent", "crash-after-an-approval"): (
        "decision.kept", "acceptance",
    ),
    (f"{AGENTS}StoresTooEarly", f"{AGENTS}Agent", "crash-in-a-round"): ("durability", "call"),
    (f"{AGENTS}StoresTooEarly", f"{AGENTS}Agent", "crash-after-a-step"): ("durability", "step"),
    (f"{STEERED}ForgetsAtAStop", f"{STEERED}Steered", "input-then-cancel"): ("input.fate", "next_run"),
    (f"{STEERED}SkipsWhatIsLeft", f"{STEERED}Steered", "input-during-a-round"): ("input.round", "goes_on"),
    (f"{STEERED}DropsResultsAtAStop", f"{STEERED}Steered", "again-after-a-stop-in-a-round"): (
        "cancel.results", "kept",
    ),
    (f"{REFERENCES}leaving_the_rest_out", f"{REFERENCES}awaken_8", "one-fails-in-each-of-two-rounds"): (
        "round.failure", "isolated",
    ),
    (f"{OTHERS}runner_in_order_of_finish", f"{OTHERS}documented", "respond-in-reverse"): (
        "results.order", "call",
    ),
    (f"{OTHERS}loop_in_order_of_finish", f"{OTHERS}loop", "chat-turn"): ("results.order", "call"),
    (f"{OTHERS}loop_that_drops_results", f"{OTHERS}loop", "cancel-of-a-tool"): ("cancel.results", "kept"),
}  # fmt: skip
"""A runtime that does harm, one that does not, and a script; the policy, and the value that is ruled out."""


@pytest.mark.parametrize(("runtimes", "expected"), SHOWN.items())
def test_a_script_shows_each_harm(runtimes: tuple[str, str, str], expected: tuple[str, str]) -> None:
    """The question is about the promise that was not kept, and the answers are the values that are left."""
    harmful, harmless, script = runtimes
    found, none = asked(harmful, script), asked(harmless, script)

    question = found[expected[0]]
    assert (question.question.without, none) == (expected[1], {})
    assert expected[1] not in question.values
    assert question.sentence.startswith(
        f"{question.question.harm}: declare `{expected[0]}: {question.values[0]}`"
    )
    assert question.witness.reason


def test_each_policy_that_is_asked_about_is_shown_by_a_script() -> None:
    """Of each family, and whatever was asked for."""
    policies = {one.policy for family in families() for one in family.spec.questions}

    assert policies == {policy for policy, _ in SHOWN.values()}


# --- which question, and in which order ----------------------------------------------------------


def facts_of(**policies: str) -> Facts:
    """The facts of a lifecycle runtime that declares these policies."""
    said = {key.replace("__", "."): value for key, value in policies.items()}
    handshake = LIFECYCLE.vocabulary.handshake.model_validate(HANDSHAKE | {"policies": said})
    return Facts(handshake, said)


HANDSHAKE = {
    "protocol": 1,
    "implementation": {"name": "toy", "version": "1"},
    "profile": "core",
    "family": "lifecycle",
}


def ruling_out(*values: str) -> Tally:
    """A tally in which these values of policies were ruled out."""
    tally = Tally()
    for key, _, value in (one.partition("=") for one in values):
        because = Exclusion("RUN-1", f"not {value}")
        found = Found(Violation("RUN-1", because.reason, 1), None, (), Trace([]))
        tally.exclude((key, value), because, found)
    return tally


def sentences(tally: Tally, **policies: str) -> Iterator[str]:
    """What is asked, as it is written."""
    for question, values, found in evidence(facts_of(**policies), tally):
        yield Unanswered(question, values, as_found(found)).sentence


def test_the_most_harmful_comes_first() -> None:
    """Whatever was found first: a decision, then results, then input, then what a stop or a failure costs."""
    every = [f"{one.policy}={one.without}" for one in LIFECYCLE.spec.questions]
    found = [one.policy for one, *_ in evidence(facts_of(), ruling_out(*reversed(every)))]

    assert found == [
        "decision.kept",
        "durability",
        "input.fate",
        "cancel.results",
        "round.failure",
        "input.round",
    ]


def test_of_one_policy_the_most_harmful_is_asked() -> None:
    """A step that is lost says more than a call, and what is declared then is what is left."""
    assert list(sentences(ruling_out("durability=call", "durability=round"))) == [
        "the results of a whole round are lost in a crash: declare `durability: step` or `segment` if that "
        "is meant"
    ]
    assert list(sentences(ruling_out("decision.kept=acceptance", "decision.kept=checkpoint"))) == [
        "an accepted decision is lost in a crash, though a checkpoint was taken after it: declare "
        "`decision.kept: no` if that is meant"
    ]


@pytest.mark.parametrize(
    "ruled_out",
    [
        (),
        ("cancel.results=dropped",),
        ("round.failure=cancels_rest",),
        ("input.fate=dropped", "input.fate=next_run"),  # it was given back
        ("cancel.results=dropped", "cancel.results=kept"),  # it mixes both, which is broken
        ("round.executor=sequential",),
    ],
)
def test_no_harm_is_no_question(ruled_out: tuple[str, ...]) -> None:
    """Only what was lost is asked about, and only while a value that allows it is left."""
    assert list(sentences(ruling_out(*ruled_out))) == []


def test_what_is_declared_is_not_asked() -> None:
    """The evidence is about open policies alone."""
    facts = facts_of(decision__kept="no")

    assert list(evidence(facts, ruling_out("decision.kept=acceptance"))) == []


# --- the whole campaign --------------------------------------------------------------------------


def checked(target: str, **more: Any) -> Result:
    """The result of a small campaign."""
    return campaign(Order(target, Sampled(10), **more))


@pytest.mark.long
@pytest.mark.parametrize(
    ("agent", "policy", "clause", "steps"),
    [
        pytest.param("StoresTooEarly", "durability", "RECOVER-5", 5, marks=pytest.mark.long),
        ("StoresNoDecision", "decision.kept", "KEEP-1", 4),
    ],
)
def test_what_a_crash_costs_is_asked_with_a_short_witness(
    agent: str, policy: str, clause: str, steps: int
) -> None:
    """Nothing is broken; the schedule is shrunk, and breaks nothing but the promise."""
    result = campaign(Order(f"{AGENTS}{agent}", Sampled(10)))

    [question] = result.questions
    assert result.witnesses == []
    assert (question.question.policy, question.witness.clause) == (policy, clause)
    assert question.witness.steps == steps


@pytest.mark.parametrize(
    ("agent", "script", "broken"),
    [
        ("LosesResults", "crash-after-a-step", []),
        ("KeepsResultsItSays", "crash-after-a-step", ["RECOVER-5"]),
        ("LosesDecisions", "crash-after-an-approval", []),
        ("KeepsDecisionsItSays", "crash-after-an-approval", ["KEEP-1"]),
    ],
)
def test_an_answer_is_judged(agent: str, script: str, broken: list[str]) -> None:
    """With the policy declared the right one holds, the wrong one is broken, and neither is asked."""
    facts, tally = played(f"{AGENTS}{agent}", script)

    assert list(tally.found) == broken
    assert list(evidence(facts, tally)) == []


def test_what_is_skipped_is_not_asked() -> None:
    """`--skip` of the clause that would judge the answer hides the question too."""
    target = f"{STEERED}ForgetsAtAStop"
    order = Order(target, Sampled(0), Selection(skip=("INPUT-8",)))

    assert campaign(order).questions == []


@pytest.mark.long
@pytest.mark.parametrize("profile", ["tirea", "awaken-8"])
def test_a_reference_that_hides_its_policies_is_asked_only_what_is_true(profile: str) -> None:
    """What it is said to lose it does lose, and its own value is among the answers."""
    result = campaign(Order(f"{REFERENCES}{profile.replace('-', '_')}", Sampled(10)))
    does = policies_of(profile, {})

    assert result.witnesses == []
    assert result.questions
    assert all(does[one.question.policy] in one.values for one in result.questions)


@pytest.mark.parametrize("target", ["reference", "reference:tool-runner", "reference:message-loop"])
def test_a_reference_is_asked_nothing(target: str) -> None:
    """It declares each policy that is asked about."""
    with closing(bench_of(Order(target, Sampled(0)), lambda _: True)) as bench:
        asked_about = {one.policy for one in bench.family.spec.questions}

        assert asked_about <= bench.policies.keys()


def test_strict_leaves_no_question_unanswered() -> None:
    """A question alone breaks nothing, and is undecided where everything has to be said."""
    question = Unanswered(LIFECYCLE.spec.questions[0], ("no",), Witness("KEEP-2", "", (), Trace([])))
    held = Result(
        "toy", {}, "core", {}, "1.3", "lifecycle", {}, 1, clauses=[ClauseVerdict("RUN-1", "MUST", "held")]
    )
    open_ = replace(held, questions=[question])

    assert (held.exit_code(), held.exit_code(strict=True)) == (0, 0)
    assert (open_.verdict, open_.exit_code(), open_.exit_code(strict=True)) == ("held", 0, 3)


@pytest.mark.long
def test_a_question_is_replayed(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    """The report names a trace, and the command that sends it again."""
    monkeypatch.chdir(tmp_path)
    target = f"{STEERED}ForgetsAtAStop"
    ran = run(capsys, "check", target, "--examples", 10, "--jobs", 1, "--in-process", "-o", "out", "--json")

    [question] = ran.json["questions"]
    assert (question["policy"], question["trace"]) == ("input.fate", "out/question-1.jsonl")
    replayed = run(capsys, "replay", question["trace"], target, "--in-process")
    assert replayed.code == 0
