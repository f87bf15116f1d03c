"""The bench on which a runtime is played so that its policies are found out."""

from __future__ import annotations

from typing import Any

from runlock.conformance.campaign.result import Witness
from runlock.conformance.campaign.stages import Order
from runlock.conformance.campaign.worker import Between, WatchedBench
from runlock.conformance.driving.bench import Found
from runlock.conformance.families.lifecycle.inference.learner import Learner, unconditional
from runlock.conformance.judging.determinism import DETERMINISM
from runlock.conformance.judging.judge import NOTHING_OPEN
from runlock.conformance.protocol import Scenario
from runlock.conformance.transport.journal import Journal
from runlock.spec.model import load_spec


class LearningBench(WatchedBench):
    """A bench that takes nothing at the runtime's word but what the sets among its policies hold."""

    searches = False  # what tells policies apart takes too many stimuli for a search of them all

    def __init__(self, order: Order, between: Between, journal: Journal | None = None) -> None:
        self.settled = dict(order.settled or ())
        self.wanted = ""
        super().__init__(order, between, journal)
        self.undeclared = NOTHING_OPEN
        self.applies = {**unconditional(self.handshake, order.aside), DETERMINISM: False}

    def _policies(self) -> dict[str, Any]:
        said = super()._policies()
        sets = {key: value for key, value in said.items() if load_spec().policy(key).kind == "set of"}
        return {**sets, **self.settled}

    def judge(self, scenario: Scenario) -> Learner:
        """Who learns from a scenario."""
        return Learner(self.handshake, self.policies, scenario, self.applies, self.wanted)

    def witness(self, found: Found) -> Witness:
        """What rules a value out, with the shortest schedule that leaving things out leads to."""
        self.wanted = found.violation.clause
        try:
            return super().witness(found)
        finally:
            self.wanted = ""
