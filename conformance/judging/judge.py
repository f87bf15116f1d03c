"""The judge: takes a scenario in, record by record, and gives what held and what is broken.

It asks the charts and the invariants about each observation, and the invariants about each quiescent
point.  The first thing that nothing explains is the violation; what comes after it is not judged, since
an account that went wrong once would blame the innocent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.families.lifecycle.invariants import (
    HELD,
    INVARIANTS,
    NOTHING,
    Invariant,
    name_of,
    newest_of,
)
from runlock.conformance.families.lifecycle.joint.conformance import JointOracle
from runlock.conformance.families.lifecycle.monitors.derived_statuses import Derived
from runlock.conformance.families.lifecycle.monitors.flow_charts import Paths
from runlock.conformance.families.lifecycle.monitors.refusals import Refusals
from runlock.conformance.families.lifecycle.monitors.status_charts import Judgement, Oracle
from runlock.conformance.families.lifecycle.state import Account
from runlock.conformance.family.coverage import Coverage, Trails
from runlock.conformance.judging.policy_hypotheses import Exclusion, OpenPolicies, Undeclared
from runlock.conformance.protocol import (
    Handshake,
    Observation,
    Report,
    Scenario,
)


@dataclass(frozen=True, slots=True)
class Violation:
    """A clause that is broken, why, and after which stimulus (from 1)."""

    clause: str
    because: str
    stimulus: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a judge has to say of a scenario, when it has heard so many answers of it."""

    answers: int
    violation: Violation | None
    exercised: Mapping[str, int]
    coverage: Coverage
    excluded: Mapping[tuple[str, str], Exclusion]


NOTHING_OPEN: Final = Undeclared({}, {})


class Asked:
    """The invariants that are asked of a runtime, in the order of blame, by what they look at.

    It is the same in all scenarios of a runtime.
    """

    def __init__(self, applies: Mapping[str, bool], undeclared: Undeclared) -> None:
        every = [
            check
            for check in INVARIANTS
            if applies.get(check.clause, True) or check.clause in undeclared.clauses
        ]
        self._names = {name for check in every for name in check.at}
        self._of_kind: defaultdict[type[Observation] | None, list[Invariant]] = defaultdict(list)
        for check in every:
            self._of_kind[check.seeing].append(check)
        self._asked: dict[tuple[type[Observation] | None, str, str, frozenset[str]], list[Invariant]] = {}

    def at_rest(self, account: Account) -> list[Invariant]:
        """What is asked at a quiescent point."""
        return self._of(None, "", NOTHING, account.came_to)

    def about(self, account: Account, seen: Observation) -> list[Invariant]:
        """What is asked about an observation."""
        name = name_of(seen)
        listed = name if name in self._names else ""  # a runtime may make up others without end
        return self._of(type(seen), listed, newest_of(account, seen), account.came_to)

    def _of(
        self, kind: type[Observation] | None, name: str, newest: str, came_to: frozenset[str]
    ) -> list[Invariant]:
        found = self._asked.get((kind, name, newest, came_to))
        if found is None:
            found = [check for check in self._of_kind[kind] if check.is_asked(name, newest, came_to)]
            self._asked[kind, name, newest, came_to] = found
        return found


