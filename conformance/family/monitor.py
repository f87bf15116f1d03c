"""A monitor follows a scenario along a chart and yields check results; invariants look at one point alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Protocol

from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.judgement import Judgement
from runlock.conformance.protocol import Observation, Report


class Monitor(Protocol):
    """Follows one scenario; `clauses` are those that it judges."""

    clauses: ClassVar[frozenset[str]]

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something; the state has taken it in."""
        ...

    def observe(self, seen: Observation) -> Iterator[Judgement]:
        """The runtime shows something that the state has not taken in yet."""
        ...

    def settled(self) -> Iterator[Judgement]:
        """The runtime is quiescent, and the state has taken everything in."""
        ...


MonitorFactory = Callable[[Any, Trails, Mapping[str, bool]], Monitor]
"""Makes a monitor from the observed state, the coverage trails, and which clauses apply."""
