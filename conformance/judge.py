"""The judge: takes a scenario in, record by record, and gives what held and what is broken.

It asks the charts and the invariants about each observation, and the invariants about each quiescent
point.  The first thing that nothing explains is the violation; what comes after it is not judged, since
an account that went wrong once would blame the innocent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from interlock.conformance.account import Account
from interlock.conformance.coverage import Coverage, Trails
from interlock.conformance.derived import Derived
from interlock.conformance.invariants import HELD, INVARIANTS, Invariant
from interlock.conformance.joint_oracle import JointOracle
from interlock.conformance.open_policies import OpenPolicies, Undeclared
from interlock.conformance.oracle import Judgement, Oracle
from interlock.conformance.paths import Paths
from interlock.conformance.protocol import Handshake, Observation, Report, Scenario
from interlock.conformance.refusals import Refusals


@dataclass(frozen=True, slots=True)
class Violation:
    """A clause that is broken, why, and after which stimulus (from 1)."""

    clause: str
    because: str
    stimulus: int


NOTHING_OPEN: Final = Undeclared({}, {})


class Asked:
    """The invariants that are asked of a runtime, in the order of blame, by what they look at."""

    def __init__(self, applies: Mapping[str, bool], undeclared: Undeclared) -> None:
        self.seeing: defaultdict[type[Observation] | None, list[Invariant]] = defaultdict(list)
        for check in INVARIANTS:
            if applies.get(check.clause, True) or check.clause in undeclared.clauses:
                self.seeing[check.seeing].append(check)


class Judge:
    """Judges one scenario; `violation` is the first thing that is wrong, or nothing."""

    def __init__(
        self,
        handshake: Handshake,
        policies: Mapping[str, Any],
        scenario: Scenario,
        applies: Mapping[str, bool] | None = None,
        undeclared: Undeclared = NOTHING_OPEN,
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
        self.asked = Asked(self.applies, undeclared)
        self.leaves_open = undeclared.policies.keys()
        self.exercised: Counter[str] = Counter()
        self.violation: Violation | None = None
        self.held_back: Violation | None = None  # the first objection of a patient check
        self.unexplained: Violation | None = None  # by any joint state; what names the cause comes first
        self.silence_counts = handshake.control.settle == "exact"

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        self.account.stimulus(method, params)
        if self.violation is None:
            self.refusals.stimulus()
            self.derived.stimulus(method)

    def observe(self, seen: Observation) -> None:
        """The runtime shows something."""
        if self.violation is None:
            self._weigh(self._about(seen))
        if self.violation is None:
            self._weigh_explanations(self.joint.judge(seen))
            self.refusals.observe(seen)
            self.derived.observe(seen)
        self.account.observe(seen)

    def report(self, report: Report) -> None:
        """The answer is complete, observations included already."""
        self.account.report(report.quiescent, report.refused)
        if self.violation is None and report.quiescent and self.silence_counts:
            self._weigh(self._settled())
        if self.violation is None and report.quiescent:
            self.violation = self.held_back
        if self.violation is None and report.quiescent:
            self._weigh(self.paths.settled())
        if self.violation is None and report.quiescent and self.silence_counts:
            self._weigh_explanations(self.joint.settled())
        if self.violation is None and report.quiescent:
            self.derived.settled()

    def answer(self, report: Report) -> None:
        """Take a whole report in: its observations in order, then its end."""
        unexplained = self.unexplained
        if self.violation is None:
            self.joint.answered(report)
        for seen in report.observations:
            self.observe(seen)
        self.report(report)
        self.violation = self.violation or unexplained

    def end(self) -> None:
        """There is nothing more to come that could name the cause of what nothing explains."""
        self.violation = self.violation or self.unexplained

    def _about(self, seen: Observation) -> Iterator[Judgement]:
        yield from self._ask(type(seen), seen)
        yield from self.oracle.judge(seen)
        yield from self.paths.judge(seen)

    def _settled(self) -> Iterator[Judgement]:
        yield from self._ask(None)
        yield from self.oracle.settled()

    def _ask(self, kind: type[Observation] | None, *seen: Observation) -> Iterator[Judgement]:
        """What each check that looks at this kind says."""
        for check in self.asked.seeing[kind]:
            if self.leaves_open:
                yield from self._ask_under_each_value(check, *seen)
            else:
                for because in check.check(self.account, *seen):
                    yield Judgement(check.clause, because, is_patient=check.is_patient)

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
            if not judgement.always and not self.applies.get(judgement.clause, True):
                continue
            self.exercised[judgement.clause] += 1
            if judgement.because == HELD:
                continue
            if judgement.is_patient:
                objection = Violation(judgement.clause, judgement.because, self.account.stimuli)
                self.held_back = self.held_back or objection
            else:
                self.violation = Violation(judgement.clause, judgement.because, self.account.stimuli)
                return

    def _weigh_explanations(self, judgements: Iterator[Judgement]) -> None:
        """Count what was explained; what was not waits for one more answer, which may name its cause."""
        for judgement in judgements:
            if self.applies.get(judgement.clause, True):
                self.exercised[judgement.clause] += 1
                if judgement.because != HELD and self.unexplained is None:
                    self.unexplained = Violation(judgement.clause, judgement.because, self.account.stimuli)
