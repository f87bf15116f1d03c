"""Each clause that is asked of a joint state of a message loop is broken by a fault of the model."""

import pytest
from faulty_loop import PLANTED, Fault, Faulty, becomes, enters

from runlock.machines.joint.rules import Due
from runlock.machines.joint.search import Search
from runlock.machines.message_loop.joint.checker import judge
from runlock.machines.message_loop.joint.clauses import rules_for
from runlock.machines.message_loop.joint.policies import CHOICES, choose
from runlock.spec.model import load_spec

SPEC = load_spec("message-loop")

ROUND = {"stage": "TOOL_CALL"}
AGAIN = {"iterations": 1}
CANCEL = {"cancels": 1}
REACHES = {"reject.reach": "round"}
SEQUENTIAL = {"round.executor": "sequential"}
GUARDS_FIRST = {"guard.place": "before_approval"}
SILENT = {"unanswered": True, "rejected": False, **ROUND}
LAST = {"terminal": True, "rejected": False, "standing": 0, **ROUND}
DENIED = {"rejected": True, "reaching": False, **ROUND}

FAULTS = (
    # approvals
    Fault("AUTH-1", ROUND, one=enters(stack="ModeGate")),
    Fault("AUTH-2", ROUND, one=becomes({"guarded": True}, stack="ModeGate")),
    Fault("AUTH-2", ROUND, one=becomes({"by": "mode"}, stack="Proposed"), policies=GUARDS_FIRST),
    Fault("AUTH-9", ROUND, one=enters(stack="Guards", guarded=False)),
    Fault(
        "AUTH-13", ROUND, one=becomes({"rewritten": True}, stack="Guards"),
        policies={"rewrite.place": "asked_again"},
    ),
    Fault("AUTH-16", ROUND, one=becomes({"stack": "Guards", "by": "mode"}, stack="ModeGate", listed=False)),
    Fault("AUTH-17", {"active": 0}, one=becomes({"stack": "Guards", "by": "person"}, stack="Prompting")),
    Fault("AUTH-44", {"active": 0}, one=becomes({"stack": "Prompting"}, stack="ModeGate")),
    Fault("AUTH-12", ROUND, one=becomes({"stack": "Guards", "by": "person"}, stack="ModeGate")),
    Fault(
        "AUTH-27", ROUND, {"standing": 1}, one=becomes({"stack": "Guards", "by": "person"}, stack="Prompting")
    ),
    Fault("AUTH-15", ROUND, one=becomes({"stack": "Guards", "by": "standing"}, stack="ModeGate")),
    Fault(
        "AUTH-28", {"standing": 1}, one=becomes({"stack": "Guards", "by": "standing"}, stack="ModeGate"),
        policies={"grant.match": "call"}, bounds=AGAIN,
    ),
    # a no, and what runs once
    Fault("AUTH-8", ROUND, one=enters(denied="guard")),
    Fault("GATE-2", ROUND, one=enters(denied="person")),
    Fault("AUTH-47", ROUND, one=enters(denied="no answer")),
    Fault("AUTH-40", ROUND, one=enters(stack="Unusable")),
    Fault("GATE-2", ROUND, one=enters(denied="guard")),
    Fault("ONCE-1", ROUND, one=enters(status="Succeeded")),
    Fault("ONCE-3", ROUND, one=enters(status="Running")),
    Fault("CALL-17", ROUND, one=becomes({"status": "Failed"}, status="Succeeded")),
    # prompts
    Fault("AUTH-10", {"prompts": 1}, one=becomes({"stack": "Prompting"}, stack="ModeGate"), calls=2),
    Fault("AUTH-23", {"prompts": 1}, policies={"prompt.line": "parallel"}, calls=2),
    Fault("AUTH-11", ROUND, one=becomes({"stack": "Prompting", "open": 1}, stack="ModeGate")),
    Fault("AUTH-11", ROUND, one=becomes({"stack": "Guards", "by": "person"}, stack="Prompting")),
    Fault("AUTH-22", {"prompts": 1}, one=enters(stack="Proposed"), calls=2),
    Fault(
        "AUTH-22", {"running": 1}, one=becomes({"stack": "Prompting"}, stack="ModeGate"),
        policies={"prompt.place": "interleaved"}, calls=2,
    ),
    Fault("AUTH-22", {"running": 1}, policies={"prompt.place": "overlapped"}, calls=2),
    Fault("AUTH-25", ROUND, one=becomes({"stack": "Denied", "denied": "no answer"}, open=2)),
    Fault("AUTH-25", ROUND, one=becomes({"open": 1}, open=2), policies={"prompt.defer": "answers"}),
    Fault("AUTH-14", DENIED, one=becomes({"denied": "round", "stack": "Denied"}, status="New"), calls=2),
    Fault("AUTH-14", DENIED, {"stage": "Blocked"}),
    Fault("AUTH-14", {"rejected": True}, one=enters(stack="Proposed"), policies=REACHES, calls=2),
    Fault("AUTH-14", DENIED, {"stage": "RENDER"}, policies={"reject.reach": "turn"}),
    Fault("AUTH-14", {"reaching": True}, {"reaching": False}, policies=REACHES, calls=2),
    Fault("AUTH-26", SILENT, {"stage": "Blocked"}),
    Fault("AUTH-26", SILENT, {"stage": "RENDER"}, policies={"prompt.unanswered": "halt"}),
    # stages, rounds and the bound
    Fault("LOOP-2", LAST, {"stage": "SEND_REQUEST", "terminal": False}),
    Fault("LOOP-3", {"stage": "STREAM_RESPONSE"}, {"stage": "TOOL_CALL"}),
    Fault("LOOP-17", {"stage": "STREAM_RESPONSE"}, one=becomes({"status": "Running"}, status="")),
    Fault("LOOP-18", {"stage": "SEND_REQUEST"}),
    Fault("PAIR-1", LAST, {"stage": "COMPOSE_REQUEST"}, one=becomes({}, status="New")),
    Fault("ROUND-1", ROUND, {"stage": "RENDER"}, one=becomes({}, status="Running")),
    Fault("ROUND-4", {"running": 1}, one=enters(stack="Guards"), policies=SEQUENTIAL, calls=2),
    Fault("ROUND-5", {"running": 1}, calls=2),
    Fault("LOOP-5", {"left": 0, **LAST}, {"stage": "COMPOSE_REQUEST"}),
    Fault("LOOP-6", {"left": 1, **LAST}, {"stage": "COMPOSE_REQUEST"}, bounds=AGAIN),
    Fault("LOOP-6", {"left": 1, "running": 1}, {"left": 0}, bounds=AGAIN),
    Fault("LOOP-70", {"left": 1, **ROUND}, {"stage": "Bounded"}, bounds=AGAIN),
    Fault("LOOP-70", {"left": 1, **LAST}, {"stage": "COMPOSE_REQUEST", "bound": "Reached"}, bounds=AGAIN),
    Fault("LOOP-9", ROUND, {"stage": "Bounded"}, one=becomes({}, status="New")),
    Fault("LOOP-16", {"left": 1, **LAST}, {"stage": "COMPOSE_REQUEST", "left": 0}, bounds=AGAIN),
    Fault("LOOP-19", {"terminal": True, **ROUND}, {"stage": "Finished"}),
    Fault("LOOP-19", {"terminal": True, **ROUND}, {"stage": "RENDER"}, policies={"call.terminal": "finish"}),
    Fault("ROUND-8", ROUND, {"broken": "raise"}, becomes({"status": "Failed"}, status="Running")),
    Fault("ROUND-12", ROUND, {"broken": "malformed"}, becomes({"stack": "Unusable"}, stack="Proposed")),
    Fault("HOOK-9", ROUND, {"broken": "hook"}),
    # cancels and ends
    Fault("CANCEL-1", {"cancel": "Raised", **ROUND}, {"cancel": "Quiet"}, bounds=CANCEL),
    Fault("CANCEL-2", {"cancel": "Quiet"}, bounds=CANCEL),
    Fault("CANCEL-4", {"stage": "Rendered"}, {"cancel": "Raised"}, bounds=CANCEL),
    Fault("CANCEL-5", {"cancel": "GivingUp", **ROUND}, {"cancel": "Quiet"}, bounds=CANCEL),
    Fault(
        "CANCEL-5", {"cancel": "Draining"}, one=becomes({"status": "Cancelled"}, status="Running"),
        policies={"cancel.inflight": "drain"}, bounds=CANCEL,
    ),
    Fault(
        "CANCEL-6", {"cancel": "GivingUp"}, one=becomes({"status": "Succeeded"}, status="Running"),
        bounds=CANCEL,
    ),
    Fault("CANCEL-8", {"cancel": "Raised"}, one=enters(stack="Guards"), bounds=CANCEL),
    Fault("CANCEL-9", {"cancel": "Quiet", **ROUND}, {"stage": "RENDER"}, bounds=CANCEL),
    Fault("CANCEL-20", {"cancel": "Raised", **ROUND}, {"cancel": "GivingUp"}, bounds=CANCEL),
    Fault("CANCEL-25", {"cancel": "Raised", **ROUND}, {"cancel": "Settled"}, bounds=CANCEL),
    Fault("RUN-3", {"stage": "Rendered"}, {"run": "Done", "reason": "Error"}),
    Fault(
        "RUN-3", {"stage": "Finished"}, {"run": "Done", "reason": "Error"},
        policies={"call.terminal": "finish"},
    ),
    Fault("RUN-5", {"stage": "Bounded"}, {"run": "Done", "reason": "NaturalEnd"}),
    Fault(
        "RUN-5", {"stage": "Bounded"}, {"run": "Done", "reason": "Error"}, policies={"bound.end": "stopped"}
    ),
    Fault("RUN-6", {"stage": "Blocked"}, {"run": "Done", "reason": "Error"}),
    Fault("RUN-7", {"stage": "Cancelled"}, {"run": "Done", "reason": "Blocked"}, bounds=CANCEL),
    Fault("RUN-8", {"stage": "Failed"}, {"run": "Done", "reason": "NaturalEnd"}),
    Fault("RUN-14", {"run": "Done"}, {"run": "Running"}),
    Fault("RUN-20", ROUND, {"run": "Done"}, one=becomes({}, status="Running")),
    Fault("RUN-24", {"stage": "RENDER"}, {"run": "Done", "reason": "NaturalEnd"}),
    # the charts
    Fault("RUN-15", {"stage": "RENDER"}, {"run": "Waiting"}),
    Fault("LOOP-60", {"stage": "RECEIVE_INPUT"}, {"stage": "SEND_REQUEST"}),
    Fault("LOOP-79", {"stage": "Bounded"}, {"bound": "Within"}),
    Fault("CANCEL-29", {"cancel": "Raised"}, {"cancel": "Settled"}, bounds=CANCEL),
    Fault("AUTH-80", ROUND, one=becomes({"stack": "Guards"}, stack="Proposed")),
    Fault("AUTH-80", ROUND, one=becomes({"stack": "Prompting"}, stack="Proposed"), policies=GUARDS_FIRST),
    Fault("CALL-19", ROUND, one=becomes({"status": "Succeeded"}, status="New")),
    Fault("CALL-20", ROUND, one=becomes({"status": "New"}, status="Running")),
)  # fmt: skip
"""A fault for each clause, and for each value of a policy that it reads."""


