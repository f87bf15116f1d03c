"""Every joint state of a message loop: that all hold, which arrows are taken, and that a fault is seen."""

from dataclasses import replace
from functools import cache

import pytest

from runlock.machines.joint.policies import NotExplored
from runlock.machines.joint.search import Search
from runlock.machines.message_loop.joint.checker import judge
from runlock.machines.message_loop.joint.clauses import rules_for
from runlock.machines.message_loop.joint.policies import CHOICES, choose
from runlock.machines.message_loop.joint.transitions import Joint, charts_of
from runlock.machines.table import Row
from runlock.spec.model import load_spec

SPEC = load_spec("message-loop")
PROFILES = sorted(SPEC.profiles)


def explored(profile, calls=1, *, charts=None, bounds=None, **asked):
    """The joint charts of a profile, searched and judged."""
    policies = choose(profile, asked).policies
    system = Joint(policies, calls, charts=charts, **(bounds or {}))
    search = Search(system).run()
    return search, judge(search, rules_for(policies, calls), system.charts.tables)


def findings(judged):
    """What was found, as clauses with the length of the way there."""
    return {finding.clause: len(finding.way) for finding in reversed(judged.findings)}


# --- what holds ---------------------------------------------------------------------------------


def holds(profile, calls=1, bounds=None, **asked):
    """Every state is reached and asked, and is as it should be."""
    search, judged = explored(profile, calls, bounds=bounds, **asked)

    assert findings(judged) == {}
    assert (judged.dead, judged.hopeless) == (0, 0)
    assert judged.over and search.stopped is None
    return judged


@pytest.mark.long
def test_the_joint_charts_of_a_loop_hold():
    """With two calls, one continuation and a cancel, every state holds, and every rule is asked."""
    assert holds("message-loop", 2).unasked == []


def test_what_needs_two_calls_is_untested_with_one():
    """A rule about calls that are in each other's way is never held by a call alone."""
    assert set(holds("message-loop").unasked) == {"AUTH-10", "AUTH-22", "ROUND-5"}


def test_what_needs_a_cancel_is_untested_without_one():
    """The same for the rules of a cancel, and for the reason of a turn that was cancelled."""
    left = set(holds("message-loop", bounds={"cancels": 0}).unasked)

    assert {"CANCEL-1", "CANCEL-4", "CANCEL-8", "RUN-7", "LOOP-52"} <= left


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        (key, [value] if SPEC.policy(key).kind == "set of" else value)
        for key in CHOICES
        for value in SPEC.policy(key).values
    ],
    ids=str,
)
def test_every_value_of_a_policy_of_a_loop_holds(key, value):
    """Whatever a loop chooses, its joint charts hold."""
    holds("message-loop-core", bounds={"iterations": 0}, **{key: value})


@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("calls", [2, 3])
def test_the_joint_charts_of_each_profile_of_a_loop_hold(profile, calls):
    """With several calls in a round."""
    holds(profile, calls)


TOGETHER = (
    {"prompt.line": "parallel", "reject.reach": "round"},
    {"prompt.place": "overlapped", "guard.place": "before_approval", "rewrite.place": "asked_again"},
    {"prompt.place": "interleaved", "round.executor": "sequential", "prompt.unanswered": "halt"},
    {
        "cancel.inflight": "drain",
        "rewrite.place": "asked_again",
        "reject.reach": "turn",
        "hook.fault": "end_run",
    },
)
"""Values of policies that act on each other where a round has several calls."""


@pytest.mark.long
@pytest.mark.parametrize("asked", TOGETHER, ids=str)
def test_policies_that_act_together_hold(asked):
    """Two calls, and several policies that are not those of the reference."""
    holds("message-loop-core", 2, **asked)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "bounds", [{"interactors": 0}, {"interactors": 1}, {"cancels": 0}, {"iterations": 2}], ids=str
)
def test_bounds_of_a_loop_hold(bounds):
    """Also without an interactor or a cancel, and with more continuations."""
    holds("message-loop", bounds=bounds)


def test_orbits_of_the_calls_of_a_response_add_up():
    """The states that stand for others stand for exactly those that are there without symmetry."""
    policies = choose("message-loop", {}).policies
    bounds = {"iterations": 0, "interactors": 1, "cancels": 0}
    reduced = Search(Joint(policies, 2, **bounds)).run()
    named = Search(Joint(policies, 2, **bounds), symmetry=False).run()

    assert reduced.states < named.states == reduced.unreduced


def test_a_policy_of_stages_is_refused():
    """Policies about what the joint states do not hold are refused."""
    with pytest.raises(NotExplored, match=r"do not depend on exit\.on_fail"):
        choose("message-loop-core", {"exit.on_fail": "yes"})


# --- what is reached ----------------------------------------------------------------------------

