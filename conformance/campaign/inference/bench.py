"""The bench on which a runtime is played so that its policies are found out."""

from __future__ import annotations

from typing import Any

from runlock.conformance.campaign.stages import Order
from runlock.conformance.campaign.units import Between, WatchedBench
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.tally import Found
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import Inference
from runlock.conformance.judging.judge import NOTHING_OPEN, Judge
from runlock.conformance.protocol import Scenario
from runlock.conformance.transport.journal import Journal


class LearningBench(WatchedBench):
    """A bench that takes nothing at the runtime's word but what the sets among its policies hold."""

    searches = False  # what tells policies apart takes too many stimuli for a search of them all

    def __init__(self, order: Order, between: Between, journal: Journal | None = None) -> None:
        self.settled = dict(order.settled or ())
        self.wanted = ""
        super().__init__(order, between, journal)
        self.undeclared = NOTHING_OPEN
        self.applies = {
            **self.inference.unconditional(self.handshake, order.aside),
            self.family.determinism: False,
        }

    def _policies(self) -> dict[str, Any]:
        said = super()._policies()
        sets = {key: value for key, value in said.items() if self.family.spec.policy(key).kind == "set of"}
        return {**sets, **self.settled}

    @property
    def inference(self) -> Inference:
        """How policies of this family are found out."""
        if self.family.inference is None:
            raise UsageError(
                f"Policies of the family {self.family.name} cannot be inferred yet.", "Declare them."
            )
        return self.family.inference

    def judge(self, scenario: Scenario) -> Judge:
        """Who learns from a scenario."""
        learner: Judge = self.inference.new_learner(
            self.handshake, self.policies, scenario, self.applies, self.wanted
        )
        return learner

    def witness(self, found: Found) -> Witness:
        """What rules a value out, with the shortest schedule that leaving things out leads to."""
        self.wanted = found.violation.clause
        try:
            return super().witness(found)
        finally:
            self.wanted = ""
