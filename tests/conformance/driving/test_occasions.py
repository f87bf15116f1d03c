"""The known schedules that reach each clause are those that reach it, and every clause has one."""

from typing import Any

import pytest
from reaching import as_file, is_reached, playing_order
from weaker_handshakes import Feature, Reference, features, references_of, without

from runlock.conformance.driving.occasions import FILE, occasions, only_witnesses, out_of_reach, reached
from runlock.conformance.driving.strategies.scripted import ORDER, applicable, corpus, in_playing_order
from runlock.conformance.family.family import Family, families, family_named
from runlock.conformance.judging.applicability import standings
from runlock.conformance.protocol import Handshake

LIFECYCLE = family_named("lifecycle")
REFERENCE = Reference("lifecycle", "awaken-8")


def lifecycle_without(*left_out: Feature) -> Handshake:
    """The handshake of the default reference without some of its features."""
    handshake = REFERENCE.handshake(without(REFERENCE.offer, left_out))
    assert handshake is not None
    return handshake


@pytest.mark.sampled(2)
@pytest.mark.parametrize("family", families(), ids=lambda one: one.name)
def test_every_clause_that_is_asked_for_has_an_occasion(family: Family) -> None:
    """Each clause that a reference has to exercise is reached by a schedule that the kit brings."""
    asked = {clause for one in references_of(family.name) for clause in one.asked}

    assert sorted(one for one in asked if not occasions(family, one)) == sorted(
        asked & family.checked_by_comparison.keys() - {family.judging.leaks}
    )


LISTED = [(family.name, clause) for family in families() for clause in reached(family)]


@pytest.mark.sampled(10, nightly=5)
@pytest.mark.parametrize(("name", "clause"), LISTED)
def test_a_known_schedule_reaches_its_clause(name: str, clause: str) -> None:
    """Each of them does while the reference offers no more than the schedule and the clause need."""
    family = family_named(name)
    asked = [one for one in references_of(name) if clause in one.asked]
    for script in occasions(family, clause):
        fitting = (one for one in asked if is_reached(one, clause, script))
        assert next(fitting, None) is not None, script.name


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.parametrize("family", families(), ids=lambda one: one.name)
def test_occasions_are_derived(family: Family, equals_golden: Any) -> None:
    """The file names the schedules that reach each clause while nothing more is offered than they need."""
    equals_golden(family.files / FILE, as_file(family))


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.parametrize("family", families(), ids=lambda one: one.name)
def test_the_playing_order_is_derived(family: Family, equals_golden: Any) -> None:
    """Scripts are played in the order in which they exercise most clauses and kill most mutants soonest."""
    equals_golden(family.files / ORDER, "".join(f"{name}\n" for name in playing_order(family)))


@pytest.mark.parametrize("family", families(), ids=lambda one: one.name)
def test_every_script_is_played(family: Family) -> None:
    """A script that the file does not name is played all the same, and none twice."""
    assert sorted(one.name for one in in_playing_order(family)) == sorted(one.name for one in corpus(family))


def test_a_clause_is_out_of_reach_where_each_of_its_schedules_lacks_something() -> None:
    """A second wait needs a tool that can answer that it is pending."""
    pending = Feature(("outcomes", "tool"), "pending")

    assert out_of_reach(LIFECYCLE, "EXPIRE-5", lifecycle_without()) == ""
    assert out_of_reach(LIFECYCLE, "EXPIRE-5", lifecycle_without(pending)) == (
        "the runtime does not take pending at a tool gate"
    )
    assert out_of_reach(LIFECYCLE, "no-such-clause", lifecycle_without(pending)) == ""


@pytest.mark.parametrize("left_out", [(), ("stimuli",), ("stimuli", "outcomes")], ids=str)
def test_the_witnesses_that_are_needed_reach_what_no_script_does(left_out: tuple[str, ...]) -> None:
    """With them each clause that is within reach has a schedule that is played whatever the budget."""
    every = features(REFERENCE.offer)
    handshake = lifecycle_without(*[one for one in every if one.place[0] in left_out])
    stands = standings(LIFECYCLE, handshake, LIFECYCLE.spec.policies_of("awaken-8", handshake.policies))
    needed = only_witnesses(LIFECYCLE, stands, handshake)
    played = {one.name for one in (*corpus(LIFECYCLE), *needed) if not applicable(LIFECYCLE, one, handshake)}

    assert {one.name for one in needed}.isdisjoint(one.name for one in corpus(LIFECYCLE))
    for clause, one in stands.items():
        known = {script.name for script in occasions(LIFECYCLE, clause)}
        within_reach = known and one.is_judged and not out_of_reach(LIFECYCLE, clause, handshake)
        assert not within_reach or known & played, clause
