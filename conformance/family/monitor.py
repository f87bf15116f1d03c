"""A monitor follows a scenario along charts and counts their transitions.

It judges one thing alone: that what is shown is a transition of the chart.  Invariants judge everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from runlock.conformance.family.clause_result import ClauseResult
from runlock.conformance.family.coverage import Trails
from runlock.conformance.protocol import Observation, Report


class Monitor:
    """Follows one scenario; a subclass overrides what it needs.

    Each result counts that a clause was exercised.  A result that objects is of the last rank, so that an
    invariant that objects to the same answer leads.
    """

    def __init__(self, state: Any, trails: Trails) -> None:
        """Follow a scenario from its observed state."""

    clauses: ClassVar[frozenset[str]] = frozenset()
    """The clauses of the charts that it follows."""

    says: ClassVar[str] = "what a runtime shows follows the chart {charts}"
    """What it checks, in one sentence; `{charts}` stands for the charts that the clause is on."""

    reads: ClassVar[tuple[type[Observation], ...]] = (Observation,)
    """The kinds of observation that it follows; it is not asked about others."""

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something; the state has taken it in."""

    def answered(self, report: Report) -> None:
        """The stimulus has its answer; the state has not taken it in yet."""

    def observe(self, seen: Observation) -> Iterator[ClauseResult]:
        """Follow an observation that the state has not taken in yet."""
        return iter(())

    def at_rest(self) -> Iterator[ClauseResult]:
        """The runtime is quiescent, and the state has taken in its answer."""
        return iter(())
