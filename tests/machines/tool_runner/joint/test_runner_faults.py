"""Each clause that is asked of a joint state of a tool runner is broken by a fault of the model."""

import pytest
from faulty_runner import (
    PLANTED,
    Fault,
    Faulty,
    becomes,
    changed,
    enters,
    enters_ended,
    enters_running,
    given_up,
    has_result_of,
    never_entered,
    unchanged,
)

from runlock.machines.joint.model import Changed
from runlock.machines.joint.rules import Due
from runlock.machines.joint.search import Search
from runlock.machines.tool_runner.joint.checker import judge
from runlock.machines.tool_runner.joint.clauses import rules_for
from runlock.machines.tool_runner.joint.policies import CHOICES, choose
from runlock.machines.tool_runner.joint.state import Call
from runlock.spec.model import load_spec

SPEC = load_spec("tool-runner")


HANDLED = {"runner": "Handling", "target": "received"}
RECEIVED = {"runner.inspects": "received"}
RUN_ALL = {"runner.answered": "run", "runner.inspects": "received"}
ON_RECEIPT = {"runner.append": "on_receipt"}
SEQUENTIAL = {"round.executor": "sequential"}
AFTER_CANCEL = {"cancel": "asked"}

FAULTS = (
    # requests and yields
    Fault("RUNNER-1", {"runner": "Received"}, {"runner": "Resumed"}),
    Fault("RUNNER-1", {"runner": "Resumed"}, {"runner": "Yielded"}),
    Fault("RUNNER-3", {"runner": "Yielded", "response": "Empty"}, {}, one=enters),
    Fault("RUNNER-4", {"runner": "Left"}, {"runner": "Asked"}),
    Fault("RUNNER-11", {"runner": "Settled", "pushed": True, "left": 1}, {"runner": "Asked"}, limit=2),
    Fault("RUNNER-23", unchanged("Updated", "pause_turn"), {"runner": "Settled", "stands": ""}, limit=2),
    Fault("RUNNER-25", {"runner": "Broken"}, {"runner": "Asked"}),
    Fault("RUNNER-39", {"runner": "Yielded"}, {"runner": "Asked"}),
    Fault("RUNNER-40", {"runner": "Yielded", "stands": ""}, {"stands": "runner"}),
    Fault("STREAM-4", {"runner": "Streaming"}, {}, one=lambda call: Changed(Call("Running", 1))),
    Fault("STREAM-6", {"runner": "Streaming"}, {"runner": "Resumed"}),
    Fault("RUN-8", {"runner": "Finished"}, {"runner": "Settled"}),
    Fault("RUN-9", {"runner": "Handling"}, {"runner": "Broken"}),
    Fault("PROGRESS-1", {"runner": "Received"}, {}),
    Fault("PROGRESS-1", {"response": "Making", "pushed": True}, {}),
    # turns
    Fault("RUNNER-5", unchanged("Updated", "tool_use"), {"runner": "Settled"}),
    Fault("RUNNER-5", unchanged("Updated", "tool_use"), {"runner": "Finished"}),
    Fault("RUNNER-6", unchanged("Updated", "end_turn"), {"runner": "Settled"}),
    Fault("RUNNER-7", changed("Updated", "end_turn"), {"runner": "Finished"}),
    Fault(
        "RUNNER-7", changed("Updated", "end_turn"), {"runner": "Settled"},
        policies={"runner.finish": "received"},
    ),
    Fault("RUNNER-13", changed("Updated", "tool_use", last=""), HANDLED),
    Fault(
        "RUNNER-13", changed("Updated", "tool_use"), {"runner": "Handling", "target": "other"},
        policies=RECEIVED,
    ),
    Fault("RUNNER-20", unchanged("Updated", "pause_turn"), {"runner": "Finished"}),
    Fault(
        "RUNNER-20", unchanged("Updated", "pause_turn"), {"runner": "Settled"},
        policies={"runner.pause": "ends"},
    ),
    Fault("RUNNER-21", unchanged("Updated", "max_tokens"), HANDLED, each=enters),
    Fault(
        "RUNNER-21", unchanged("Updated", "max_tokens"), {"runner": "Finished"},
        policies={"runner.cut_off": "run"},
    ),
    Fault("RUNNER-31", changed("Settled", "pause_turn"), {"stands": "runner"}),
    Fault(
        "RUNNER-31", changed("Settled", "pause_turn"), {"stands": ""}, policies={"pause.changed": "kept"}
    ),
    Fault("RUNNER-32", unchanged("Updated", "pause_turn"), HANDLED, each=enters),
    Fault("RUNNER-41", {"runner": "Settled", "target": "received"}, {"runner": "Finished"}, limit=2),
    Fault("RUNNER-46", unchanged("Finished", "end_turn"), {"stands": ""}),
    Fault(
        "RUNNER-46", unchanged("Finished", "end_turn"), {"stands": "runner"},
        policies={"end.turn": "dropped"},
    ),
    # messages
    Fault("PAIR-1", unchanged("Updated", "tool_use"), {"runner": "Settled"}),
    Fault("PAIR-2", {"runner": "Settled", "stands": "runner"}, {"stands": ""}),
    Fault("PAIR-3", {"runner": "Settled", "stands": "user"}, {}, one=has_result_of("both")),
    Fault("RUNNER-9", unchanged("Handling", "tool_use"), {"stands": ""}),
    Fault(
        "RUNNER-9", {"runner": "Handling", "stands": ""}, {}, one=has_result_of("runner"), policies=RECEIVED
    ),
    Fault("RUNNER-10", changed("Settled", "tool_use"), {"stands": "runner"}),
    Fault("RUNNER-15", {"runner": "Updated", "last": "results"}, HANDLED, each=enters),
    Fault("RUNNER-16", {"runner": "Updated", "last": "results"}, HANDLED),
    Fault("RUNNER-27", {"runner": "Settled", "stands": "runner"}, {"stands": ""}),
    Fault("RUNNER-28", {"runner": "Settled", "stands": "user"}, {}, one=has_result_of("both")),
    Fault(
        "RUNNER-29", {"runner": "Yielded", "response": "Empty", "stop": "tool_use"},
        {"response": "Making", "pushed": True}, each=enters,
    ),
    Fault(
        "RUNNER-37", {"runner": "Resumed", "again": "break"}, {}, one=has_result_of("runner"),
        policies={"runner.answered": "run"},
    ),
    Fault("RUNNER-44", {"runner": "Yielded"}, {"stands": ""}, policies=ON_RECEIPT),
    Fault("RUNNER-45", {"runner": "Handling", "pushed": True}, {"runner": "Settled"}, each=becomes("Failed")),
    Fault(
        "RUNNER-45", {"runner": "Handling", "pushed": True, "stands": "user"}, {"runner": "Settled"},
        each=has_result_of("runner"), policies={"runner.results": "dropped"},
    ),
    Fault("RUNNER-47", {"runner": "Updated", "last": "results"}, HANDLED, policies=RUN_ALL),
    Fault("ROUND-1", {"runner": "Handling"}, {"runner": "Settled"}),
    # responses and entries
    Fault("RUNNER-17", {"runner": "Yielded", "response": "Empty"}, {"response": "Kept"}),
    Fault("RUNNER-18", {"runner": "Yielded", "response": "Kept"}, {}, one=enters),
    Fault(
        "RUNNER-19", {"runner": "Updated", "last": "other turn"},
        {"runner": "Handling", "target": "other", "stands": "user"}, each=never_entered,
    ),
    Fault(
        "RUNNER-30", {"response": "Kept", "pushed": False}, {"pushed": True},
        policies={"runner.cache": "until_push"},
    ),
    Fault(
        "RUNNER-30", {"runner": "Yielded", "response": "Kept", "was_set": False}, {"was_set": True},
        policies={"runner.cache": "until_change"},
    ),
    Fault(
        "RUNNER-30", {"runner": "Handling", "response": "Kept"}, {"stale": True},
        policies={"runner.cache": "by_state"},
    ),
    Fault(
        "RUNNER-30", {"runner": "Yielded", "response": "Empty"}, {"response": "Kept"},
        policies={"runner.cache": "none"},
    ),
    Fault("ONCE-1", {"runner": "Handling", "target": "received"}, {}, one=enters_ended),
    Fault("ONCE-2", {"runner": "Handling", "target": "received"}, {}, one=enters_running),
    Fault("ROUND-4", unchanged("Updated", "tool_use"), HANDLED, each=enters, policies=SEQUENTIAL),
    Fault("ROUND-5", {"runner": "Handling"}, {}, one=becomes("Queued")),
    Fault("ROUND-7", {"runner": "Handling"}, {"broken": "raise"}),
    # the limit
    Fault("STOP-1", {"runner": "Settled", "left": 0}, {"runner": "Asked"}),
    Fault("STOP-2", {"runner": "Settled", "left": 1}, {"runner": "Limited"}),
    Fault("STOP-3", {"runner": "Settled", "left": 1}, {"runner": "Asked", "left": 0}),
    Fault(
        "STOP-3", {"runner": "Settled", "left": 1}, {"runner": "Asked"},
        policies={"limit.counts": "requests"},
    ),
    Fault("STOP-3", {"runner": "Asked", "left": 1}, {"runner": "Received", "stop": "end_turn"}),
    Fault("STOP-4", {"runner": "Settled"}, {"runner": "Limited"}, limit=0),
    Fault(
        "STOP-4", {"runner": "Settled"}, {"runner": "Asked"}, limit=0, policies={"limit.zero": "no_request"}
    ),
    Fault("STOP-5", unchanged("Updated", "tool_use", left=0), {"runner": "Limited"}),
    Fault(
        "STOP-5", unchanged("Updated", "tool_use", left=0), HANDLED, policies={"stop.tools": "preempted"}
    ),
    Fault("STOP-6", {"runner": "Yielded", "left": 0}, {"left": 1}),
    # a cancel
    Fault("CANCEL-1", {"runner": "Settled", **AFTER_CANCEL}, {"runner": "Asked"}, limit=2, cancels=1),
    Fault("CANCEL-2", {"runner": "Settled", **AFTER_CANCEL}, {}, cancels=1),
    Fault("CANCEL-2", {"runner": "Asked", **AFTER_CANCEL}, {}, cancels=1),
    Fault(
        "CANCEL-4", {"runner": "Updated", "stop": "tool_use", **AFTER_CANCEL}, HANDLED, each=enters, cancels=1
    ),
    Fault(
        "CANCEL-4", unchanged("Updated", "tool_use", **AFTER_CANCEL), {"runner": "Cancelled"},
        policies={"cancel.handed_over": "run"}, cancels=1,
    ),
    Fault("CANCEL-5", {"runner": "Handling", "cancel": "may come"}, AFTER_CANCEL, cancels=1),
    Fault(
        "CANCEL-5", {"runner": "Handling", "cancel": "may come"}, AFTER_CANCEL, each=given_up,
        policies={"cancel.inflight": "drain"}, cancels=1,
    ),
    Fault(
        "CANCEL-6", {"runner": "Yielded", "stop": "tool_use", "response": "Empty", **AFTER_CANCEL},
        {"response": "Making"}, each=enters, cancels=1,
    ),
    Fault("CANCEL-7", {"runner": "Handling", **AFTER_CANCEL}, {}, one=enters, cancels=1),
    Fault(
        "CANCEL-8", {"runner": "Handling", "cancel": "may come"}, AFTER_CANCEL,
        policies=SEQUENTIAL, cancels=1,
    ),
    # the charts, and a runner that is iterated again
    Fault("RUNNER-24", {"runner": "Left"}, {"runner": "Resumed"}, policies={"again.break": "over"}),
    Fault("RUNNER-36", {"runner": "Broken"}, {"runner": "Settled"}, policies={"again.fault": "over"}),
    Fault("RUNNER-49", {"runner": "Asked"}, {"runner": "Settled"}),
    Fault("RUNNER-50", {"response": "Making"}, {"response": "Forgotten"}),
)  # fmt: skip
"""A fault for each clause, and for each value of a policy that it reads."""