AFTER, FIRST = charts_of(choose("message-loop", {}).policies), charts_of({"guard.place": "before_approval"})
HALTS = {"prompt.unanswered": "halt", "reject.reach": "turn", "prompt.line": "parallel"}
DRAINS = {
    "cancel.inflight": "drain",
    "call.terminal": "finish",
    "bound.end": "stopped",
    "model.fault": "retried",
}
GUARDS_FIRST = {"guard.place": "before_approval"}
CORE = "message-loop-core"
SMALL = {"iterations": 0, "interactors": 1}
TAKEN_UNDER = (
    (AFTER, "message-loop", 1, {}, {}),
    (AFTER, CORE, 1, DRAINS, {}),
    (AFTER, CORE, 1, {"rewrite.place": "asked_again"}, SMALL),
    (AFTER, CORE, 2, HALTS, SMALL),
    (FIRST, CORE, 1, GUARDS_FIRST, SMALL),
    (FIRST, CORE, 1, {"rewrite.place": "asked_again", **GUARDS_FIRST}, SMALL),
    (FIRST, CORE, 2, {"rewrite.place": "after_approval", **HALTS, **GUARDS_FIRST}, SMALL),
)
"""Charts, policies, numbers of calls and bounds under which together everything is reached."""


@cache
def never_taken(at):
    _, profile, calls, asked, bounds = TAKEN_UNDER[at]
    _, judged = explored(profile, calls, bounds=bounds, **asked)
    return [row for _, row in judged.never_taken]


@pytest.mark.long
@pytest.mark.parametrize("charts", [AFTER, FIRST], ids=["after", "before"])
def test_every_arrow_of_a_loop_is_taken_under_some_policies(charts):
    """No arrow of any chart is left out by all, and so no state either."""
    left = [set(never_taken(at)) for at, one in enumerate(TAKEN_UNDER) if one[0] is charts]

    assert {row for row in set.intersection(*left) if row in charts.stack.rows} == set()


@pytest.mark.long
def test_every_arrow_of_the_turn_is_taken_under_some_policies():
    """The same for the charts that both have: the pass, its bound, a cancel, the turn and the statuses."""
    left = set.intersection(*(set(never_taken(at)) for at, one in enumerate(TAKEN_UNDER) if one[0] is AFTER))

    assert left == set()


# --- charts made wrong --------------------------------------------------------------------------


def without(charts, name, row):
    """The charts without one arrow."""
    table = getattr(charts, name)
    return replace(charts, **{name: replace(table, rows=tuple(one for one in table.rows if one is not row))})


def with_arrow(name, source, target):
    """The charts with an arrow that no clause draws."""
    table = getattr(AFTER, name)
    row = Row("LOOP-99", source, "jump", target, (), "drawn by mistake")
    return replace(AFTER, **{name: replace(table, rows=(*table.rows, row))})


MISSED_AS = {"LOOP-20": None, "CANCEL-23": "LOOP-18"}
"""Arrows that lead back to their own state: the clause that is broken without them, if there is one."""

DROPPED = [
    (charts, name, row)
    for charts in (AFTER, FIRST)
    for name in ("run", "stage", "bound", "cancel", "stack", "status")
    for row in getattr(charts, name).rows
    if charts is AFTER or name == "stack"
]


def first_that_takes(charts, row):
    """The first policies under which an arrow is taken."""
    return next(at for at, one in enumerate(TAKEN_UNDER) if one[0] is charts and row not in never_taken(at))


@pytest.mark.sampled(1, nightly=5)
@pytest.mark.long
@pytest.mark.parametrize(
    ("charts", "name", "row"),
    DROPPED,
    ids=[f"{row.clause}-{row.source}-{row.event}" for _, _, row in DROPPED],
)
def test_an_arrow_of_a_loop_that_is_left_out_is_missed(charts, name, row):
    """Without one of its arrows a chart breaks the clause that draws it."""
    _, profile, calls, asked, bounds = TAKEN_UNDER[first_that_takes(charts, row)]
    _, judged = explored(profile, calls, charts=without(charts, name, row), bounds=bounds, **asked)
    clause = MISSED_AS.get(row.clause, row.clause)

    assert clause is None or clause in findings(judged)


def test_a_missing_arrow_of_a_loop_is_shown_where_it_is_due():
    """The way leads to the first state that should have it."""
    row = next(row for row in AFTER.stack.rows if row.event == "allow")
    _, judged = explored("message-loop", charts=without(AFTER, "stack", row))
    first = judged.findings[0]

    assert (first.clause, first.is_missing) == ("AUTH-45", True)
    assert [step.move.what for step in first.way][-1] == "is put to the interactors"


@pytest.mark.long
def test_an_arrow_of_a_loop_too_many_is_taken_and_seen():
    """A call that leaves its prompt without an answer is blamed on the clauses that exclude it."""
    _, judged = explored("message-loop", charts=with_arrow("stack", "Prompting", "Guards"))

    assert set(findings(judged)) >= {"AUTH-1", "AUTH-2", "AUTH-11"}
    assert judged.findings[0].way[-1].rows == ("LOOP-99",)


def test_a_pass_that_cannot_end_is_blamed_on_progress():
    """Without a way out of RENDER the turn stands still: LOOP-18 says so, next to the missing arrow."""
    row = next(row for row in AFTER.stage.rows if row.event == "rendered")
    _, judged = explored("message-loop", charts=without(AFTER, "stage", row))

    assert set(findings(judged)) >= {"LOOP-18", "LOOP-49"}
