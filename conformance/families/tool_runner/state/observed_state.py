"""The observed state: what the kit knows, and how a trace takes it forward, one record at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.tool_runner.messages import USER_VERBS
from runlock.conformance.families.tool_runner.state.fold.observations import SHOWN
from runlock.conformance.families.tool_runner.state.fold.stimuli import SENT, turned_down
from runlock.conformance.families.tool_runner.state.knowledge import Knowledge
from runlock.conformance.protocol import Observation, Report

MAY_BE_REFUSED: Final = ("runner.again", "cancel", *USER_VERBS)
MOVES_NOTHING: Final = ("inspect", "settle", "clock.advance")


class ObservedRunner(Knowledge):
    """The fold of one scenario's trace; `stimulus`, `observe` and `report` take it forward."""

    def is_excused(self, kinds: Any, *seen: Observation) -> bool:
        """No check of this family excuses a disturbance by its kind."""
        return False

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        self.stimuli += 1
        self.window += self.quiescent
        self.settled_before, self.quiescent = self.quiescent, False
        self.parts = [(method, params)]
        if method == "deliver":
            self.parts = [(part["method"], part["params"]) for part in params["stimuli"]]
        self.alone = len(self.parts) == 1 and self.settled_before
        self.late_cancel, self.shown = False, 0
        self.sent_in[self.window] += sum(name not in MOVES_NOTHING for name, _ in self.parts)
        for place, (name, inner) in enumerate(self.parts):
            if name in MAY_BE_REFUSED:
                self.sent.append((self.window, self.stimuli, place, name))
            fold = SENT.get(name)
            if fold is not None:
                fold(self, inner, place)
        self.known.clear()

    def read(self, seen: Observation) -> Observation:
        """An observation as checks are given it: as it is."""
        return seen

    def observe(self, seen: Observation) -> None:
        """The runner shows something."""
        fold = SHOWN.get(type(seen))
        if fold is not None:
            fold(self, seen)
        self.shown += 1
        self.known.clear()

    def report(self, report: Report) -> None:
        """The answer is complete; its observations were taken in before."""
        self.known.clear()
        self.quiescent = report.quiescent
        for refusal in report.refused:
            turned_down(self, refusal.stimulus)
        if report.quiescent:
            for run in self.runs.values():
                run.cancel_settled = run.cancel_settled or run.cancel_at is not None
            if self.run is not None and not self.open_gates and not self.shows_ends:
                self.run.gone_quiet = True
