"""A violation is a consequence only of what breaks in its own counterexample."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from runlock.conformance.campaign.causes import Rejudged, with_causes
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.rank import Rank
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Trace


def rejudged(clause: str, rank: Rank, *together: str, first: str = "") -> Rejudged:
    """A witness, with the clauses that break by its last answer, and the first to break."""
    return Rejudged(
        Witness(clause, "it broke", (), Trace([])), frozenset({clause, *together}), first or clause, rank
    )


def causes_of(*known: Rejudged, ended: Mapping[str, int] | None = None) -> dict[str, str]:
    """The cause of each clause, after ten schedules of which some were ended by a clause."""
    tally = Tally(schedules=10)
    tally.ended_by.update(ended or {})
    return {one.clause: one.cause for one in with_causes(known, tally)}


def test_of_two_that_break_by_one_answer_the_worse_is_the_cause() -> None:
    """What was done to a call leads what a status says of it."""
    found = causes_of(rejudged("A", Rank.STATUS, "B"), rejudged("B", Rank.CONSENT, "A"))

    assert list(found.items()) == [("B", ""), ("A", "B")]


def test_a_cause_breaks_in_the_counterexample_of_its_consequence() -> None:
    """B breaks with A and C with B: C is no consequence of A, which its own counterexample does not break."""
    known = (rejudged("A", Rank.CONSENT), rejudged("B", Rank.SHOWN, "A"), rejudged("C", Rank.STATUS, "B"))

    assert causes_of(*known) == {"A": "", "B": "A", "C": ""}


def test_what_breaks_alone_is_a_finding_of_its_own() -> None:
    """That another counterexample breaks it too does not make it a consequence."""
    assert causes_of(rejudged("A", Rank.CONSENT, "B"), rejudged("B", Rank.STATUS)) == {"A": "", "B": ""}


@pytest.mark.parametrize(("ended", "cause"), [(5, "A"), (6, "")])
def test_what_most_schedules_break_first_is_no_cause(ended: int, cause: str) -> None:
    """A clause that ends more than half of the schedules says nothing of what breaks after it."""
    known = (rejudged("A", Rank.CONSENT), rejudged("B", Rank.STATUS, first="A"))

    assert causes_of(*known, ended={"A": ended}) == {"A": "", "B": cause}


def test_a_milder_clause_is_no_cause() -> None:
    """A call that runs twice is no consequence of a status, even if the status was wrong first."""
    mild = replace(rejudged("A", Rank.STATUS), gravity=5)
    worse = replace(rejudged("B", Rank.STATUS, first="A"), gravity=1)

    assert causes_of(mild, worse) == {"B": "", "A": ""}


def test_of_one_answer_the_first_rank_leads_and_its_group_is_as_severe_as_the_worst() -> None:
    """Of two clauses that one answer breaks, the sharper one says what happened."""
    sharp = replace(rejudged("A", Rank.CONSENT, "B"), gravity=5)
    grave = replace(rejudged("B", Rank.STATUS, "A"), gravity=0)
    other = replace(rejudged("C", Rank.CONSENT), gravity=1)

    assert [*causes_of(other, grave, sharp).items()] == [("A", ""), ("C", ""), ("B", "A")]


def test_a_cause_needs_nothing_that_its_consequence_has_not() -> None:
    """What breaks without a cancel does not follow from what a cancel breaks."""
    cancelled = rejudged("A", Rank.CONSENT)
    witness = replace(cancelled.witness, moves=(Move("cancel", {"run": "r1"}),))

    assert causes_of(replace(cancelled, witness=witness), rejudged("B", Rank.STATUS, "A")) == {
        "A": "",
        "B": "",
    }
