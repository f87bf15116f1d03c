"""Which arrows a runtime took that shows no statuses, derived from what was witnessed at its gates.

Only what leaves no doubt is derived: a body that was entered was Running, an answer that was given ended
its call, a segment that ended says how its run stands.  Where a crash or new input leaves it open how a
life went on, nothing is derived of it any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runlock.conformance.families.lifecycle.messages import GateOpened, SegmentEnded
from runlock.conformance.families.lifecycle.monitors.status_charts import CALLS, EVENT_OF_REASON, RUNS
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CRASH, INPUT
from runlock.conformance.families.lifecycle.state.records import WORKING_GATES, ObservedCall, Run
from runlock.conformance.family.clause_result import ClauseResult
from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.protocol import Observation
from runlock.machines.table import Moved, Row, react


def status_of(call: ObservedCall) -> str | None:
    """Where a call stands, by its own claim or by what was witnessed; nothing where that leaves a doubt."""
    if call.claimed is not None:
        return call.claimed
    if call.executing:
        return "Running"
    if call.ended_as is not None:
        return call.ended_as
    if call.waits:
        return "Suspended"
    if call.rejection is not None and not call.listed_pending:
        return "Cancelled"
    untouched = not (call.entries or call.judged or call.decisions or call.suspensions)
    return "New" if untouched or any(gate.is_open for gate in call.judged[:1]) else None


class Derived(Monitor):
    """Follows one scenario of a runtime that leaves out what its runs, or its calls, are."""

    reads = (GateOpened, SegmentEnded)

    def __init__(self, state: ObservedState, trails: Trails) -> None:
        self.state = state
        self.trails = trails
        self.follows_runs = not state.observes("run.status")
        self.follows_calls = not state.observes("call.status")
        self.runs: dict[Run, str] = {}
        self.calls: dict[
            ObservedCall, tuple[str, int]
        ] = {}  # where each stands, and how often it was entered

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something: after new input it is open what a run does."""
        run = self.state.run
        if run is not None and run.disturbed_by(CRASH, INPUT):
            self.runs.pop(run, None)
            self.trails.lose(RUNS, run)

    # -- runs

    def observe(self, seen: Observation) -> Iterator[ClauseResult]:
        """The SUT shows something; nothing is judged."""
        self._follow(seen)
        return iter(())

    def _follow(self, seen: Observation) -> None:
        run = self.state.runs.get(seen.run or "")
        if not self.follows_runs or run is None or run.disturbed_by(CRASH, INPUT):
            return
        if isinstance(seen, GateOpened) and seen.on in WORKING_GATES:
            self._works(run)
        elif isinstance(seen, SegmentEnded):
            self._ends(run, seen.reason.code)

    def _works(self, run: Run) -> None:
        if self.runs.get(run) == "Waiting":
            self._send(run, ["resume"] if self._was_decided() else [])
        self.runs[run] = "Running"

    def _was_decided(self) -> bool:
        return any(params.get("decisions") for _, params in self.state.newest)

    def _ends(self, run: Run, code: str) -> None:
        event, waited = EVENT_OF_REASON.get(code), self.runs.get(run) == "Waiting"
        if code == "Suspended":
            self._send(run, [] if waited else ["suspend"])
            self.runs[run] = "Waiting"
            return
        cancelled = code == "Cancelled" and run.cancel_alone and not self._was_decided()
        sure = event is not None and (not waited or cancelled)
        resumed = waited and event is not None and self._was_decided() and self.state.alone
        self._send(run, [str(event)] if sure else ["resume", str(event)] if resumed else [])
        self.runs[run] = "Done"

    def _send(self, run: Run, events: Sequence[str]) -> None:
        """Take these arrows from where the run stands; none means that they are unknown."""
        state, rows = self.runs.get(run, RUNS.initial), list[Row]()
        for event in events:
            answer = react(RUNS, state, event)
            if not isinstance(answer, Moved):
                break
            rows.append(answer.row)
            state = answer.state
        if not rows:
            self.trails.lose(RUNS, run)
        self.trails.take(RUNS, run, *rows)

    # -- calls

    def at_rest(self) -> Iterator[ClauseResult]:
        """The runtime is quiescent: look where each call stands now; nothing is judged."""
        self._look_at_calls()
        return iter(())

    def _look_at_calls(self) -> None:
        run = self.state.run
        if not self.follows_calls or run is None or run.disturbed_by(CRASH):
            return
        for call in run.calls.values():
            if not call.is_unclear:
                self._look_at(call)

    def _look_at(self, call: ObservedCall) -> None:
        now = status_of(call)
        was, entries = self.calls.get(call, (CALLS.initial, 0))
        if now is None or (now == was and len(call.entries) == entries):
            return
        self.calls[call] = (now, len(call.entries))
        rows = list(_between(was, now, len(call.entries) - entries))
        if not rows:
            self.trails.lose(CALLS, call)
        self.trails.take(CALLS, call, *rows)


def _between(was: str, now: str, entered: int) -> Iterator[Row]:
    """The arrows from one status to another, if only one way leads there; nothing otherwise."""
    way = [was]
    if was == "Suspended" and now != "Cancelled":
        way.append("Resuming")
    if entered == 1 and now != "Running":
        way.append("Running")
    if entered > 1 or (was == "Running" and entered):
        return
    arrows = [CALLS.arrow(source, target) for source, target in zip(way, [*way[1:], now], strict=True)]
    if all(len(rows) == 1 for rows in arrows):
        yield from (rows[0] for rows in arrows)
