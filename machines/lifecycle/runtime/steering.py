"""What the user says to a run of the reference while it is at work: kept, shown, and settled at its end."""

from __future__ import annotations

from runlock.machines.lifecycle.runtime.agents import Agents
from runlock.machines.lifecycle.runtime.state import Reason


class Steering(Agents):
    """Holds inputs until the next inference, in front of which they enter the thread."""

    inferring = False

    def objection_to_input(self) -> str | None:
        """Why input is refused while the run is at work, or None."""
        if self.state.status in (None, "Done") or self.is_coming_down:
            return "the run is over"
        is_late = self.inferring or self.state.turn_was_last
        if is_late and self.policies["input.late"] == "refused":
            return "the model is being asked, or has asked for nothing more"
        return None

    def show_inputs(self) -> None:
        """What was said enters the thread, right before the model is asked."""
        for text in self.state.inputs:
            self.append({"role": "user", "text": text})
        self.state.turn_was_last = self.state.turn_was_last and not self.state.inputs
        self.state.inputs = []

    @property
    def goes_on(self) -> bool:
        """Whether a run whose model asked for nothing more has something to ask it."""
        return bool(self.state.inputs) and self.policies["input.late"] == "goes_on"

    def settle_inputs(self, reason: Reason) -> None:
        """A run is over: what was not shown is kept, or goes."""
        if reason.code != "NaturalEnd":
            self.give_up_inputs()

    def give_up_inputs(self) -> None:
        """Drop what was not shown, or give it back, unless it is kept for the next inference."""
        fate, left = self.policies["input.fate"], self.state.inputs
        if fate == "next_run":
            return
        self.state.inputs = []
        for text in left if fate == "returned" else ():
            self.observe("input.returned", text=text)
