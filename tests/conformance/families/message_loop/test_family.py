"""The registered family: every clause is judged, every script is valid, the charts are followed."""

from __future__ import annotations

import pytest
from loop_scene import Scene, ends, event, model, turn, user

from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.message_loop.family import FAMILY
from runlock.conformance.families.message_loop.monitors.pass_chart import TABLE, PassChart

EVENTS = {"observes": ["event", "run.finished"], "events": ["StagePreFired"]}
UP_TO_THE_RESPONSE = ("RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST")


def test_every_testable_clause_is_judged() -> None:
    clauses = FAMILY.spec.clauses.values()
    left = {one.id for one in clauses if one.id not in FAMILY.checked and not one.untestable}
    assert {one for one in left if FAMILY.spec.clauses[one].level != "MAY"} == set()


def test_no_check_names_a_clause_that_is_not_there() -> None:
    assert {check.clause for check in FAMILY.invariants} <= set(FAMILY.spec.clauses)


def test_every_script_names_clauses_that_exist() -> None:
    for script in corpus(FAMILY):
        named = script.about.rpartition("\n")[2].split(", ")
        assert set(named) <= set(FAMILY.spec.clauses), script.name


def test_scenarios_hold_what_was_declared_alone() -> None:
    party = {"name": "a", "version": "1"}
    claimed = {
        "implementation": party,
        "gates": ["model", "tool"],
        "modes": ["yolo"],
        "turns": ["chat"],
        "bounds": [],
    }
    handshake = FAMILY.vocabulary.handshake.model_validate(claimed)
    for scenario in FAMILY.driving.scenarios(handshake, {}):
        assert (scenario.mode, scenario.interactors, scenario.hooks) == ("yolo", [], [])
        assert (scenario.context, scenario.driver, scenario.hold) == ([], None, [])


def walked(*labels: str) -> Scene:
    """A pass that goes through these stages."""
    seen = [event("StagePreFired", stage=stage) for stage in UP_TO_THE_RESPONSE]
    scene = Scene(shows=EVENTS).start(*seen, model("g1", user("input of r1")))
    after = [event("StagePreFired", stage=stage) for stage in ("STREAM_RESPONSE", *labels)]
    return scene.release("g1", turn(text="done"), *after, ends())


def test_the_arrows_that_a_pass_took_are_covered() -> None:
    covered = walked("RENDER").judge.coverage.arrows
    taken = {"LOOP-40", "LOOP-41", "LOOP-42", "LOOP-44", "LOOP-49"}
    assert {clause for chart, clause in covered if chart == TABLE.name} == taken


@pytest.mark.parametrize("labels", [("RENDER", "COMPOSE_REQUEST"), ("SEND_REQUEST",)])
def test_a_pass_takes_no_way_but_the_drawn_ones(labels: tuple[str, ...]) -> None:
    scene = walked(*labels)
    assert scene.broken == "LOOP-1"
    assert PassChart.clauses >= {"LOOP-60", "LOOP-44"}
