"""Groups the violations of a campaign by their cause, so that one fault of a runtime is one report.

A fault often breaks several clauses: one directly, and others because the run goes on from there.  A
violation is the consequence of another one only if that one breaks in its own shrunk counterexample: by the
same answer of the runtime, or before it, unless most schedules break that one first, so that it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """The witnesses, each consequence with its cause; those that have none come first."""
    rejudged = sorted((_rejudged(one, facts) for one in witnesses), key=lambda one: one.directness)
    causes: list[_Rejudged] = []
    made = []
    for one in rejudged:
        cause = next((other for other in causes if _follows(one, other.witness.clause, tally)), None)
        if cause is None:
            causes.append(one)
        made.append(replace(one.witness, cause="" if cause is None else cause.witness.clause))
    return sorted(made, key=lambda one: one.cause != "")


def _rejudged(witness: Witness, facts: Facts) -> _Rejudged:
    found = violations_in("the counterexample", witness.trace, facts)
    own = next((one for one in found if one.clause == witness.clause), None)
    together = {one.clause for one in found if own is not None and one.stimulus == own.stimulus}
    first = found[0].clause if found else ""
    return _Rejudged(witness, frozenset(together), first, own.rank if own is not None else Rank.CHART)


def _follows(one: _Rejudged, cause: str, tally: Tally) -> bool:
    """Whether a clause breaks in the witness of another one, before it or by the same answer."""
    is_common = tally.ended_by[cause] > COMMON * tally.schedules
    return cause in one.together or (cause == one.first and not is_common)
