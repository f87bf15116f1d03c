"""The judge: takes a scenario in, record by record, and gives what held and what is broken.

It asks the charts and the invariants about each observation, and the invariants about each quiescent
point.  The first thing that nothing explains is the violation; what comes after it is not judged, since
the state that went wrong once would blame the innocent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from runlock.conformance.family.coverage import Coverage, Trails
from runlock.conformance.family.family import Family
from runlock.conformance.family.invariant import HELD, NOTHING, Invariant
from runlock.conformance.family.judgement import Judgement
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.family.state import PolicyView, State
from runlock.conformance.judging.policy_hypotheses import Exclusion, OpenPolicies, Undeclared
from runlock.conformance.protocol import Handshake, Observation, Report, Scenario


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


Followed = TypeVar("Followed", bound=Monitor)

NOTHING_OPEN: Final = Undeclared({}, {})


class Asked:
    """The invariants that are asked of a runtime, in the order of blame, by what they look at.

    It is the same in all scenarios of a runtime.
    """

    def __init__(self, family: Family, applies: Mapping[str, bool], undeclared: Undeclared) -> None:
        self.selectors = family.selectors
        every = [
            check
            for check in family.invariants
            if applies.get(check.clause, True) or check.clause in undeclared.clauses
        ]
        self._names = {name for check in every for name in check.at}
        self._of_kind: defaultdict[type[Observation] | None, list[Invariant]] = defaultdict(list)
        for check in every:
            self._of_kind[check.seeing].append(check)
        self._asked: dict[tuple[type[Observation] | None, str, str, frozenset[str]], list[Invariant]] = {}

    def at_rest(self, state: State) -> list[Invariant]:
        """What is asked at a quiescent point."""
        return self._of(None, "", NOTHING, state.features)

    def about(self, state: State, seen: Observation) -> list[Invariant]:
        """What is asked about an observation."""
        name = self.selectors.name_of(seen)
        listed = name if name in self._names else ""  # a runtime may make up others without end
        return self._of(type(seen), listed, self.selectors.newest_of(state, seen), state.features)

    def _of(
        self, kind: type[Observation] | None, name: str, newest: str, features: frozenset[str]
    ) -> list[Invariant]:
        found = self._asked.get((kind, name, newest, features))
        if found is None:
            found = [check for check in self._of_kind[kind] if check.is_asked(name, newest, features)]
            self._asked[kind, name, newest, features] = found
        return found


class Judge:
    """Judges one scenario; `violation` is the first thing that is wrong, or nothing."""

    def __init__(
        self,
        family: Family,
        handshake: Handshake,
        policies: Mapping[str, Any],
        scenario: Scenario,
        applies: Mapping[str, bool] | None = None,
        undeclared: Undeclared = NOTHING_OPEN,
        *,
        asked: Asked | None = None,
    ) -> None:
        self.state = family.new_state(handshake, policies, scenario)
        self.trails = trails = Trails()
        self.coverage: Coverage = trails.coverage
        self.applies = applies or {}
        made = [new_monitor(self.state, trails, self.applies) for new_monitor in family.monitors]
        self.monitors = [one for one in made if not one.explains]
        self.explaining = [one for one in made if one.explains]
        self.open = OpenPolicies(undeclared)
        self.asked = asked or Asked(family, self.applies, undeclared)
        self.leaves_open = undeclared.policies.keys()
        self.answers = 0  # that were judged
        self.exercised: Counter[str] = Counter()
        self.violation: Violation | None = None
        self.deferred: Violation | None = None  # the first objection of a deferred check
        self.unexplained: Violation | None = (
            None  # of a monitor that explains; what names the cause comes first
        )
        self.silence_counts = handshake.control.settles_exactly

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        self.state.stimulus(method, params)
        if self.violation is None:
            for monitor in (*self.monitors, *self.explaining):
                monitor.stimulus(method, params)

    def observe(self, seen: Observation) -> None:
        """The runtime shows something."""
        if self.violation is None:
            self._check(seen)
        for monitor in self.explaining:
            if self.violation is None:
                self._weigh_explanations(monitor.observe(seen))
        self.state.observe(seen)

    def _check(self, seen: Observation) -> None:
        self._ask(self.asked.about(self.state, seen), seen)
        self._weigh_all(monitor.observe(seen) for monitor in self.monitors)

    def _check_at_rest(self) -> None:
        self._ask(self.asked.at_rest(self.state))
        self._weigh_all(monitor.at_rest() for monitor in self.monitors)

    def report(self, report: Report) -> None:
        """The answer is complete, observations included already."""
        self.state.report(report)
        if not report.quiescent or self.violation is not None:
            return
        if self.silence_counts:
            self._check_at_rest()
        self.violation = self.violation or self.deferred
        self._weigh_all(monitor.settled() for monitor in self.monitors)
        for monitor in self.explaining:
            if self.violation is None and self.silence_counts:
                self._weigh_explanations(monitor.at_rest())

    def answer(self, report: Report) -> None:
        """Take a whole report in: its observations in order, then its end."""
        unexplained = self.unexplained
        if self.violation is None:
            self.answers += 1
            for monitor in (*self.monitors, *self.explaining):
                monitor.answered(report)
        for seen in report.observations:
            self.observe(seen)
        self.report(report)
        self.violation = self.violation or unexplained

    def end(self) -> None:
        """There is nothing more to come that could name the cause of what nothing explains."""
        self.violation = self.violation or self.unexplained

    def monitor(self, kind: type[Followed]) -> Followed:
        """The monitor of that class."""
        return next(one for one in (*self.monitors, *self.explaining) if isinstance(one, kind))

    @property
    def ruling(self) -> Ruling:
        """What it has to say by now."""
        return Ruling(self.answers, self.violation, self.exercised, self.coverage, self.open.excluded)

    def _ask(self, checks: Iterable[Invariant], *seen: Observation) -> None:
        """Ask each check, until one objects."""
        if self.leaves_open:
            self._weigh(judged for check in checks for judged in self._ask_under_each_value(check, *seen))
            return
        state = self.state
        for check in checks:
            for because in check.check(state, *seen):
                self._hear(check.clause, because, is_patient=check.is_patient)
                if self.violation is not None:
                    return

    def _ask_under_each_value(self, check: Invariant, *seen: Observation) -> Iterator[Judgement]:
        """What a check says; under each value that is left, where it depends on a policy that is open."""
        if check.clause in self.open.undeclared.clauses:
            for because in self.open.weigh(check, self.state, *seen):
                yield Judgement(check.clause, because, always=True)
            return
        declared = PolicyView(self.state.policies)
        for because in check.judge(self.state.under(declared), *seen):
            yield Judgement(check.clause, because, is_patient=check.is_patient)
        if declared.read & self.leaves_open:
            for because in self.open.weigh_dependence(declared.read, check, self.state, *seen):
                yield Judgement(check.clause, because)

    def _weigh_all(self, monitors: Iterable[Iterator[Judgement]]) -> None:
        for judgements in monitors:
            if self.violation is None:
                self._weigh(judgements)

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
                    self.unexplained = Violation(judgement.clause, judgement.because, self.state.stimuli)

    def _hear(self, clause: str, because: str, *, is_patient: bool) -> None:
        """A clause was exercised; it held, or that is why not."""
        self.exercised[clause] += 1
        if because == HELD:
            return
        objection = Violation(clause, because, self.state.stimuli)
        if is_patient:
            self.deferred = self.deferred or objection
        else:
            self.violation = objection
