"""What is sent to a runtime: what it offers to take, and nothing that would mean something else."""

import pytest

from interlock.conformance.account import Account
from interlock.conformance.moves import Move, admitted
from interlock.conformance.protocol import DecisionSupport, Handshake, Party, Report, Scenario


def ended_as(code, **support):
    """A run of one segment that ended so, of a runtime that takes decisions like this."""
    handshake = Handshake(
        implementation=Party(name="toy", version="1"),
        gates=["model", "tool"],
        observes=["run.finished"],
        stimuli=["decide"],
        decisions=DecisionSupport(**support),
    )
    account = Account(handshake, {}, Scenario(scenario="toy", tools=[]))
    account.stimulus("run.start", {"run": "r1", "input": "go"})
    finished = {"kind": "run.finished", "run": "r1", "reason": {"code": code}, "pending": []}
    report = Report(observations=[finished])
    account.observe(report.observations[0])
    account.report(report.quiescent, report.refused)
    return account


LATE = Move("decide", {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "resume"}]})


@pytest.mark.parametrize("code", ["NaturalEnd", "Cancelled", "Error"])
def test_a_decision_may_come_too_late(code):
    """A run that is over stays over: that is worth a try, unless the handshake says that it means more."""
    assert admitted(LATE, ended_as(code)) == LATE


@pytest.mark.parametrize(
    ("support", "kept"), [("after_error", "Error"), ("after_cancel", "Cancelled")], ids=lambda one: one
)
def test_a_decision_that_would_try_again_is_not_sent(support, kept):
    """Where a runtime takes up again what stopped, a decision behind that end is no late one."""
    ends = ("NaturalEnd", "Cancelled", "Error")
    sent = {code: admitted(LATE, ended_as(code, **{support: False})) is not None for code in ends}

    assert sent == {code: code != kept for code in ends}
