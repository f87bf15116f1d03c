"""The learner of this family: its evidence are signs, since its checks suppose more than one policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runlock.conformance.families.lifecycle.inference.evidence import Evidence
from runlock.conformance.families.lifecycle.inference.questions import signs
from runlock.conformance.judging import policy_learner
from runlock.conformance.judging.policy_learner import Curriculum
from runlock.conformance.protocol import Observation, Scenario


class Learner(policy_learner.Learner):
    """Learns from signs which values one scenario rules out."""

    def __init__(self, curriculum: Curriculum, scenario: Scenario, sought: str = "") -> None:
        super().__init__(curriculum, scenario, sought)
        self.evidence = Evidence(self.state)
        self.signs = [one for one in signs() if not one.lacks(curriculum.handshake)]

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        self.evidence.stimulus(method)
        super().stimulus(method, params)

    def _check_at_rest(self) -> None:
        """Where silence does not count, an answer may still say something, as that it refuses a decision."""
        super()._check_at_rest()
        if not self.silence_counts:
            self._learn()

    def _evidence(self, *seen: Observation) -> Iterator[policy_learner.Evidence]:
        kind = type(seen[0]) if seen else None
        for sign in self.signs:
            if sign.seeing is kind:
                for value, because in sign.check(self.evidence, *seen):
                    yield sign.clause, sign.policy, value, because
