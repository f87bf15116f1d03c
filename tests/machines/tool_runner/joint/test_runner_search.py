"""Every joint state of a tool runner: that all hold, which arrows are taken, and that a fault is seen."""

from dataclasses import replace
from functools import cache

import pytest

from runlock.machines.joint.policies import NotExplored
from runlock.machines.joint.search import Search
from runlock.machines.table import Row
from runlock.machines.tool_runner.joint.checker import judge
from runlock.machines.tool_runner.joint.clauses import rules_for
from runlock.machines.tool_runner.joint.policies import CHOICES, choose
from runlock.machines.tool_runner.joint.transitions import Joint, charts_of
from runlock.spec.model import load_spec

SPEC = load_spec("tool-runner")
PROFILES = sorted(SPEC.profiles)
CHARTS = charts_of()


def explored(profile, calls=1, *, limit=1, cancels=1, charts=None, **asked):
    """The joint charts of a profile, searched and judged."""
    policies = choose(profile, asked).policies
    system = Joint(policies, calls, limit=limit, cancels=cancels, charts=charts)
    search = Search(system).run()
    return search, judge(search, rules_for(policies, limit), system.charts.tables)


def findings(judged):
    """What was found, as clauses with the length of the way there."""
    return {finding.clause: len(finding.way) for finding in reversed(judged.findings)}


# --- what holds ---------------------------------------------------------------------------------


def holds(profile, calls, **bounds):
    """Every state is reached and asked, and is as it should be."""
    search, judged = explored(profile, calls, **bounds)

    assert judged.findings == []
    assert (judged.dead, judged.hopeless) == (0, 0)
    assert judged.over and search.stopped is None


def test_the_joint_charts_of_a_runner_hold():
    """With one call, a limit of one iteration and a cancel, every state holds."""
    holds("tool-runner", 1)


@pytest.mark.sampled(1, nightly=3)
@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("calls", [1, 2, 3])
def test_the_joint_charts_of_each_profile_hold(profile, calls):
    """With several calls, and iterations that follow one another."""
    holds(profile, calls, limit=2)


@pytest.mark.long
@pytest.mark.parametrize("limit", [0, 1, 3])
@pytest.mark.parametrize("zero", ["no_limit", "no_request"])
def test_every_limit_holds(limit, zero):
    """Also no limit, and a limit that allows no request."""
    search, judged = explored("tool-runner-core", limit=limit, **{"limit.zero": zero})

    assert judged.findings == []
    assert (search.states < 10) is (limit == 0 and zero == "no_request")


@pytest.mark.sampled(1, nightly=5)
@pytest.mark.long
@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key in CHOICES for value in SPEC.policy(key).values], ids=str
)
def test_every_value_of_a_policy_of_a_runner_holds(key, value):
    """Whatever a runner chooses, its joint charts hold."""
    _, judged = explored("tool-runner-core", **{key: value})

    assert judged.findings == []


@pytest.mark.long
def test_orbits_of_the_calls_of_a_turn_add_up():
    """The states that stand for others stand for exactly those that are there without symmetry."""
    policies = choose("tool-runner-python", {}).policies
    reduced = Search(Joint(policies, 2, limit=1)).run()
    named = Search(Joint(policies, 2, limit=1), symmetry=False).run()

    assert reduced.states < named.states == reduced.unreduced


def test_a_policy_of_messages_is_refused():
    """Policies about what the joint states do not hold are refused."""
    with pytest.raises(NotExplored, match=r"do not depend on runner\.history"):
        choose("tool-runner-core", {"runner.history": "whole"})


# --- what is reached ----------------------------------------------------------------------------

TAKEN_UNDER = (
    ("tool-runner", {"runner.cache": "until_change"}),
    ("tool-runner-python", {}),
    ("tool-runner-go", {}),
    ("tool-runner-typescript", {}),
)
"""Policies under which, together, everything is reached."""


