"""Every joint state: how many there are, that all hold, and that a chart made wrong is seen."""

from dataclasses import replace

import pytest

from runlock.machines.joint.search import Search
from runlock.machines.lifecycle.joint.calls import Calls, count_counted, count_named
from runlock.machines.lifecycle.joint.checker import judge
from runlock.machines.lifecycle.joint.clauses import rules_for
from runlock.machines.lifecycle.joint.policies import CHOICES, NotExplored, choose
from runlock.machines.lifecycle.joint.transitions import Joint, charts_of
from runlock.machines.table import Row
from runlock.spec.model import load_spec

PROFILES = sorted(load_spec("lifecycle").profiles)


def explored(profile, calls, charts=None, crashes=1, **asked):
    """The joint charts of a profile, searched and judged."""
    policies = choose(profile, asked).policies
    system = Joint(policies, calls, charts=charts, crashes=crashes)
    search = Search(system).run()
    return search, judge(search, rules_for(policies, 1), system.charts.tables)


def findings(judged):
    """What was found, as clauses with the length of the way there."""
    return {finding.clause: len(finding.way) for finding in reversed(judged.findings)}


# --- calls alone --------------------------------------------------------------------------------


@pytest.mark.parametrize(("calls", "states"), [(1, 27), (2, 609), (3, 13_383), (4, 296_481)])
def test_calls_alone_have_so_many_states(calls, states):
    """N calls with two re-suspensions each, and a cancel: 23^N + 12^N - 8^N states, by either count."""
    assert count_named(Calls(calls)).states == 23**calls + 12**calls - 8**calls == states


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_counting_agrees_with_searching(calls):
    """Counters, bits and the search that serves the joint charts come to the same numbers."""
    model = Calls(calls)
    reduced, named = Search(model).run(), Search(model, symmetry=False).run()

    assert (reduced.states, reduced.transitions) == (
        count_counted(model).states,
        count_counted(model).transitions,
    )
    assert (named.states, named.transitions) == (count_named(model).states, count_named(model).transitions)
    assert reduced.unreduced == named.states


def test_calls_know_no_other_run_than_theirs():
    """What the calls make of the run is Running, Waiting or a complete round, and a cancel ends it."""
    counted = count_named(Calls(2))

    assert (counted.busy, counted.waiting, counted.over, counted.cancelled) == (304, 81, 144, 80)
    assert counted.states == 304 + 81 + 144 + 80


def test_a_count_that_was_cut_off_says_so():
    """A bound ends the count, which is then partial."""
    assert count_counted(Calls(4), lambda states: states > 100).stopped
    assert count_named(Calls(3), lambda states: states > 100).stopped
    assert count_counted(Calls(4)).stopped is None


# --- the joint charts ---------------------------------------------------------------------------


def holds(profile, calls):
    """Every state is reached and asked, and is as it should be."""
    search, judged = explored(profile, calls)

    assert judged.findings == []
    assert (judged.dead, judged.hopeless, judged.unasked) == (0, 0, [])
    assert judged.over and search.stopped is None


@pytest.mark.parametrize("profile", PROFILES)
def test_the_joint_charts_hold(profile):
    """With one call, a re-suspension, a cancel and a crash, every state of each profile holds."""
    holds(profile, 1)


@pytest.mark.parametrize("profile", ["awaken-8", "tirea"])
def test_the_joint_charts_hold_with_two_calls(profile):
    """Two calls that wait for each other show what one alone cannot."""
    holds(profile, 2)


@pytest.mark.sampled(1, nightly=3)
@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
def test_the_joint_charts_hold_with_three_calls(profile):
    """So do three."""
    holds(profile, 3)


NEVER_TAKEN = {
    "ag-ui-1.0": ["DECIDE-49"],
    "ag-ui-1.1": ["DECIDE-49"],
    "awaken-8": ["DECIDE-49"],  # no one gives new input
    "awaken-9": ["DECIDE-49"],
    "awaken-concurrent": ["ROUND-73", "ROUND-74"],  # no one decides a call that does not wait
    "core": ["DECIDE-49"],
    "tirea": ["RUN-18", "RUN-6", "RESUME-2"],
    "tirea-stream": ["RUN-18", "RUN-6"],
}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_arrows_that_are_never_taken_are_known(profile):
    """An arrow that no joint state takes is one that the profile's policies leave out."""
    _, judged = explored(profile, 1)

    assert [row.clause for _, row in judged.never_taken] == NEVER_TAKEN[profile]


SIZES = {
    "awaken-8": (11_627, 22_251),
    "awaken-concurrent": (11_274, 21_493),
}


@pytest.mark.parametrize("profile", list(SIZES))
def test_orbits_add_up(profile):
    """The states that stand for others stand for exactly those that are there without symmetry."""
    policies = choose(profile, {}).policies
    reduced = Search(Joint(policies, 2)).run()
    named = Search(Joint(policies, 2), symmetry=False).run()

    assert (reduced.states, named.states) == SIZES[profile]
    assert reduced.unreduced == named.states
    assert len(reduced.levels) == len(named.levels)


