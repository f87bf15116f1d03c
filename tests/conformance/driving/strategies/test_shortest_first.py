"""The systematic search: what it finds is shortest, what it leaves out finds nothing else."""

import pytest

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.exhaustive import play_level
from runlock.conformance.driving.strategies.move_enumeration import Scope, enabled_moves
from runlock.conformance.driving.strategies.shortest_first import length, search
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.actions import ACTIONS, Stage
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario, ToolSpec
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.selftest.mutation_testing import MutantRun, portions
from runlock.conformance.trace.moves import Move

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
HANDFUL = ("AsksOnWhenDone", "ApprovesTheFirst", "ForgetsFalse", "CallsAFaultStopped")
PAIR = Scenario(
    scenario="pair",
    tools=[ToolSpec(name="first", permission="ask"), ToolSpec(name="second", permission="ask")],
)
MIXED = Scenario(
    scenario="mixed",
    tools=[
        ToolSpec(name="first", permission="allow"),
        ToolSpec(name="second", permission="allow"),
        ToolSpec(name="other", permission="ask"),
    ],
)
TWINS = Scenario(
    scenario="twins",
    tools=[
        ToolSpec(name="first", permission="ask"),
        ToolSpec(name="second", permission="ask"),
        ToolSpec(name="other", permission="gate"),
    ],
)


def anything(_violation):
    """Any violation is wanted."""
    return True


def reference():
    """The reference on a bench."""
    return Bench(lambda: Hosted(factory("awaken-8")))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", HANDFUL)
def test_the_first_violation_is_no_longer_than_a_shrunk_one(name):
    """Schedules are tried in the order of their lengths, so that no shrinking is needed."""
    mutant = BY_NAME[name]
    hunt = MutantRun(lambda: Hosted(mutant), mutant.clause)
    hunt.run(portions(FAMILY, Sampled(160)))
    shrunk = length(hunt.witness(hunt.found).moves)

    found = search(
        hunt,
        lambda violation: violation.clause == mutant.clause,
        limit=1_000,
        depth_max=shrunk,
        scenarios=[hunt.found.scenario],
    )

    assert found.shortest <= shrunk
    assert found.exhausted == found.shortest - 1


@pytest.mark.long
def test_pruned_and_unpruned_search_find_the_same():
    """What is left out because something else stands for it would have shown nothing new."""
    mutant = BY_NAME["ForgetsFalse"]
    bench = Bench(lambda: Hosted(mutant))
    pruned, whole = (
        search(bench, anything, limit=6_000, depth_max=3, scenarios=[PAIR], scope=Scope(is_pruned=prunes))
        for prunes in (True, False)
    )

    assert pruned.found.violation.clause == whole.found.violation.clause == mutant.clause
    assert pruned.shortest == whole.shortest
    assert pruned.schedules < whole.schedules


SHORT = ("AsksOnWhenDone", "CallsEveryEndABehavior", "StartsOver", "DoesNotAskTheThird")
SAMPLE = {
    (depth, uneven, name): None
    for depth, uneven, some, every in ((2, 1, SHORT, 64), (3, 0, SHORT[2:], 240))
    for name in (*some, *(mutant.name for mutant in MUTANTS[::every]))
}


def shortest_of_each_clause(name, depth, scope):
    """For each clause that a mutant breaks in these tools, with how few stimuli."""
    bench = Bench(lambda: Hosted(BY_NAME[name]))
    bench.scenarios = [MIXED]
    total = Tally()
    for stimuli in range(1, depth + 1):
        total.add(play_level(bench, stimuli, 0, scope))
    assert not total.troubles
    return {clause: length(found.moves) for clause, found in total.found.items()}


def the_same_is_found(name, depth, uneven):
    """Whether pruning loses no clause, and makes no shortest schedule longer."""
    pruned, whole = (
        shortest_of_each_clause(name, depth, Scope(uneven=uneven, is_pruned=prunes))
        for prunes in (True, False)
    )
    assert pruned == whole
    return whole


