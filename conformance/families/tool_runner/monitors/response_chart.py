"""Checks the response of each iteration against its chart: made, kept, used, dropped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from runlock.conformance.families.tool_runner.messages import Responded, RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.records import Iteration
from runlock.conformance.family.chart_monitor import Follower, Reading
from runlock.conformance.family.clause_result import ClauseResult, clause_result
from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.protocol import Observation
from runlock.machines.table import compile_chart
from runlock.machines.tool_runner.charts.response import CachedToolResponse

TABLE: Final = compile_chart(CachedToolResponse)

READING: Final = Reading(
    TABLE,
    enters={"Making": ("calls",), "Kept": ("made", "used"), "Empty": ("given up",), "Forgotten": ("over",)},
    within={"Making": ("calls",), "Empty": ("given up",), "Kept": ("given up",)},
    silent=frozenset({"Empty"}),
)
"""Labels of each state; dropping a response is not observable."""


class ResponseMonitor(Monitor):
    """Checks the responses of one runner against their chart."""

    clauses: ClassVar[frozenset[str]] = frozenset(TABLE.closed.values())

    reads = (RunnerGate, Responded)

    def __init__(self, state: ObservedRunner, trails: Trails) -> None:
        self.state = state
        self.trails = trails
        self.follower = Follower(READING)

    def observe(self, seen: Observation) -> Iterator[ClauseResult]:
        """Check an observation."""
        last = self.state.iteration
        if isinstance(seen, RunnerGate) and seen.on == "model":
            self.follower = Follower(READING)
            self.trails.lose(TABLE, "response")
        if last is None or self.state.is_cancelled or not self._is_followed(last):
            return
        if isinstance(seen, RunnerGate) and seen.on == "tool" and self.state.phase(last)[0] == "response":
            yield self._see("calls")
        elif isinstance(seen, Responded) and last.pending_response is not None:
            if seen.messages and self._is_from_the_stream(last):
                yield self._see("calls")
            yield self._see(self._label(last, seen))

    def _is_followed(self, last: Iteration) -> bool:
        """Whether every call of the turn opens a gate."""
        names = {call.name for call in last.calls}
        return (
            bool(names) and not last.changes_tools and not last.has_doubled_ids and names <= last.tools.keys()
        )

    def _label(self, last: Iteration, seen: Responded) -> str:
        if not seen.messages:
            return "given up"
        number = len(last.responses) - 1
        entered = any(gate.response == number for gate in last.entries)
        return "made" if entered or self._is_from_the_stream(last) else "used"

    def _is_from_the_stream(self, last: Iteration) -> bool:
        """Whether the first response uses calls that were entered while the model streamed."""
        return len(last.responses) == 1 and any(gate.phase in ("request", "yield") for gate in last.entries)

    def _see(self, label: str) -> ClauseResult:
        before, after = self.follower.states, self.follower.after(label)
        if not after:
            wrong = f"a response was {label} in {' or '.join(sorted(before)) or 'the beginning'}"
            why = f"{wrong}; the chart has no such transition"
            return clause_result(READING.closed, why)._replace(is_deferred=True)
        self.follower.see(label)
        if self.follower.is_lost:
            self.trails.lose(TABLE, "response")
        self.trails.take(TABLE, "response", *(row for row in self.follower.taken if row is not None))
        return ClauseResult(READING.closed)
