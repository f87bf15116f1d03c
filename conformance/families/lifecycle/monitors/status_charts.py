"""What the charts allow: follows every status that a runtime claims along its chart, arrow by arrow.

A claim that no arrow explains is a violation of the clause that closes the state it left, and says what
the state would have taken.  Each arrow that was taken counts as exercised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    Published,
    ResumeEntered,
    RunMoved,
    SegmentEnded,
    StreamClosed,
)
from runlock.conformance.families.lifecycle.monitors.round_charts import FOLLOWED, TELLING, RoundFollowers
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.clause_result import ClauseResult, clause_result
from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.protocol import Observation
from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.lifecycle.charts.event_sink import ReconnectableEventSink
from runlock.machines.lifecycle.charts.resume_tool_call import ResumeToolCall
from runlock.machines.lifecycle.charts.run import Run as RunChart
from runlock.machines.lifecycle.charts.run import RunWithCreated
from runlock.machines.table import (
    Moved,
    Table,
    compile_chart,
    react,
)

CALLS: Final = compile_chart(ToolCall)
RUNS: Final = compile_chart(RunChart)
RUNS_WITH_CREATED: Final = compile_chart(RunWithCreated)
RESUME_GATE: Final = compile_chart(ResumeToolCall)
SINKS: Final = compile_chart(ReconnectableEventSink)

EVENT_OF_REASON: Final = {
    "NaturalEnd": "natural_end",
    "BehaviorRequested": "behavior_requested",
    "Stopped": "stopped",
    "Blocked": "blocked",
    "Cancelled": "cancelled",
    "Error": "failed",
}


CHECKED_BY_CHARTS: Final = (
    FOLLOWED
    | frozenset(
        clause
        for table in (CALLS, RUNS, RUNS_WITH_CREATED, RESUME_GATE)
        for clause in (*(row.clause for row in table.rows), *table.closed.values())
    )
    | frozenset(SINKS.closed.values())
)
"""The clauses that following the charts judges."""


Life = ObservedCall | Run | None
"""What moves along a chart: a call, a run, or the resume gate."""


class Oracle(Monitor):
    """Follows the statuses of calls and runs, the resume gate and the event sink of one scenario."""

    clauses = CHECKED_BY_CHARTS
    says = "what a runtime claims follows the chart {charts}, arrow by arrow"
    reads = (*TELLING, RunMoved, ResumeEntered, Published, StreamClosed)

    def __init__(self, state: ObservedState, trails: Trails) -> None:
        self.state = state
        self.trails = trails
        self.drained = False  # the resume gate was entered, and has not been left
        self.stations: dict[str | None, str] = {}  # where each decision that it drained stands
        self.unwatched: str | None = None  # the run whose last stream was closed with it
        self.life = state.life
        self.rounds = RoundFollowers(state, trails)

    def at_rest(self) -> Iterator[ClauseResult]:
        """Yield what held of final states: something was addressed to them, and they did not move."""
        run = self.state.run
        if run is None or not self.state.handshake.control.settles_exactly:
            return
        named = [raw["call"] for _, params in self.state.newest for raw in params.get("decisions", ())]
        addressed = run.cancel_at == self.state.stimuli
        for call in run.calls.values():
            if call.claimed is not None and CALLS.is_final(call.claimed) and (addressed or call.id in named):
                yield ClauseResult(CALLS.closed[call.claimed])
        touched = any(params.get("run") == run.id for _, params in self.state.newest)
        if run.claimed == "Done" and touched:
            yield ClauseResult(RUNS.closed["Done"])

    def observe(self, seen: Observation) -> Iterator[ClauseResult]:
        """Yield what the charts say of an observation."""
        if isinstance(seen, CallMoved):
            yield from self._call(seen)
        elif isinstance(seen, RunMoved):
            yield from self._run(seen)
        elif isinstance(seen, ResumeEntered):
            yield from self._resume(seen)
        elif isinstance(seen, Published):
            yield self._published(seen)
        elif isinstance(seen, StreamClosed):
            run = self.state.run_of(seen)
            self.unwatched = run.id if run is not None and run.is_done else self.unwatched
        elif isinstance(seen, SegmentEnded):
            self._leave_the_gate()
        if isinstance(seen, TELLING):
            yield from self.rounds.judge(seen)

    def _call(self, seen: CallMoved) -> Iterator[ClauseResult]:
        call = self.state.call_of(seen)
        run = self.state.run_of(seen)
        if call is None or run is None or call.is_unclear or call.claimed == seen.to:
            return
        if call.claimed is None:
            yield from self._first(call, CALLS, seen.to, bool(run.crashes))
        else:
            yield from self._move(call, CALLS, call.claimed, seen.to, None)

    def _run(self, seen: RunMoved) -> Iterator[ClauseResult]:
        run = self.state.runs.get(seen.run or "")
        if run is None or run.claimed == seen.to:
            return
        table = self._run_table(run, seen)
        if run.claimed is None:
            yield from self._first(run, table, seen.to, bool(run.crashes))
        else:
            event = EVENT_OF_REASON.get(seen.reason.code) if seen.reason is not None else None
            if run.claimed == "Created" and event not in (None, "cancelled"):
                event = "rejected"  # what never began has no other end but a cancel
            yield from self._move(run, table, run.claimed, seen.to, event)

    def _run_table(self, run: Run, seen: RunMoved) -> Table:
        """Created has a place only where the policy gives it one, or leaves it open."""
        declared = self.state.policy("run.created")
        shows = seen.to == "Created" or "Created" in run.claims
        return RUNS_WITH_CREATED if declared == "yes" or (declared is None and shows) else RUNS

    def _resume(self, seen: ResumeEntered) -> Iterator[ClauseResult]:
        if self.life != self.state.life:
            self.life = self.state.life
            self._leave_the_gate()
        was = self._stood(seen)
        if was is None or RESUME_GATE.is_final(was):
            right = seen.state == RESUME_GATE.initial
            why = "" if right else f"the resume gate was entered at {seen.state}, not {RESUME_GATE.initial}"
            self.trails.lose(RESUME_GATE, None)
            yield clause_result("RESUME-20", why)
        else:
            yield from self._move(None, RESUME_GATE, was, seen.state, None)
        self._stand(seen)

    @property
    def resume_gate_state(self) -> str | None:
        """Where the decision stands that moved last, or the gate itself if none has moved."""
        return next(reversed(self.stations.values()), RESUME_GATE.initial if self.drained else None)

    def _stood(self, seen: ResumeEntered) -> str | None:
        """Where the decision of a station stood; at another pass, what the one before it left open."""
        if seen.state == RESUME_GATE.initial:
            left = [state for state in self.stations.values() if not RESUME_GATE.is_final(state)]
            return left[0] if left else RESUME_GATE.initial if self.drained and not self.stations else None
        if seen.decision is None and self.stations:
            return [*self.stations.values()][-1]  # of the decision that moved last
        return self.stations.get(seen.decision, RESUME_GATE.initial if self.drained else None)

    def _stand(self, seen: ResumeEntered) -> None:
        """Each decision goes through the gate by itself; one commit may be for all that were resolved."""
        if seen.state == RESUME_GATE.initial:
            self.drained, self.stations = True, {}
            return
        moved = seen.decision if seen.decision is not None else next(reversed(self.stations), None)
        self.stations.pop(moved, None)
        self.stations[moved] = seen.state
        if seen.state == "CommitReplay":
            resolved = [one for one, at in self.stations.items() if at == "SnapshotIfStateChanged"]
            self.stations |= dict.fromkeys(resolved, seen.state)

    def _leave_the_gate(self) -> None:
        self.drained, self.stations = False, {}

    def _published(self, seen: Published) -> ClauseResult:
        run = self.state.run_of(seen)
        closed = run is not None and run.id == self.unwatched
        state = "Closed" if closed else "Dropped" if seen.watcher is None else "Connected"
        answer = react(SINKS, state, "emit")
        why = "" if isinstance(answer, Moved) else f"event {seen.name} came late: {answer}"
        return clause_result(SINKS.closed[state], why)

    def _first(self, who: Life, table: Table, to: str, recovered: bool) -> Iterator[ClauseResult]:
        self.trails.lose(table, who)
        if not recovered:
            self._taken(table, who, table.initial, to, None)
        known = {table.initial} | (table.targets(table.initial) if table is CALLS else set())
        if to in known or (recovered and to in table.states):
            return
        why = f"{_named(who)} was first reported {to}, yet it begins as {table.initial}"
        yield clause_result(table.closed[table.initial], why)

    def _move(self, who: Life, table: Table, was: str, to: str, event: str | None) -> Iterator[ClauseResult]:
        arrows = table.arrow(was, to)
        if not arrows:
            yield clause_result(
                table.closed.get(was, table.closed[table.initial]), _refusal(_named(who), table, was, to)
            )
            return
        self._taken(table, who, was, to, event)
        taken = next((row for row in arrows if row.event == event), arrows[0])
        yield ClauseResult(table.closed[was])
        yield ClauseResult(taken.clause)

    def _taken(self, table: Table, who: Life, was: str, to: str, event: str | None) -> None:
        """Note the arrow that was taken, if no other one can have been."""
        arrows = table.arrow(was, to)
        sure = arrows if len(arrows) == 1 else [row for row in arrows if row.event == event]
        if sure:
            self.trails.take(table, who, *sure)
        else:
            self.trails.lose(table, who)


def _named(who: Life) -> str:
    if who is None:
        return "the resume gate"
    return f"call {who.id}" if isinstance(who, ObservedCall) else "the run"


def _refusal(subject: str, table: Table, was: str, to: str) -> str:
    if table.is_final(was):
        return f"{subject} was {was}, which is final, yet it became {to}"
    ways = ", ".join(state for state in table.states if state in table.targets(was))
    return f"{subject} was {was}, which leads to {ways}, yet it became {to}"
