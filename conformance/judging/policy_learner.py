"""The learner: a judge that ignores the declared policies, and looks for evidence of them.

It judges the universal core alone, as far as that holds under every policy.  A check that reads an open
policy runs under each value of it, with everything else equal: the values under which it objects are ruled
out, unless it objects under all of them.  The learner learns nothing after a violation, since the observed
state may be wrong from there on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
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

Evidence = tuple[str, str, str, str]
"""The clause of a check, a policy, the value of it that is ruled out, and why."""


def unconditional(family: Family, handshake: Handshake, aside: Collection[str] = ()) -> dict[str, bool]:
    """The clauses that are judged under any policies, without those that are set aside."""
    not_asked = {*aside, *family.inference.supposing}
    return {
        one: of.is_judged and of.clause.core and not of.clause.applies and one not in not_asked
        for one, of in standings(family, handshake, {}).items()
    }


@dataclass(frozen=True)
class Curriculum:
    """What the learners of one runtime share: the open policies, and the checks that may tell them."""

    family: Family
    handshake: Any  # the family's own model
    known: Mapping[str, Any]  # the sets, and the policies that were found out before
    applies: Mapping[str, bool]  # the clauses that are judged

    @cached_property
    def wanted(self) -> dict[str, tuple[str, ...]]:
        """The policies that are still open, with their values."""
        spec = [one for one in self.family.spec.policies.values() if one.kind == "one of"]
        return {one.key: tuple(one.values) for one in spec if one.key not in self.known}

    @cached_property
    def conditions(self) -> dict[str, dict[str, frozenset[str]]]:
        """By clause, the open policies that it depends on, with the values under which it applies."""
        return {
            clause.id: {key: frozenset(of) for key, of in clause.applies.items() if key in self.wanted}
            for clause in self.family.spec.clauses.values()
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


class Learner(Judge):
    """Learns which values one scenario rules out; with `sought`, ruling that out counts as the violation."""

    def __init__(
        self, curriculum: Curriculum, scenario: Scenario, sought: str = "", asked: Asked | None = None
    ) -> None:
        family, handshake, known = curriculum.family, curriculum.handshake, curriculum.known
        super().__init__(family, handshake, known, scenario, curriculum.applies, asked=asked)
        self.sought = sought

    def answer(self, report: Report) -> None:
        """Judge an answer; what it taught may be what was sought."""
        super().answer(report)
        found = next((one for one in self.open.excluded if "=".join(one) == self.sought), None)
        if found is not None and self.violation is None:
            because = self.open.excluded[found].reason
            self.violation = Violation(self.sought, because, self.state.stimuli)

    def _check(self, seen: Observation) -> None:
        super()._check(seen)
        self._learn(seen)

    def _check_at_rest(self) -> None:
        super()._check_at_rest()
        if self.silence_counts:
            self._learn()

    def _learn(self, *seen: Observation) -> None:
        """Take in what the newest observation, or the silence, says about the open policies."""
        if self.violation is None:
            for clause, policy, value, because in self._evidence(*seen):
                self.open.excluded.setdefault((policy, value), Exclusion(clause, because))

    def _evidence(self, *seen: Observation) -> Iterable[Evidence]:
        raise NotImplementedError


class CheckLearner(Learner):
    """Learns from the checks of the family."""

    def __init__(self, curriculum: Curriculum, scenario: Scenario, sought: str = "") -> None:
        super().__init__(curriculum, scenario, sought, curriculum.asked)
        self.curriculum = curriculum
        self.news: list[Evidence] = []

    def _evidence(self, *seen: Observation) -> Iterable[Evidence]:
        return self.news

    def _run_checks(self, checks: Iterable[Invariant], *seen: Observation) -> None:
        """Run the checks under what is known, and those that read an open policy under each value of it."""
        self.news = []
        view, supposed = PolicyView(self.state.policies), _Suppositions(self.state)
        state = self.state.under(view)
        for check in checks:
            view.read.clear()
            found = list(check.run(state, *seen))
            if self.applies.get(check.clause):
                for one in found:
                    self._record(check.clause, one, check.rank, is_deferred=check.is_deferred)
                if self.violation is not None:
                    return
            objects = not all(one.ok for one in found)
            self.news += self._against(check, supposed, view.read, objects, *seen)

    def _against(
        self,
        check: Invariant,
        supposed: _Suppositions,
        read: Collection[str],
        objects: bool,
        *seen: Observation,
    ) -> Iterator[Evidence]:
        """The values under which a check objects, unless there is another explanation."""
        wanted, conditions = self.curriculum.wanted, self.curriculum.conditions[check.clause]
        if objects and not conditions:
            return  # it objects under every policy
        for key in sorted({*(conditions if objects else ()), *(wanted.keys() & read)}):
            if not conditions.keys() <= {key}:
                continue  # whether the clause applies depends on another open policy
            applying = conditions.get(key, wanted[key])
            reasons = {value: supposed.reason(check, key, value, *seen) for value in applying}
            if len(applying) < len(wanted[key]) or not all(reasons.values()):
                yield from ((check.clause, key, value, why) for value, why in reasons.items() if why)


class _Suppositions:
    """The state at one point, read as that of a runtime with another value of one policy."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._made: dict[tuple[str, str], State] = {}

    def reason(self, check: Invariant, key: str, value: str, *seen: Observation) -> str:
        """Why a check objects under one value of a policy, or an empty string."""
        if (key, value) not in self._made:
            self._made[key, value] = self.state.under(PolicyView({**self.state.policies, key: value}))
        return check.first_reason(self._made[key, value], *seen)
