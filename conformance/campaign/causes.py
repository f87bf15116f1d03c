"""Tells causes from consequences, so that one fault of a runtime is one report.

A fault often breaks several clauses: one directly, and others because the run goes on from there.
A violation B is a consequence of A only if A breaks in the shrunk counterexample of B too: by the same answer
of the runtime, or first.  A clause that most schedules break first explains nothing of what breaks after it.
Neither does a milder clause that breaks before, nor one whose own counterexample needs what that of B does
not have: an execution without a cancel is no consequence of what a cancel does wrong.  Of the clauses that
one answer breaks, the one with the first rank leads; its group is as severe as the worst of them.
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
class Rejudged:
    """A witness, the clauses that its last answer breaks, and the clause that its schedule breaks first."""

    witness: Witness
    together: frozenset[str]
    first: str
    rank: Rank
    gravity: int = 0  # of its clause: 0 is the worst

    @property
    def directness(self) -> tuple[bool, Rank, int, str]:
        """Sorts what breaks after another clause last; else by blame, then the shortest first."""
        clause = self.witness.clause
        return self.first not in ("", clause), self.rank, self.witness.steps, clause

    @property
    def severity(self) -> tuple[int, Rank, int, str]:
        """Sorts by the severity of the clause, then by blame, then the shortest first."""
        return self.gravity, self.rank, self.witness.steps, self.witness.clause


def grouped(witnesses: Sequence[Witness], facts: Facts, tally: Tally) -> list[Witness]:
    """The witnesses, each consequence with its cause; the causes come first, by severity."""
    return with_causes([_rejudged(one, facts) for one in witnesses], tally)


def with_causes(rejudged: Sequence[Rejudged], tally: Tally) -> list[Witness]:
    """The same for witnesses that were judged again; a consequence is the cause of nothing."""
    groups: list[list[Rejudged]] = []  # each begins with its cause
    for one in sorted(rejudged, key=lambda one: one.directness):
        group = next((some for some in groups if _follows(one, some[0], tally)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    groups.sort(key=lambda group: (min(one.gravity for one in group), *group[0].severity))
    causes = [replace(cause.witness, cause="") for cause, *_ in groups]
    return causes + [
        replace(one.witness, cause=cause.witness.clause) for cause, *others in groups for one in others
    ]


def _rejudged(witness: Witness, facts: Facts) -> Rejudged:
    found = violations_in("the counterexample", witness.trace, facts)
    own = next((one for one in found if one.clause == witness.clause), None)
    together = {one.clause for one in found if own is not None and one.stimulus == own.stimulus}
    first = found[0].clause if found else ""
    rank = own.rank if own is not None else Rank.CHART
    gravity = facts.family.spec.clauses[witness.clause].gravity
    return Rejudged(witness, frozenset(together), first, rank, gravity)


def _follows(one: Rejudged, cause: Rejudged, tally: Tally) -> bool:
    """Whether a clause breaks in the witness, by the answer that ends it or first, and can explain it."""
    clause = cause.witness.clause
    is_common = tally.ended_by[clause] > COMMON * tally.schedules
    is_before = clause == one.first and not is_common and cause.gravity <= one.gravity
    has_what_it_needs = cause.witness.situation <= one.witness.situation
    return (clause in one.together or is_before) and has_what_it_needs
