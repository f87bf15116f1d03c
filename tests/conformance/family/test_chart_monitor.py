"""The follower keeps every state that explains what was seen, and says what would have been explained."""

from __future__ import annotations

import pytest

from runlock.conformance.families.lifecycle.messages import GateOpened, PhaseEntered, Scenario, ToolSpec
from runlock.conformance.families.lifecycle.monitors.flow_charts import (
    DETOURS_OF_CASES,
    FLOW_READING,
    GATE,
    PASS_READING,
    STEP_READINGS,
    Case,
    Paths,
)
from runlock.conformance.families.lifecycle.reference import ReferenceAdapter
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.family.chart_monitor import NOT_BEGUN, Follower
from runlock.conformance.family.clause_result import ClauseResult
from runlock.conformance.family.coverage import Trails

STEP = STEP_READINGS["eight", "after_tools"]


def followed(*labels: str, reading=STEP) -> Follower:
    follower = Follower(reading)
    for label in labels:
        follower.see(label)
    return follower


def objections(*phases: str, profile: str = "awaken-8") -> list[ClauseResult]:
    """What is objected to in these phases of a run, in their order; `the inference` is a model gate."""
    handshake = ReferenceAdapter(profile).handshake
    state = ObservedState(handshake, handshake.policies, Scenario(scenario="s", tools=[ToolSpec(name="t")]))
    state.stimulus("run.start", {"run": "r1", "input": "hello"})
    followed = Paths(state, Trails())
    found: list[ClauseResult] = []
    for number, phase in enumerate(phases):
        if phase == "the inference":
            seen = GateOpened(run="r1", gate=f"g{number}", on="model", step=1, messages=[])
        else:
            seen = PhaseEntered(run="r1", phase=phase, step=1)
        found += [one for one in followed.observe(seen) if not one.result.ok]
        state.observe(seen)
    return found


def test_a_life_begins_where_its_chart_does():
    """Before anything was seen only the initial state can come."""
    follower = Follower(STEP)

    assert follower.right() == ["StepStart"]
    assert follower.states == {NOT_BEGUN}


def test_states_that_show_nothing_are_passed_unseen():
    """A call that was blocked shows nothing of it between the phases of its pass."""
    follower = followed("BeforeToolExecute", reading=PASS_READING)

    assert follower.right() == ["its body", "AfterToolExecute"]


def test_what_no_way_explains_is_explained_by_no_state():
    """Where a way ends, nothing follows, and what would have been right can be asked for before."""
    follower = followed("StepStart", "BeforeInference")

    assert follower.after("AfterInference") == frozenset()
    assert follower.right() == ["the inference"]


def test_an_arrow_counts_only_where_no_other_could_have_been_taken():
    """A look at the resume gate may be one of two stations; what follows tells which it was."""
    follower = followed("RunStart", "UserMessage", reading=FLOW_READING)

    assert follower.see(GATE) == ""
    assert follower.states == {"ResumeReplay0", "ResumeToolCall"}
    assert follower.see("StepStart") == ""
    assert follower.see("the inference") == "FLOW-10"


def test_a_detour_is_an_arrow_that_is_followed_in_some_cases():
    """From anywhere a cancel leads to RunEnd, and from nowhere without one."""
    follower = followed("RunStart", "UserMessage", reading=FLOW_READING)

    assert follower.after("RunEnd") == frozenset()
    assert follower.after("RunEnd", DETOURS_OF_CASES[Case.CANCELLED]) == {"RunEnd"}


def test_what_may_belong_to_something_else_may_have_moved_nothing():
    """A phase that is perhaps a replay's leaves it open whether the step has moved."""
    follower = followed("StepStart", "BeforeInference", "the inference", "AfterInference")
    follower.see("BeforeToolExecute", surely=False)

    assert follower.states == {"AfterInference", "BeforeToolExecute"}


def test_after_a_loss_anything_may_come():
    """After a crash a life goes on anywhere, or begins."""
    follower = followed("StepStart")
    follower.lose()

    assert set(follower.right()) == set(STEP.labels)


def test_the_drawn_ways_are_taken_without_a_word():
    """A step that follows its chart raises no objection."""
    drawn = (
        "RunStart",
        "StepStart",
        "BeforeInference",
        "the inference",
        "AfterInference",
        "StepEnd",
        "RunEnd",
    )

    assert objections(*drawn) == []


@pytest.mark.parametrize(
    ("profile", "clause"), [("tirea", "PHASE-70"), ("awaken-8", "PHASE-71"), ("awaken-9", "PHASE-72")]
)
def test_another_way_breaks_the_clause_that_closes_the_chart(profile, clause):
    """What no transition explains waits for quiescence, with what would have been right."""
    seen = objections("RunStart", "StepStart", "AfterInference", profile=profile)

    assert [(one.reason, one.is_deferred) for one in seen if one.clause == clause] == [
        ("step 1: after StepStart comes BeforeInference, yet AfterInference was seen", True)
    ]


def test_what_follows_an_objection_is_followed_from_anywhere():
    """One wrong phase is objected to once."""
    assert len(objections("RunStart", "StepStart", "AfterInference", "StepEnd")) == 1
