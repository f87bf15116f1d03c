"""The observed state: what the kit knows, and how a trace takes it forward, one record at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from runlock.conformance.families.message_loop.messages import Report
from runlock.conformance.families.message_loop.state.fold.observations import SHOWN
from runlock.conformance.families.message_loop.state.fold.stimuli import SENT
from runlock.conformance.families.message_loop.state.knowledge import Knowledge
from runlock.conformance.protocol import Observation


class ObservedState(Knowledge):
    """The fold of one scenario's trace; `stimulus`, `observe` and `report` take it forward."""

    def is_excused(self, kinds: Any, *seen: Observation) -> bool:
        """No check of this family excuses a disturbance by its kind."""
        return False

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something; a look at the turn moves nothing."""
        self.stimuli += 1
        self.is_looking = method == "inspect"
        if self.is_looking:
            return
        if self.quiescent:
            self.window += 1
        self.last_method, self.last_params, self.shown_last = method, params, []
        over = self.turns.get(params["run"]) if method == "cancel" else None
        self.cancels_what_is_over = over is not None and over.is_done
        parts: Iterable[Mapping[str, Any]] = [{"method": method, "params": params}]
        for part in params["stimuli"] if method == "deliver" else parts:
            self.clock += 1
            self.stimuli_in[self.window] += 1
            fold = SENT.get(part["method"])
            if fold is not None:
                fold(self, part["params"])
        self.quiescent = False

    def read(self, seen: Observation) -> Observation:
        """An observation as checks are given it: as it is."""
        return seen

    def observe(self, seen: Observation) -> None:
        """The runtime shows something."""
        self.clock += 1
        self.shown_last.append(seen)
        fold = SHOWN.get(type(seen))
        if fold is not None:
            fold(self, seen)

    def report(self, report: Report) -> None:
        """The answer is complete; its observations were taken in before."""
        self.quiescent = report.quiescent
        if not self.is_looking:
            self.last_refused = list(report.refused)