class Judge:
    """Judges one scenario; `violation` is the first thing that is wrong, or nothing."""

    def __init__(
        self,
        handshake: Handshake,
        policies: Mapping[str, Any],
        scenario: Scenario,
        applies: Mapping[str, bool] | None = None,
        undeclared: Undeclared = NOTHING_OPEN,
        *,
        asked: Asked | None = None,
    ) -> None:
        self.account = Account(handshake, policies, scenario)
        self.trails = trails = Trails()
        self.coverage: Coverage = trails.coverage
        self.oracle = Oracle(self.account, trails)
        self.paths = Paths(self.account, trails)
        self.refusals = Refusals(self.account, self.coverage)
        self.derived = Derived(self.account, trails)
        self.applies = applies or {}
        self.joint = JointOracle(self.account, self.applies)
        self.open = OpenPolicies(undeclared)
        self.asked = asked or Asked(self.applies, undeclared)
        self.leaves_open = undeclared.policies.keys()
        self.answers = 0  # that were judged
        self.exercised: Counter[str] = Counter()
        self.violation: Violation | None = None
        self.held_back: Violation | None = None  # the first objection of a patient check
        self.unexplained: Violation | None = None  # by any joint state; what names the cause comes first
        self.silence_counts = handshake.control.settles_exactly

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        self.account.stimulus(method, params)
        if self.violation is None:
            self.refusals.stimulus()
            self.derived.stimulus(method)

    def observe(self, seen: Observation) -> None:
        """The runtime shows something."""
        if self.violation is None:
            self._look_at(seen)
        if self.violation is None:
            self._weigh_explanations(self.joint.judge(seen))
            self.refusals.observe(seen)
            self.derived.observe(seen)
        self.account.observe(seen)

    def _look_at(self, seen: Observation) -> None:
        self._ask(self.asked.about(self.account, seen), seen)
        if self.violation is None:
            self._weigh(self.oracle.judge(seen))
        if self.violation is None:
            self._weigh(self.paths.judge(seen))

    def report(self, report: Report) -> None:
        """The answer is complete, observations included already."""
        self.account.report(report.quiescent, report.refused)
        if self.violation is None and report.quiescent and self.silence_counts:
            self._look_at_rest()
        if self.violation is None and report.quiescent:
            self.violation = self.held_back
        if self.violation is None and report.quiescent:
            self._weigh(self.paths.settled())
        if self.violation is None and report.quiescent and self.silence_counts:
            self._weigh_explanations(self.joint.settled())
        if self.violation is None and report.quiescent:
            self.derived.settled()

    def _look_at_rest(self) -> None:
        self._ask(self.asked.at_rest(self.account))
        if self.violation is None:
            self._weigh(self.oracle.settled())

    def answer(self, report: Report) -> None:
        """Take a whole report in: its observations in order, then its end."""
        unexplained = self.unexplained
        if self.violation is None:
            self.answers += 1
            self.joint.answered(report)
        for seen in report.observations:
            self.observe(seen)
        self.report(report)
        self.violation = self.violation or unexplained

    def end(self) -> None:
        """There is nothing more to come that could name the cause of what nothing explains."""
        self.violation = self.violation or self.unexplained

    @property
    def ruling(self) -> Ruling:
        """What it has to say by now."""
        return Ruling(self.answers, self.violation, self.exercised, self.coverage, self.open.excluded)

    def _ask(self, checks: Iterable[Invariant], *seen: Observation) -> None:
        """Ask each check, until one objects."""
        if self.leaves_open:
            self._weigh(judged for check in checks for judged in self._ask_under_each_value(check, *seen))
            return
        account = self.account
        for check in checks:
            for because in check.check(account, *seen):
                self._hear(check.clause, because, is_patient=check.is_patient)
                if self.violation is not None:
                    return

    def _ask_under_each_value(self, check: Invariant, *seen: Observation) -> Iterator[Judgement]:
        """What a check says; under each value that is left, where it depends on a policy that is open."""
        if check.clause in self.open.undeclared.clauses:
            for because in self.open.weigh(check, self.account, *seen):
                yield Judgement(check.clause, because, always=True)
            return
        self.account.asked.clear()
        for because in check.judge(self.account, *seen):
            yield Judgement(check.clause, because, is_patient=check.is_patient)
        if self.account.asked & self.leaves_open:
            for because in self.open.weigh_dependence(check, self.account, *seen):
                yield Judgement(check.clause, because)

    def _weigh(self, judgements: Iterator[Judgement]) -> None:
        for judgement in judgements:
            if judgement.always or self.applies.get(judgement.clause, True):
                self._hear(judgement.clause, judgement.because, is_patient=judgement.is_patient)
                if self.violation is not None:
                    return

    def _weigh_explanations(self, judgements: Iterator[Judgement]) -> None:
        """Count what was explained; what was not waits for one more answer, which may name its cause."""
        for judgement in judgements:
            if self.applies.get(judgement.clause, True):
                self.exercised[judgement.clause] += 1
                if judgement.because != HELD and self.unexplained is None:
                    self.unexplained = Violation(judgement.clause, judgement.because, self.account.stimuli)

    def _hear(self, clause: str, because: str, *, is_patient: bool) -> None:
        """A clause was exercised; it held, or that is why not."""
        self.exercised[clause] += 1
        if because == HELD:
            return
        objection = Violation(clause, because, self.account.stimuli)
        if is_patient:
            self.held_back = self.held_back or objection
        else:
            self.violation = objection