@pytest.mark.parametrize("name", SHORT)
def test_pruned_and_unpruned_levels_break_the_same_clauses(name, monkeypatch):
    """Whatever a mutant does wrong within two stimuli shows with and without what is left out."""
    monkeypatch.setattr("runlock.conformance.driving.strategies.exhaustive.SHARDS", 1)

    assert BY_NAME[name].clause in the_same_is_found(name, 2, 0)


@pytest.mark.sampled(1, nightly=6)
@pytest.mark.long
@pytest.mark.parametrize(("depth", "uneven", "name"), SAMPLE)
def test_a_sample_of_mutants_breaks_the_same_clauses(
    depth: int, uneven: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same over races for one mutant in 64, and over three stimuli for one in 240."""
    monkeypatch.setattr("runlock.conformance.driving.strategies.exhaustive.SHARDS", 1)

    the_same_is_found(name, depth, uneven)


def test_a_search_says_how_much_it_has_tried():
    """A right runtime is searched up to the depth that was asked for, and nothing is found."""
    searched = search(reference(), anything, limit=2_000, depth_max=2, scenarios=[TWINS])

    assert (searched.found, searched.exhausted, searched.troubles) == (None, 2, [])
    assert 50 < searched.schedules < 2_000


def test_a_search_that_is_cut_off_does_not_claim_the_depth():
    """A limit within a depth leaves that depth open."""
    searched = search(reference(), anything, limit=20, depth_max=2, scenarios=[TWINS])

    assert (searched.schedules, searched.exhausted) == (20, 1)


def test_a_limit_of_turns_that_is_not_used_up_is_no_other_schedule():
    """A run that starts within one turn is not started with two or three."""
    pruned, whole = (
        search(
            reference(), anything, limit=100, depth_max=1, scenarios=[TWINS], scope=Scope(is_pruned=prunes)
        )
        for prunes in (True, False)
    )

    assert (pruned.schedules, whole.schedules) == (3, 5)


def test_of_tools_that_are_declared_alike_the_first_is_asked_for_first():
    """A tool's name means nothing to a runtime, so one order of the names is enough."""
    session = reference().session(TWINS)
    session.play(MOVES[1])
    turns = [
        option.move.params.get("outcome", {}).get("tool_calls")
        for option in enabled_moves(FAMILY.actions, Stage(session.state), Scope())
    ]
    asked = [[call["name"] for call in calls] for calls in turns if calls]

    assert ["first", "second"] in asked
    assert ["first", "first"] in asked
    assert ["second"] not in asked
    assert ["second", "first"] not in asked


MOVES = (
    [],
    [Move("run.start", {"run": "r1", "input": "hello r1"})],
    [
        Move("run.start", {"run": "r1", "input": "hello r1"}),
        Move(
            "gate.release",
            {
                "gate": "model",
                "outcome": {
                    "kind": "turn",
                    "tool_calls": [
                        {"id": "c1", "name": "first", "args": {}},
                        {"id": "c2", "name": "other", "args": {}},
                    ],
                },
            },
        ),
    ],
)


LEFT_OUT = (*FAMILY.actions.enumerations, *FAMILY.actions.not_enumerated)
"""Classes that a search tries in a way of their own, or leaves out."""


@pytest.mark.parametrize("moves", MOVES, ids=["nothing yet", "asked", "parked and gated"])
@pytest.mark.parametrize("name", [name for name in ACTIONS if name not in LEFT_OUT])
def test_what_a_walk_may_do_is_on_the_menu(moves, name):
    """Whatever an action proposes is tried, but for payloads and for tools that others stand for."""
    session = reference().session(TWINS)
    session.play(moves)
    listed = [
        _blank(option.move)
        for option in enabled_moves(FAMILY.actions, Stage(session.state), Scope(is_pruned=False))
    ]

    for index in range(20):
        proposed = ACTIONS[name](Stage(session.state), Seeded(index))
        assert proposed is None or _blank(proposed) in listed
    session.close()


def _blank(move):
    """A move without its payloads."""
    decisions = [{**one, "payload": ""} for one in move.params.get("decisions", ())]
    return Move(move.method, {**move.params, "decisions": decisions}, move.turns)
