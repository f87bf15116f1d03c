"""Checks requests, yields, user actions, tools and ends against the iteration chart.

Stimuli and observations are mapped to labels of the chart's states.  An observation that no transition
explains violates the clause that closes the chart; checks of other clauses that name the cause come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from runlock.conformance.families.tool_runner.messages import RunFinished, RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.family.chart_monitor import Follower, Reading
from runlock.conformance.family.clause_result import ClauseResult, clause_result
from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.protocol import GateClosed, Observation, Report
from runlock.machines.table import compile_chart
from runlock.machines.tool_runner.charts.iteration import RunnerIteration

TABLE: Final = compile_chart(RunnerIteration)
ENDS: Final = ("NaturalEnd", "Stopped", "BehaviorRequested", "Cancelled", "Error")

READING: Final = Reading(
    TABLE,
    enters={
        "Asked": ("request",),
        "Streaming": ("open",),
        "Received": ("turn",),
        "Yielded": ("yield", "turn"),
        "Resumed": ("resume", "taken up"),
        "Left": ("break",),
        "Handling": ("tool",),
        "Broken": ("fault", "Error"),
        "Finished": ("NaturalEnd",),
        "Limited": ("Stopped", "NaturalEnd"),
        "Cancelled": ("Cancelled",),
    },
    within={
        "Asked": ("tool",),
        "Streaming": ("tool",),
        "Received": ("tool",),
        "Yielded": ("tool",),
        "Handling": ("tool",),
        "Left": ENDS,
        "Broken": ("tool", *ENDS),
    },
    silent=frozenset({"Settled", "Updated"}),
)
"""Labels of each state; a tool may run for a response while the user has the turn."""


class IterationMonitor(Monitor):
    """Checks the iterations of one runner against their chart."""

    clauses: ClassVar[frozenset[str]] = frozenset(TABLE.closed.values())

    reads = (GateClosed, RunnerGate, RunFinished)

    def __init__(self, state: ObservedRunner, trails: Trails) -> None:
        self.state = state
        self.trails = trails
        self.follower = Follower(READING)
        self.is_lost = False
        self.late_resume = False  # sent before the turn was whole
        self.early_yield = False  # shown before its request
        self.wrong = ""

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """Record a stimulus."""
        parts = self.state.parts
        run = self.state.run
        cancelled = run is not None and run.cancel_at is not None and run.cancelled_in == self.state.window
        if cancelled and self.state.met_a_race(self.state.window):
            self._lose()
        for name, inner in parts:
            self._sent(name, inner)

    def _sent(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "runner.again":
            self._see("taken up", surely=False)
        if method != "gate.release":
            return
        gate, kind = self.state.gates[params["gate"]], params["outcome"]["kind"]
        if gate.on == "yield":
            self._went_on(kind)
        elif gate.on == "model" and kind == "turn":
            self._answered()
        elif gate.on == "model" and kind == "fault":
            self._broke()
        elif kind in ("fault", "raise") and gate.phase == "response":
            self._lose()  # the chart does not say where a broken response leads

    def _broke(self) -> None:
        last = self.state.iteration
        if last is not None and last.deltas and not last.yields:
            self._lose()  # the stream may still be yielded, and break while it is read
        self._see("fault")

    def _went_on(self, kind: str) -> None:
        if kind == "break" and not self.state.alone and "streaming" in self.state.values("tools.start"):
            self._lose()  # a call may have started from the stream before
        if kind == "resume" and "Streaming" in self.follower.states:
            self.late_resume = True
        else:
            self._see(kind)

    def _answered(self) -> None:
        if self.state.is_cancelled:
            self._lose()  # it may or may not be yielded
        self._see("turn")
        if self.late_resume:
            self.late_resume = False
            self._see("resume")

    def observe(self, seen: Observation) -> Iterator[ClauseResult]:
        """Check an observation."""
        if isinstance(seen, GateClosed) and self._is_refused(seen):
            self._lose()
        label = self._label(seen)
        if not label or self.is_lost:
            return
        self._see(label)
        if label == "request" and self.early_yield:
            self.early_yield = False
            self._see("open")
        if not self.is_lost or self.wrong:
            yield clause_result(self.follower.reading.closed, self.wrong)._replace(is_deferred=True)

    def _is_refused(self, seen: GateClosed) -> bool:
        """Whether the server refused a request: its gate is given up, and no break or cancel did that."""
        gate, last = self.state.gates.get(seen.gate), self.state.iteration
        given_up = gate is not None and last is not None and gate is last.request and gate.outcome is None
        return given_up and last is not None and last.left_at is None and not self.state.is_cancelled

    def _label(self, seen: Observation) -> str:
        if isinstance(seen, RunFinished):
            return str(seen.reason.code)
        if not isinstance(seen, RunnerGate):
            return ""
        if seen.on != "yield":
            return {"model": "request", "tool": "tool"}.get(seen.on, "")
        if self.state.is_early(seen):
            self.early_yield = True
            return ""
        last = self.state.iteration
        if self.state.is_cancelled and last is not None and last.yields and seen.message is None:
            return ""  # a stream whose request the cancel kept from being sent
        return "yield" if last is not None and last.turn is not None else "open"

    def answered(self, report: Report) -> None:
        """Stop following the chart when the runner refused a stimulus."""
        if report.refused:
            self._lose()

    def _see(self, label: str, *, surely: bool = True) -> None:
        if self.is_lost:
            return
        before = self.follower.states
        self.follower.see(label, surely=surely)
        if not self.follower.states:
            self.wrong = (
                f"{label} came in {' or '.join(sorted(before)) or 'the beginning'}; "
                "the chart has no such transition"
            )
            self.is_lost = True
            return
        if self.follower.is_lost:
            self.trails.lose(TABLE, "runner")
        self.trails.take(TABLE, "runner", *(row for row in self.follower.taken if row is not None))

    def _lose(self) -> None:
        self.is_lost = True
        self.trails.lose(TABLE, "runner")