def found(fault):
    """What is found of a model with a fault, under the core with some policies."""
    policies = choose("message-loop-core", fault.policies).policies
    system = Faulty(fault, policies)
    return judge(Search(system).run(), rules_for(policies, fault.calls), system.charts.tables).findings


def values(key):
    """The values of a policy; of a set, each alone."""
    policy = SPEC.policy(key)
    return [[value] if policy.kind == "set of" else value for value in policy.values]


def _of_states_and_steps():
    """The rules that exclude a state or a step, under any value of any policy."""
    for key in CHOICES:
        for value in values(key):
            rules = rules_for(choose("message-loop-core", {key: value}).policies, 2)
            yield from (rule for rule in rules if not isinstance(rule, Due))


def test_each_rule_of_a_loop_has_a_fault():
    """No clause that is asked of states or steps lacks a fault that breaks it."""
    assert {rule.clause for rule in _of_states_and_steps()} == {fault.clause for fault in FAULTS}


@pytest.mark.long
def test_each_rule_is_broken_by_a_fault():
    """Also of the rules of one clause, each is found broken, in its own words."""
    broken = {
        (finding.clause, finding.because)
        for fault in FAULTS
        for finding in found(fault)
        if finding.clause == fault.clause
    }

    assert {(rule.clause, rule.because) for rule in _of_states_and_steps()} <= broken


def each_fault():
    """Every fault; those that need a second call take longer."""
    return [
        pytest.param(fault, id=f"{at}-{fault.clause}", marks=[pytest.mark.long] if fault.calls > 1 else [])
        for at, fault in enumerate(FAULTS)
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", each_fault())
def test_a_fault_of_a_loop_is_blamed_on_its_clause(fault):
    """The clause is named, and the shortest way there takes the planted move."""
    clauses = {finding.clause: finding.way for finding in found(fault)}

    assert fault.clause in clauses
    if fault.to or fault.one or fault.each:
        assert PLANTED in [step.move.what for step in clauses[fault.clause]]


def test_a_denied_call_that_runs_is_seen():
    """The shortest way to it is shown, from the input to the entry of the tool."""
    fault = next(fault for fault in FAULTS if fault.clause == "GATE-2")
    way = next(finding.way for finding in found(fault) if finding.clause == "GATE-2")

    assert [step.move.what for step in way] == [
        "the input is taken",
        "the request is composed",
        "the request is sent",
        "the model asks for the calls",
        "is judged, and its tool is not on the list",
        "is put to the interactors",
        "is denied",
        PLANTED,
    ]
