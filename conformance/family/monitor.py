"""A monitor follows a scenario along a chart; an invariant checks one point of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.judgement import Judgement
from runlock.conformance.protocol import Observation, Report


class Monitor:
    """Follows one scenario; subclasses override the methods that they need."""

    def __init__(self, state: Any, trails: Trails, applies: Mapping[str, bool]) -> None:
        """Follow a scenario from its observed state; `applies` says which clauses are judged."""

    clauses: ClassVar[frozenset[str]] = frozenset()
    """The clauses that it judges."""

    rests_on_silence: ClassVar[frozenset[str]] = frozenset()
    """Those of them that are broken only by the silence of a quiescent runtime."""

    says: ClassVar[str] = "what a runtime shows follows the chart {charts}"
    """What it checks, in one sentence; `{charts}` stands for the charts that the clause is on."""

    explains: ClassVar[bool] = False
    """Whether its results wait for one more answer, since a check of another clause may name the cause."""

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends a stimulus; the state already includes it."""

    def answered(self, report: Report) -> None:
        """The stimulus has its answer; the state does not include it yet."""

    def observe(self, seen: Observation) -> Iterator[Judgement]:
        """Judge an observation that the state does not include yet."""
        return iter(())

    def at_rest(self) -> Iterator[Judgement]:
        """Judge what a quiescent runtime did not do; called only if its silence counts."""
        return iter(())

    def settled(self) -> Iterator[Judgement]:
        """Judge the observations once the runtime is quiescent and every invariant has been checked."""
        return iter(())
