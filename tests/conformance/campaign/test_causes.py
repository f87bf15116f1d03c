"""A violation is a consequence only of what breaks in its own counterexample."""

from collections.abc import Mapping
from typing import Any

import pytest

from runlock.conformance.campaign import causes
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.rank import Rank
from runlock.conformance.trace.trace import Trace

EXECUTED, SHOWN, STATUS = Rank.CONSENT, Rank.SHOWN, Rank.STATUS


@pytest.fixture
def causes_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The cause of each clause, from its rank, the clauses that break with it, and the first to break."""

    def found(ended: int = 0, **known: tuple[Rank, set[str], str]) -> Mapping[str, str]:
        def rejudged(witness: Witness, _facts: object) -> Any:
            rank, together, first = known[witness.clause]
            return causes._Rejudged(witness, frozenset({witness.clause, *together}), first, rank)

        monkeypatch.setattr(causes, "_rejudged", rejudged)
        tally = Tally(schedules=10)
        tally.ended_by.update({first: ended for _, _, first in known.values()})
        witnesses = [Witness(one, "it broke", (), Trace([])) for one in known]
        return {one.clause: one.cause for one in causes.grouped(witnesses, None, tally)}  # type: ignore[arg-type]

    return found


def test_of_two_that_break_by_one_answer_the_worse_is_the_cause(causes_of: Any) -> None:
    """What was done to a call leads what a status says of it."""
    assert causes_of(A=(STATUS, {"B"}, "A"), B=(EXECUTED, {"A"}, "B")) == {"B": "", "A": "B"}


def test_a_cause_breaks_in_the_counterexample_of_its_consequence(causes_of: Any) -> None:
    """B breaks with A and C with B: C is no consequence of A, which its own counterexample does not break."""
    found = causes_of(A=(EXECUTED, set(), "A"), B=(SHOWN, {"A"}, "B"), C=(STATUS, {"B"}, "C"))

    assert found == {"A": "", "B": "A", "C": ""}


def test_what_breaks_alone_is_a_finding_of_its_own(causes_of: Any) -> None:
    """That another counterexample breaks it too does not make it a consequence."""
    assert causes_of(A=(EXECUTED, {"B"}, "A"), B=(STATUS, set(), "B")) == {"A": "", "B": ""}


@pytest.mark.parametrize(("ended", "cause"), [(5, "A"), (6, "")])
def test_what_most_schedules_break_first_is_no_cause(causes_of: Any, ended: int, cause: str) -> None:
    """A clause that ends more than half of the schedules says nothing of what breaks after it."""
    assert causes_of(ended, A=(EXECUTED, set(), "A"), B=(STATUS, set(), "A")) == {"A": "", "B": cause}