@cache
def never_taken(at):
    profile, asked = TAKEN_UNDER[at]
    _, judged = explored(profile, **asked)
    return [row for _, row in judged.never_taken]


@pytest.mark.long
def test_every_arrow_is_taken_under_some_policies():
    """No arrow of either chart is left out by all profiles, and so no state either."""
    left = set.intersection(*(set(never_taken(at)) for at in range(len(TAKEN_UNDER))))

    assert left == set()


@pytest.mark.long
def test_every_state_of_both_charts_is_reached():
    """The states of the iteration chart, and of the response."""
    reached = {"runner": set(), "response": set()}
    for profile, asked in TAKEN_UNDER:
        search, _ = explored(profile, **asked)
        for control in search.controls:
            reached["runner"].add(control.runner)
            reached["response"].add(control.response)

    assert reached["runner"] == set(CHARTS.runner.states)
    assert reached["response"] - {""} == set(CHARTS.response.states)


# --- charts made wrong --------------------------------------------------------------------------


def without(name, row):
    """The charts without one arrow."""
    table = getattr(CHARTS, name)
    return replace(CHARTS, **{name: replace(table, rows=tuple(one for one in table.rows if one is not row))})


def with_arrow(name, source, target):
    """The charts with an arrow that no clause draws."""
    table = getattr(CHARTS, name)
    row = Row("RUNNER-99", source, "jump", target, (), "drawn by mistake")
    return replace(CHARTS, **{name: replace(table, rows=(*table.rows, row))})


def is_replaced(table, row):
    """Whether another arrow with fewer guards has the same ends, so that nothing is missed without it."""
    later = table.cell(row.source, row.event)[table.cell(row.source, row.event).index(row) + 1 :]
    return any(one.target == row.target for one in later)


DROPPED = [
    (name, row) for name in ("runner", "response") for row in getattr(CHARTS, name).rows
    if not is_replaced(getattr(CHARTS, name), row)
][::2]  # fmt: skip
"""Every other arrow."""


@pytest.mark.sampled(1, nightly=4)
@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "row"), DROPPED, ids=[f"{row.clause}-{row.source}-{row.event}" for _, row in DROPPED]
)
def test_an_arrow_of_a_runner_that_is_left_out_is_missed(name, row):
    """Without one of its arrows a chart breaks the clause that draws it."""
    at = next(at for at in range(len(TAKEN_UNDER)) if row not in never_taken(at))
    profile, asked = TAKEN_UNDER[at]
    _, judged = explored(profile, charts=without(name, row), **asked)

    assert row.clause in findings(judged)


@pytest.mark.long
def test_a_missing_arrow_is_shown_where_it_is_due():
    """The way leads to the first state that should have it."""
    row = next(row for row in CHARTS.runner.rows if row.event == "whole")
    _, judged = explored("tool-runner", cancels=0, charts=without("runner", row))
    first = judged.findings[0]

    assert (first.clause, first.is_missing) == ("STREAM-2", True)
    assert [step.move.what for step in first.way] == ["a request is sent", "a stream is yielded"]


def test_an_arrow_of_a_runner_too_many_is_taken_and_seen():
    """A resume without a yield is blamed on the clauses that exclude its step, three steps away."""
    charts = with_arrow("runner", "Received", "Resumed")
    _, judged = explored("tool-runner", cancels=0, charts=charts)

    assert findings(judged) == {"RUNNER-1": 3, "RUNNER-49": 3}
    assert [step.move.what for step in judged.findings[0].way] == [
        "a request is sent",
        "the model answers with tool_use",
        "the runner takes jump",
    ]
    assert judged.findings[0].way[-1].rows == ("RUNNER-99",)


@pytest.mark.long
def test_an_arrow_of_a_response_too_many_is_taken_and_seen():
    """A response that is forgotten while it is made is a step that no clause draws."""
    _, judged = explored("tool-runner", cancels=0, charts=with_arrow("response", "Making", "Forgotten"))

    assert findings(judged)["RUNNER-50"] == 5
