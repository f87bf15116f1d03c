"""Groups the violations of a campaign by their cause, so that one fault of a runtime is one report.

A fault often breaks several clauses: one directly, and others because the run goes on from there.  Two
violations have one cause if the same answer of the runtime breaks both clauses in a shrunk counterexample.
A clause that broke only in schedules that had broken another clause before follows from that one, unless
most schedules break that one anyway, so that it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from runlock.conformance.campaign.rejudging import violations_in
from runlock.conformance.campaign.units import Facts
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.rank import Rank

COMMON: Final = 0.5
"""A clause that ends more than this share of the schedules is not the cause of what breaks after it."""


@dataclass(frozen=True, slots=True)
class _Rejudged:
    """A witness, the clauses that its last answer breaks, and the clause that its schedule breaks first."""

    witness: Witness
    together: frozenset[str]
    first: str
    rank: Rank

    @property
    def directness(self) -> tuple[bool, Rank, int, str]:
        """Sorts consequences last; of the others, the worst comes first, and then the shortest."""
        clause = self.witness.clause
        return self.first not in ("", clause), self.rank, self.witness.steps, clause


def grouped(witnesses: Sequence[Witness], facts: Facts, tally: Tally) -> list[Witness]:
    """The witnesses, each with the clause that leads its group as its cause; the leaders come first."""
    rejudged = {one.clause: _rejudged(one, facts) for one in witnesses}
    groups = {clause: {clause} for clause in rejudged}
    for one, other in _links(rejudged, tally):
        joined = groups[one] | groups[other]
        groups.update(dict.fromkeys(joined, joined))
    leaders = {one: min(group, key=lambda name: rejudged[name].directness) for one, group in groups.items()}
    made = [replace(one, cause=_other(leaders[one.clause], one.clause)) for one in witnesses]
    return sorted(made, key=lambda one: (one.cause != "", rejudged[one.clause].directness))


def _other(leader: str, clause: str) -> str:
    return "" if leader == clause else leader


def _rejudged(witness: Witness, facts: Facts) -> _Rejudged:
    found = violations_in("the counterexample", witness.trace, facts)
    own = next((one for one in found if one.clause == witness.clause), None)
    together = {one.clause for one in found if own is not None and one.stimulus == own.stimulus}
    first = found[0].clause if found else ""
    return _Rejudged(witness, frozenset(together), first, own.rank if own is not None else Rank.CHART)


def _links(rejudged: dict[str, _Rejudged], tally: Tally) -> Iterator[tuple[str, str]]:
    """Pairs of clauses with one cause."""
    for clause, one in rejudged.items():
        for other in one.together & rejudged.keys():
            yield clause, other
        is_common = tally.ended_by[one.first] > COMMON * tally.schedules
        if one.first in rejudged and not is_common:
            yield clause, one.first
