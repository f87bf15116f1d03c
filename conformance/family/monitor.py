"""A monitor follows a scenario along a chart; an invariant looks at one point of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.judgement import Judgement
from runlock.conformance.protocol import Observation, Report


class Monitor:
    """Follows one scenario; a subclass overrides what it needs."""

    def __init__(self, state: Any, trails: Trails, applies: Mapping[str, bool]) -> None:
        """Follow a scenario from its observed state; `applies` says which clauses are judged."""

    clauses: ClassVar[frozenset[str]] = frozenset()
    """The clauses that it judges."""

    rests_on_silence: ClassVar[frozenset[str]] = frozenset()
    """Those of them that only the silence of a quiescent runtime breaks."""

    explains: ClassVar[bool] = False
    """Whether its objections wait for one more answer, since a check of another clause may name the cause."""

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something; the state has taken it in."""

    def answered(self, report: Report) -> None:
        """The stimulus has its answer; the state has not taken it in yet."""

    def observe(self, seen: Observation) -> Iterator[Judgement]:
        """Judge an observation that the state has not taken in yet."""
        return iter(())

    def at_rest(self) -> Iterator[Judgement]:
        """Judge what a quiescent runtime did not do; only called where its silence counts."""
        return iter(())

    def settled(self) -> Iterator[Judgement]:
        """Judge what was seen, once the runtime is quiescent and every invariant has been checked."""
        return iter(())
