"""The bench for inferring the policies of a runtime."""

from __future__ import annotations

from typing import Any

from runlock.conformance.campaign.order import Inferring, Order
from runlock.conformance.campaign.units import Between, WatchedBench
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.tally import Found
from runlock.conformance.judging.judge import NOTHING_OPEN, Judge
from runlock.conformance.judging.policy_learner import CheckLearner, Curriculum, unconditional
from runlock.conformance.protocol import Scenario
from runlock.conformance.transport.journal import Journal


class LearningBench(WatchedBench):
    """A bench that ignores declared policies, except those whose values are sets."""

    searches = False  # evidence takes too many stimuli for an exhaustive search

    def __init__(self, order: Order[Inferring], between: Between, journal: Journal | None = None) -> None:
        self.settled = dict(order.plan.settled)
        self.sought = ""
        super().__init__(order, between, journal)
        self.undeclared = NOTHING_OPEN
        self.applies = {
            **unconditional(self.family, self.handshake, order.plan.aside),
            self.family.judging.determinism: False,
        }
        self.curriculum = Curriculum(self.family, self.handshake, self.policies, self.applies)

    def _policies(self) -> dict[str, Any]:
        said = super()._policies()
        sets = {key: value for key, value in said.items() if self.family.spec.policy(key).kind == "set of"}
        return {**sets, **self.settled}

    def judge(self, scenario: Scenario) -> Judge:
        """The learner of a scenario."""
        new_learner = self.family.inference.new_learner or CheckLearner
        learner: Judge = new_learner(self.curriculum, scenario, self.sought)
        return learner

    def witness(self, found: Found) -> Witness:
        """The evidence against a value, with its schedule shrunk."""
        self.sought = found.violation.clause
        try:
            return super().witness(found)
        finally:
            self.sought = ""