def _values():
    for key in CHOICES:
        policy = load_spec("lifecycle").policy(key)
        values = [["timeout"], []] if policy.kind == "set of" else policy.values
        yield from ((key, value) for value in values if (key, value) != ("round.executor", "sequential"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("key", "value"), list(_values()), ids=str)
def test_every_value_of_a_policy_holds(key, value):
    """Whatever a runtime of the universal core chooses, its joint charts hold."""
    _, judged = explored("core", 1, **{key: value})

    assert judged.findings == []


def test_every_call_may_end_up_in_a_checkpoint_that_lags():
    """A crash goes back to what was stored: a finished call may be New once more, where nothing kept it."""
    search, _ = explored("awaken-8", 1)
    following = [
        call
        for call in search.calls
        if call.status == "Succeeded" and call.kept and call.kept.status != call.status
    ]

    assert following


# --- charts made wrong --------------------------------------------------------------------------


def without(table, clause):
    """The chart without the arrow of a clause."""
    return replace(table, rows=tuple(row for row in table.rows if row.clause != clause))


def with_arrow(table, source, event, target):
    """The chart with an arrow that no clause draws."""
    row = Row(f"{table.rows[0].clause.partition('-')[0]}-99", source, event, target, (), "drawn by mistake")
    return replace(table, rows=(*table.rows, row))


def joined(profile):
    """The charts of a profile, and the policies under which they are joined."""
    policies = choose(profile, {}).policies
    return charts_of(policies)


def _dropped():
    for profile in ("awaken-9", "tirea"):
        charts, policies = joined(profile), choose(profile, {}).policies
        asked = {rule.clause for rule in rules_for(policies, 1)}
        for name in ("call", "run", "gate"):
            clauses = (row.clause for row in getattr(charts, name).rows)
            yield from ((profile, name, clause) for clause in clauses if clause in asked - TRACELESS)


TRACELESS = {"RESUME-1", "RESUME-2"}
"""Passes that find nothing leave no trace, so that nothing is wrong without them."""


@pytest.mark.long
@pytest.mark.parametrize(("profile", "name", "clause"), list(_dropped()), ids="-".join)
def test_an_arrow_that_is_left_out_is_missed(profile, name, clause):
    """Without one of its arrows a chart breaks the clause that draws it, and the way leads to where it is."""
    charts = joined(profile)
    broken = replace(charts, **{name: without(getattr(charts, name), clause)})
    _, judged = explored(profile, 1, broken, crashes=0)

    assert clause in findings(judged)
    assert judged.findings[0].is_missing


ADDED = [
    ("Suspended", "start", "Running", "CALL-18", 6),
    ("Suspended", "jump", "Failed", "CALL-18", 6),
    ("New", "jump", "Resuming", "CALL-19", 5),
    ("Running", "jump", "New", "CALL-20", 6),
    ("Resuming", "jump", "New", "CALL-21", 13),
    ("Succeeded", "start", "Running", "CALL-17", 6),
    ("Failed", "jump", "Succeeded", "CALL-17", 6),
    ("Cancelled", "jump", "Running", "CALL-17", 7),
]


@pytest.mark.parametrize(("source", "event", "target", "clause", "steps"), ADDED)
def test_an_arrow_of_a_call_too_many_is_seen(source, event, target, clause, steps):
    """An arrow that no clause draws is taken sooner or later, and blamed on what closes its state."""
    charts = joined("awaken-9")
    _, judged = explored(
        "awaken-9", 1, replace(charts, call=with_arrow(charts.call, source, event, target)), crashes=0
    )

    assert findings(judged)[clause] == steps
    assert judged.findings[0].clause == clause


@pytest.mark.parametrize(
    ("source", "target", "clause"),
    [
        ("Done", "Running", "RUN-14"),
        ("Running", "Created", "RUN-15"),
        ("Waiting", "Created", "RUN-16"),
        ("Created", "Waiting", "RUN-17"),
    ],
)
def test_an_arrow_of_a_run_too_many_is_seen(source, target, clause):
    """The run leaves no status on a way that is not drawn."""
    charts = joined("awaken-9")
    _, judged = explored(
        "awaken-9", 1, replace(charts, run=with_arrow(charts.run, source, "jump", target)), crashes=0
    )

    assert clause in findings(judged)


@pytest.mark.long
@pytest.mark.parametrize(
    ("profile", "source", "target", "clause"),
    [
        ("awaken-9", "Blocked", "ReplayResume", "DECIDE-50"),
        ("tirea", "ResolveDecision", "Replay", "RESUME-20"),
        ("awaken-concurrent", "NextBatch", "Ended", "ROUND-79"),
    ],
)
def test_an_arrow_of_a_gate_too_many_is_seen(profile, source, target, clause):
    """What takes decisions in takes no way but the drawn ones."""
    charts = joined(profile)
    _, judged = explored(
        profile, 1, replace(charts, gate=with_arrow(charts.gate, source, "jump", target)), crashes=0
    )

    assert clause in findings(judged)


def test_the_way_to_a_fault_is_the_shortest_and_names_its_call():
    """A way tells each step with the call that moved, and ends in the state that is wrong."""
    charts = joined("awaken-8")
    _, judged = explored(
        "awaken-8", 2, replace(charts, call=with_arrow(charts.call, "Suspended", "jump", "Failed"))
    )
    way = judged.findings[0].way

    assert [step.move.what for step in way] == [
        "the model is asked",
        "the model asks for the calls",
        "is held",
        "takes jump",
    ]
    assert [step.call for step in way] == [None, None, 0, 0]
    assert [call.status for call in way[-1].calls] == ["Failed", "New"]
    assert way[-1].rows == ("CALL-99",)


def test_calls_alone_miss_an_arrow_too():
    """The model of calls alone is made of the chart: one arrow fewer removes a known number of states."""
    table = without(Calls(2).table, "CALL-7")

    assert count_named(Calls(2, table=table)).states < 609
    assert count_counted(Calls(2, table=table)).states == Search(Calls(2, table=table)).run().states


def test_a_policy_that_changes_nothing_is_refused():
    """A question about a value that is not distinguished is refused."""
    with pytest.raises(NotExplored, match="do not depend on reasons"):
        choose("core", {"reasons": ["Error"]})
    with pytest.raises(NotExplored, match="side by side"):
        choose("core", {"round.executor": "sequential"})