def found(fault):
    """What is found of a model with a fault, under the core with some policies."""
    policies = choose("tool-runner-core", fault.policies).policies
    system = Faulty(fault, policies)
    return judge(Search(system).run(), rules_for(policies, fault.limit), system.charts.tables).findings


def _of_states_and_steps():
    """The clauses that exclude a state or a step, under any value of any policy and any limit."""
    for key in CHOICES:
        for value in SPEC.policy(key).values:
            for limit in (0, 1):
                rules = rules_for(choose("tool-runner-core", {key: value}).policies, limit)
                yield from (rule.clause for rule in rules if not isinstance(rule, Due))


def test_each_rule_has_a_fault():
    """No clause that is asked of states or steps lacks a fault that breaks it."""
    assert set(_of_states_and_steps()) == {fault.clause for fault in FAULTS}


@pytest.mark.sampled(1, nightly=5)
@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=[f"{at}-{fault.clause}" for at, fault in enumerate(FAULTS)])
def test_a_fault_of_a_runner_is_blamed_on_its_clause(fault):
    """The clause is named, and the shortest way there takes the planted move once."""
    clauses = {finding.clause: finding.way for finding in found(fault)}

    assert fault.clause in clauses
    if fault.to or fault.one or fault.each:
        assert PLANTED in [step.move.what for step in clauses[fault.clause]]


def test_a_call_that_runs_twice_is_seen():
    """A planted second entry is blamed, and the shortest way to it is shown."""
    fault = next(fault for fault in FAULTS if fault.clause == "ONCE-1")
    way = next(finding.way for finding in found(fault) if finding.clause == "ONCE-1")

    assert [step.move.what for step in way] == [
        "a request is sent",
        "the model answers with tool_use",
        "the turn is yielded",
        "the user resumes",
        "the state is updated",
        "the calls are handled",
        "succeeds",
        PLANTED,
    ]
