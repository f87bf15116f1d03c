"""What is sent to a runtime: what it offers to take, and nothing that would mean something else."""

import pytest

from runlock.conformance.families.lifecycle.grounding import admit
from runlock.conformance.families.lifecycle.messages import DecisionSupport, Handshake, Report, Scenario
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.protocol import Party
from runlock.conformance.trace.moves import Move, race


def ended_as(code, policies=None, **support):
    """A run of one segment that ended so, of a runtime that takes decisions like this."""
    handshake = Handshake(
        implementation=Party(name="toy", version="1"),
        gates=["model", "tool"],
        observes=["run.finished"],
        stimuli=["decide"],
        decisions=DecisionSupport(**support),
    )
    state = ObservedState(handshake, policies or {}, Scenario(scenario="toy", tools=[]))
    state.stimulus("run.start", {"run": "r1", "input": "go"})
    finished = {"kind": "run.finished", "run": "r1", "reason": {"code": code}, "pending": []}
    report = Report(observations=[finished])
    state.observe(report.observations[0])
    state.report(report)
    return state


LATE = Move("decide", {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "resume"}]})


@pytest.mark.parametrize("code", ["NaturalEnd", "Cancelled", "Error"])
def test_a_decision_may_come_too_late(code):
    """A run that is over stays over: that is worth a try, unless the handshake says that it means more."""
    assert admit(LATE, ended_as(code)) == LATE


@pytest.mark.parametrize("code", ["NaturalEnd", "Cancelled", "Error"])
def test_a_late_decision_reaches_a_runtime_whose_state_its_caller_holds(code):
    """The kit is the caller; with the newest value, a decision after the end is a stimulus like any other."""
    assert admit(LATE, ended_as(code, {"state": "caller"})) == LATE


@pytest.mark.parametrize(
    ("support", "kept"), [("after_error", "Error"), ("after_cancel", "Cancelled")], ids=lambda one: one
)
def test_a_decision_that_would_try_again_is_not_sent(support, kept):
    """Where a runtime takes up again what stopped, a decision after that end is no late one."""
    ends = ("NaturalEnd", "Cancelled", "Error")
    sent = {code: admit(LATE, ended_as(code, **{support: False})) is not None for code in ends}

    assert sent == {code: code != kept for code in ends}


def test_what_is_for_a_run_that_was_not_begun_is_not_sent():
    """Who cannot be seen to end a run cannot be asked to begin another, and then nothing is for that one."""
    state = ended_as("NaturalEnd")
    other = Move("decide", {**LATE.params, "run": "r2"})

    assert admit(other, state) is None
    assert admit(LATE, state) == LATE


def test_what_meets_the_start_of_its_run_is_sent():
    """A cancel may come together with the start of the run that it is for."""
    handshake = Handshake(
        implementation=Party(name="toy", version="1"), gates=["model", "tool"], stimuli=["cancel"]
    )
    together = race([Move("run.start", {"run": "r1", "input": "go"}), Move("cancel", {"run": "r1"})])

    assert admit(together, ObservedState(handshake, {}, Scenario(scenario="toy", tools=[]))) == together
