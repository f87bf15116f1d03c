"""The learner: a judge that believes nothing of what a runtime says of its policies, and looks for signs.

It judges by the universal core alone, as far as that holds under every policy.  What comes after a
breach tells nothing, since the state may be wrong from there on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from runlock.conformance.families.lifecycle.inference.evidence import Evidence
from runlock.conformance.families.lifecycle.inference.questions import signs
from runlock.conformance.families.lifecycle.joint.conformance import CHECKED_BY_JOINT_STATES
from runlock.conformance.families.lifecycle.messages import Handshake, Scenario
from runlock.conformance.family.family import family_named
from runlock.conformance.judging.applicability import standings
from runlock.conformance.judging.judge import Judge, Violation
from runlock.conformance.judging.policy_hypotheses import Exclusion
from runlock.conformance.protocol import Observation, Report


def unconditional(handshake: Handshake, aside: Collection[str] = ()) -> dict[str, bool]:
    """The clauses that are asked whatever the policies are, without those that are set aside."""
    known = standings(family_named("lifecycle"), handshake, {})
    not_asked = {*aside, *CHECKED_BY_JOINT_STATES}  # which suppose every policy themselves
    return {
        one: of.is_judged and of.clause.core and not of.clause.applies and one not in not_asked
        for one, of in known.items()
    }


class Learner(Judge):
    """Learns which values one scenario rules out; with `wanted`, ruling that out counts as the violation."""

    def __init__(
        self,
        handshake: Handshake,
        known: Mapping[str, Any],
        scenario: Scenario,
        applies: Mapping[str, bool],
        wanted: str = "",
    ) -> None:
        super().__init__(family_named("lifecycle"), handshake, known, scenario, applies)
        self.evidence = Evidence(self.state)
        self.signs = [one for one in signs() if not one.lacks(handshake)]
        self.wanted = wanted

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        self.evidence.stimulus(method)
        super().stimulus(method, params)

    def report(self, report: Report) -> None:
        """The answer is complete, and what it taught may be what was sought."""
        super().report(report)
        sought = next((one for one in self.open.excluded if "=".join(one) == self.wanted), None)
        if sought is not None and self.violation is None:
            because = self.open.excluded[sought].because
            self.violation = Violation(self.wanted, because, self.state.stimuli)

    def _check(self, seen: Observation) -> None:
        super()._check(seen)
        self._learn(seen)

    def _check_at_rest(self) -> None:
        super()._check_at_rest()
        self._learn()

    def _learn(self, *seen: Observation) -> None:
        if self.violation is not None:
            return
        kind = type(seen[0]) if seen else None
        for sign in self.signs:
            if sign.seeing is kind:
                for value, because in sign.check(self.evidence, *seen):
                    self.open.excluded.setdefault((sign.policy, value), Exclusion(sign.clause, because))
