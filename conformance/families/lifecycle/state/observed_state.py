"""The observed state: what the kit knows, and how a trace takes it forward, one record at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runlock.conformance.families.lifecycle.state.edits import read
from runlock.conformance.families.lifecycle.state.fold.decisions import turned_down
from runlock.conformance.families.lifecycle.state.fold.expiry import with_expiries
from runlock.conformance.families.lifecycle.state.fold.inputs import inputs_answered
from runlock.conformance.families.lifecycle.state.fold.nesting import (
    of_the_run_around,
    pass_on,
    report_within,
)
from runlock.conformance.families.lifecycle.state.fold.observations import SHOWN
from runlock.conformance.families.lifecycle.state.fold.stimuli import SENT, settled
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.limits import left_by
from runlock.conformance.protocol import Observation, Report


class ObservedState(Knowledge):
    """The fold of one scenario's trace; `stimulus`, `observe` and `report` take it forward."""

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        self.stimuli += 1
        self.settled_before, self.quiescent = self.quiescent, False
        parts = (
            [(part["method"], part["params"]) for part in params["stimuli"]]
            if method == "deliver"
            else [(method, params)]
        )
        sent, parts = len(parts), with_expiries(self, parts)
        self.settled_before = self.settled_before and (sent == 1 or sent == len(parts))  # else they race
        self.alone = sent == 1 and self.settled_before
        self.refused_whole = False
        self.newest = [of_the_run_around(self, *part) for part in parts] if self.nested else parts
        self.shown = []
        self.audience.activities = []
        for run in self.runs.values():
            run.claims_before = len(run.claims)
        for name, inner in parts:
            fold = SENT.get(name)
            if fold is not None:
                fold(self, inner)
        if self.nested:
            pass_on(self, parts, alone=self.alone)
        self.known.clear()

    def read(self, seen: Observation) -> Observation:
        """An observation as checks are given it."""
        return read(self, seen)

    def observe(self, seen: Observation) -> None:
        """The SUT shows something."""
        run = self.runs.get(seen.run or "")
        if run is not None and run.seen_at_ms is None:
            run.seen_at_ms = self.now_ms
        if run is not None:
            run.segment.append(seen)
        for gate in left_by(self, seen):
            gate.is_left = True
        fold = SHOWN.get(type(seen))
        if fold is not None:
            fold(self, seen)
        self.shown.append(seen)
        self.known.clear()

    def answer(self, report: Report) -> None:
        """Record a whole answer: its observations in order, and its end."""
        for seen in report.observations:
            self.observe(self.read(seen))
        self.report(report)

    def report(self, report: Report) -> None:
        """The answer is complete."""
        self.quiescent = report.quiescent
        self.known.clear()
        for refusal in report.refused:
            turned_down(self, refusal)
        inputs_answered(self, report)
        if self.nested:
            report_within(self, report)
        if report.quiescent:
            self.last_settled = self.stimuli
            self.audience.possible = {self.audience.watcher}
            for run in self.runs.values():
                settled(self, run)
