"""Stimuli that a state refuses: which were sent, and to a call or a run in which state.

A stimulus counts where it is certain what it met: it came alone, to a runtime that had settled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import Handshake
from runlock.conformance.families.lifecycle.monitors.derived_statuses import status_of
from runlock.conformance.families.lifecycle.monitors.status_charts import CALLS, RUNS, RUNS_WITH_CREATED
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.family.clause_result import ClauseResult
from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.protocol import GateClosed
from runlock.machines.table import Refused, Table, react

UNKNOWN: Final = "unknown"
"""The state of a call that the model never asked for."""

STALE: Final = "decision of a past suspension"
AGAIN: Final = "the same decision again"
LATE: Final = "late result"

DECISIONS: Final = {"decide resume": "resume", "decide cancel": "resume"}
"""Decisions about a call, and the event that says which states wait for one."""


def refusing_calls(handshake: Handshake) -> Iterator[tuple[str, str]]:
    """Each state of a call with each stimulus that it refuses, as far as the runtime can be sent it."""
    if "decide" in handshake.stimuli:
        yield from _refused_decisions()
        if handshake.decisions.suspensions:
            yield from ((state, STALE) for state in CALLS.states if state != CALLS.initial)
        if handshake.decisions.ids:
            yield from ((state, AGAIN) for state in CALLS.states)
    if {"cancel", "deliver"} <= set(handshake.stimuli):
        yield "Cancelled", LATE


@cache
def _refused_decisions() -> tuple[tuple[str, str], ...]:
    """Each state of a call with each decision that it refuses because of its action."""
    return tuple(
        (state, stimulus)
        for stimulus, event in DECISIONS.items()
        for state in (*_refusing(CALLS, event), UNKNOWN)
    )


def refusing_runs(handshake: Handshake, table: Table) -> Iterator[tuple[str, str]]:
    """Each state of a run with each stimulus that it refuses, as far as the runtime can be sent it."""
    if "cancel" in handshake.stimuli:
        yield from ((state, "cancel") for state in _refusing(table, "cancelled"))
    if "run.input" in handshake.stimuli:
        yield from ((state, "run.input") for state in table.states if not table.is_final(state))


def _refusing(table: Table, event: str) -> list[str]:
    return [state for state in table.states if isinstance(react(table, state, event), Refused)]


class Refusals(Monitor):
    """Counts the stimuli of one scenario that a state refuses; judges nothing."""

    reads = (GateClosed,)

    def __init__(self, state: ObservedState, trails: Trails) -> None:
        self.state = state
        self.cells = trails.coverage.cells
        self.table = RUNS_WITH_CREATED if state.policy("run.created") == "yes" else RUNS

    @cached_property
    def of_calls(self) -> frozenset[tuple[str, str]]:
        """Each state of a call with each stimulus that it refuses."""
        return frozenset(refusing_calls(self.state.handshake))

    @cached_property
    def of_runs(self) -> frozenset[tuple[str, str]]:
        """Each state of a run with each stimulus that it refuses."""
        return frozenset(refusing_runs(self.state.handshake, self.table))

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        if not self.state.alone:
            return
        method, params = self.state.newest[0]
        run = self.state.runs.get(params.get("run", ""))
        if run is None:
            return
        if method in ("cancel", "run.input"):
            self._meets_run(run, method)
        if method == "decide":
            self._meets_calls(run, params.get("decisions", ()))

    def _meets_run(self, run: Run, stimulus: str) -> None:
        state = self._state_of(run)
        if (state, stimulus) in self.of_runs:
            self.cells[self.table.name, state, stimulus] += 1

    def _state_of(self, run: Run) -> str:
        if run.claimed is not None:
            return run.claimed
        return "Done" if run.is_done else "Running" if run.segment_open else "Waiting"

    def _meets_calls(self, run: Run, decisions: list[Mapping[str, Any]]) -> None:
        named = [raw["call"] for raw in decisions]
        for raw in decisions:
            call = run.calls.get(raw["call"])
            state = UNKNOWN if call is None else status_of(call)
            stimulus = self._stimulus(run, raw)
            if named.count(raw["call"]) == 1 and (state, stimulus) in self.of_calls:
                self.cells[CALLS.name, state or "", stimulus] += 1

    def _stimulus(self, run: Run, raw: Mapping[str, Any]) -> str:
        call = run.calls.get(raw["call"])
        if self.state.handed_over[raw["id"]] > 1:
            return AGAIN
        past = raw.get("suspension")
        if call is not None and past is not None and past < call.suspensions + (not call.waits):
            return STALE
        return f"decide {raw['action']}"

    def observe(self, seen: Any) -> Iterator[ClauseResult]:
        """A gate that was given up may have had its answer in the same delivery."""
        self._gave_up(seen)
        return iter(())

    def _gave_up(self, seen: GateClosed) -> None:
        gate = self.state.gates.get(seen.gate)
        newest = self.state.newest
        released = any(params.get("gate") == seen.gate for _, params in newest)
        cancelled = any(method == "cancel" for method, _ in newest)
        if gate is not None and gate.on == "tool" and gate.outcome is not None and released and cancelled:
            self.cells[CALLS.name, "Cancelled", LATE] += 1
