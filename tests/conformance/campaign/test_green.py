"""A right runtime can be green: no clause is asked of it that nothing it offers leads to."""

from contextlib import closing

import pytest
from drawn_handshakes import objections
from weaker_handshakes import Feature, Offer, Reference, without

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.campaign.result import ClauseVerdict
from runlock.conformance.campaign.stages import stages_of, units_of
from runlock.conformance.campaign.verdicts import NOTHING_FITS, verdicts
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.family import families, family_named

DRAWS = {"lifecycle": 200, "tool-runner": 150, "message-loop": 150}
LIFECYCLE = family_named("lifecycle")
REFERENCE = Reference("lifecycle", "awaken-8")
PENDING = Feature(("outcomes", "tool"), "pending")


@pytest.mark.sampled(100, nightly=10)
@pytest.mark.parametrize(
    ("family", "seed"), [(family, seed) for family, draws in DRAWS.items() for seed in range(draws)]
)
def test_each_testable_clause_is_within_reach(family: str, seed: int) -> None:
    """Whatever part of its features a reference offers, nothing is undecided, and nothing is broken."""
    assert objections(family_named(family), seed) == {}


def test_no_family_is_left_out() -> None:
    """The references of every family are drawn."""
    assert {one.name for one in families()} == DRAWS.keys()


def small() -> Offer:
    """The default reference with one kind of tool, waits that expire, and what it takes to see them."""
    offer = REFERENCE.offer
    few = {"gates": ["model", "tool"], "hooks": [], "streams": [], "state": [], "tools": ["ask", "expires"]}
    stimuli = ["decide", "clock.advance"]
    return {**offer, **few, "observes": ["call.status", "run.finished"], "stimuli": stimuli}


def campaign(offer: Offer) -> dict[str, ClauseVerdict]:
    """The verdict on each clause, with no budget for more than the scripts."""
    tally = Tally()
    with closing(REFERENCE.bench(offer)) as bench:
        stages = stages_of(Sampled(0), LIFECYCLE)
        for at, unit in units_of(stages):
            tally.add(stages[at].play(bench, unit))
        return {one.id: one for one in verdicts(bench, tally)}


def test_a_second_wait_is_asked_for_where_a_tool_can_wait_again() -> None:
    """EXPIRE-5 is about a second wait: it is held where a tool may answer that it is pending."""
    assert campaign(small())["EXPIRE-5"].verdict == "held"


def test_a_second_wait_is_out_of_reach_where_no_tool_can_wait_again() -> None:
    """Without the outcome pending EXPIRE-5 is not asked for, and the report says what is missing."""
    found = campaign(without(small(), [PENDING]))

    assert found["EXPIRE-5"].verdict == "untested"
    assert found["EXPIRE-5"].why == f"{NOTHING_FITS}: the runtime does not take pending at a tool gate"
    asked = [one for one in found.values() if one.verdict == "untested" and one.offered]
    assert [one.id for one in asked if one.level != "MAY"] == []
