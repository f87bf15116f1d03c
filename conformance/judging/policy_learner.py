"""The learner: a judge that ignores the declared policies, and looks for evidence of them.

It judges the universal core alone, as far as that holds under every policy.  A check that reads an open
policy runs under each value of it, with everything else equal: the values under which it objects are ruled
out, unless it objects under all of them.  The learner learns nothing after a violation, since the observed
state may be wrong from there on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from runlock.conformance.family.family import Family
from runlock.conformance.family.invariant import Invariant
from runlock.conformance.family.state import PolicyView, State
from runlock.conformance.judging.applicability import standing_of, standings
from runlock.conformance.judging.judge import NOTHING_OPEN, Asked, Judge, Violation
from runlock.conformance.judging.policy_hypotheses import Exclusion
from runlock.conformance.protocol import Handshake, Observation, Report, Scenario


def unconditional(family: Family, handshake: Handshake, aside: Collection[str] = ()) -> dict[str, bool]:
    """The clauses that are judged under any policies, without those that are set aside."""
    not_asked = {*aside, *family.inference.supposing}
    return {
        one: of.is_judged and of.clause.core and not of.clause.applies and one not in not_asked
        for one, of in standings(family, handshake, {}).items()
    }


@dataclass(frozen=True)
class Curriculum:
    """What the learners of one runtime share: the policies to find out, and the checks that may tell them."""

    family: Family
    handshake: Handshake
    known: Mapping[str, Any]  # the sets, and the policies that were found out before

    @cached_property
    def wanted(self) -> dict[str, tuple[str, ...]]:
        """The policies that are still open, with their values."""
        spec = self.family.spec.policies.values()
        return {
            one.key: tuple(one.values) for one in spec if one.kind == "one of" and one.key not in self.known
        }

    @cached_property
    def asked(self) -> Asked:
        """The checks that can be run on such a runtime, whatever its open policies are."""
        clauses = self.family.spec.clauses
        return Asked(self.family, {one: self._is_asked(one) for one in clauses}, NOTHING_OPEN)

    def _is_asked(self, clause_id: str) -> bool:
        clause, family = self.family.spec.clause(clause_id), self.family
        claiming = self.handshake.model_copy(update={"profile": family.default_profile})
        supposed = {key: values[0] for key, values in clause.applies.items()}
        return standing_of(family, clause, claiming, {**supposed, **self.known}).is_judged

    def open_conditions(self, check: Invariant) -> list[str]:
        """The open policies on whose values it depends whether the clause of a check applies."""
        return [key for key in self.family.spec.clause(check.clause).applies if key in self.wanted]

    def applies(self, check: Invariant, key: str, value: str) -> bool:
        """Whether the clause of a check applies under a value of a policy."""
        return value in self.family.spec.clause(check.clause).applies.get(key, (value,))


class Learner(Judge):
    """Learns which values one scenario rules out; with `sought`, ruling that out counts as the violation."""

    def __init__(
        self,
        curriculum: Curriculum,
        scenario: Scenario,
        applies: Mapping[str, bool],
        sought: str = "",
    ) -> None:
        super().__init__(curriculum.family, curriculum.handshake, curriculum.known, scenario, applies)
        self.curriculum = curriculum
        self.sought = sought

    def report(self, report: Report) -> None:
        """The answer is complete, and what it taught may be what was sought."""
        super().report(report)
        found = next((one for one in self.open.excluded if "=".join(one) == self.sought), None)
        if found is not None and self.violation is None:
            because = self.open.excluded[found].because
            self.violation = Violation(self.sought, because, self.state.stimuli)

    def _check(self, seen: Observation) -> None:
        super()._check(seen)
        self._learn(seen)

    def _check_at_rest(self) -> None:
        super()._check_at_rest()
        self._learn()

    def _learn(self, *seen: Observation) -> None:
        """Take what the newest observation, or the silence, says about the open policies."""
        if self.violation is not None:
            return
        asked, supposed = self.curriculum.asked, _Suppositions(self.state)
        checks = asked.about(self.state, *seen) if seen else asked.at_rest(self.state)
        for check in checks:
            for (key, value), reason in self._against(check, supposed, *seen):
                self.open.excluded.setdefault((key, value), Exclusion(check.clause, reason))

    def _against(
        self, check: Invariant, supposed: _Suppositions, *seen: Observation
    ) -> Iterator[tuple[tuple[str, str], str]]:
        """The values under which a check objects, unless there is another explanation."""
        wanted, conditions = self.curriculum.wanted, self.curriculum.open_conditions(check)
        view = PolicyView(self.state.policies)
        reason = check.first_reason(self.state.under(view), *seen)
        if reason and not conditions:
            return  # it objects under every policy
        for key in sorted({*(conditions if reason else ()), *(view.read & wanted.keys())}):
            if not set(conditions) <= {key}:
                continue  # whether the clause applies depends on another open policy
            reasons = {
                value: check.first_reason(supposed.that(key, value), *seen)
                for value in wanted[key]
                if self.curriculum.applies(check, key, value)
            }
            objections = {value: why for value, why in reasons.items() if why}
            if len(objections) < len(wanted[key]):
                yield from (((key, value), why) for value, why in objections.items())


class _Suppositions:
    """The state at one point, read as that of a runtime with another value of one policy."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._made: dict[tuple[str, str], State] = {}

    def that(self, key: str, value: str) -> State:
        """The state under one value of a policy."""
        if (key, value) not in self._made:
            self._made[key, value] = self.state.under(PolicyView({**self.state.policies, key: value}))
        return self._made[key, value]
