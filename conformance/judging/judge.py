"""The judge of one scenario: it reads the trace answer by answer, and says which clauses held or broke.

Invariants judge each observation, and each quiescent point; charts are followed, and object to what none of
their transitions explains.  Of the objections to one answer, the one of the lowest rank is the violation.  No
later answer is judged: from there on the observed state may be wrong, and a check would blame a clause that
the runtime keeps.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.family.clause_result import ClauseResult
from runlock.conformance.family.coverage import Coverage, Trails
from runlock.conformance.family.family import Family
from runlock.conformance.family.invariant import HELD, NOTHING, CheckResult, Invariant, broken
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.family.rank import Rank
from runlock.conformance.family.state import PolicyView, State
from runlock.conformance.judging.leaks import leaks_in_words
from runlock.conformance.judging.policy_hypotheses import Exclusion, OpenPolicies, Undeclared
from runlock.conformance.protocol import Handshake, Observation, Report, Scenario


@dataclass(frozen=True, slots=True)
class Violation:
    """A clause that is broken, why, and after which stimulus (from 1)."""

    clause: str
    reason: str
    stimulus: int
    rank: Rank = Rank.CHART


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the judge found out, after a number of answers."""

    answers: int
    violation: Violation | None
    exercised: Mapping[str, int]
    coverage: Coverage
    excluded: Mapping[tuple[str, str], Exclusion]
    policies: frozenset[str] = frozenset()  # those that a check has read and judged something by


NOTHING_OPEN: Final = Undeclared({}, {})


class Asked:
    """The invariants that apply to a runtime, by kind of observation, in the order of blame.

    All scenarios of a runtime share one.
    """

    def __init__(self, family: Family, applies: Mapping[str, bool], undeclared: Undeclared) -> None:
        self.selectors = family.judging.selectors
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
        """The checks of a quiescent point."""
        return self._of(None, "", NOTHING, state.features)

    def about(self, state: State, seen: Observation) -> list[Invariant]:
        """The checks of an observation."""
        name_of, newest_of = self.selectors
        name = name_of(seen)
        listed = name if name in self._names else ""  # a runtime may invent any number of others
        return self._of(type(seen), listed, newest_of(state, seen), state.features)

    def _of(
        self, kind: type[Observation] | None, name: str, newest: str, features: frozenset[str]
    ) -> list[Invariant]:
        found = self._asked.get((kind, name, newest, features))
        if found is None:
            found = [check for check in self._of_kind[kind] if check.is_asked(name, newest, features)]
            self._asked[kind, name, newest, features] = found
        return found


class Judge:
    """Judges one scenario; `violation` is the leading objection to the first answer that met one, or None."""

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
        self.declared = PolicyView(policies)
        self.state = family.judging.new_state(handshake, self.declared, scenario)
        self.trails = trails = Trails()
        self.coverage: Coverage = trails.coverage
        self.applies = applies or {}
        self.monitors = [new_monitor(self.state, trails) for new_monitor in family.monitors]
        self._followers: dict[type[Observation], list[Monitor]] = {}
        self.open = OpenPolicies(undeclared)
        self.asked = asked or Asked(family, self.applies, undeclared)
        self.leaves_open = undeclared.policies.keys()
        self.leaks_clause = family.judging.leaks
        self.answers = 0  # that were judged
        self.exercised: Counter[str] = Counter()
        self.policies: set[str] = set()  # that a check has read and judged something by
        self.violation: Violation | None = None
        self.deferred: Violation | None = None  # the leading objection of those that wait for quiescence
        self.silence_counts = handshake.control.settles_exactly

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        self.state.stimulus(method, params)
        if self.violation is None:
            for monitor in self.monitors:
                monitor.stimulus(method, params)

    def answer(self, report: Report) -> None:
        """Judge an answer: its observations in order, then its end."""
        if self.violation is not None:
            for seen in report.observations:
                self.state.observe(self.state.read(seen))
            self.state.report(report)
            return
        self.answers += 1
        for monitor in self.monitors:
            monitor.answered(report)
        for shown in report.observations:
            seen = self.state.read(shown)
            self._check(seen)
            self.state.observe(seen)
        self.state.report(report)
        if report.quiescent:
            self._check_at_rest()
            self.violation = self.violation or self.deferred

    def _check(self, seen: Observation) -> None:
        self._run_checks(self.asked.about(self.state, seen), seen)
        for monitor in self._followers_of(type(seen)):
            self._follow(monitor.observe(seen))

    def _followers_of(self, kind: type[Observation]) -> list[Monitor]:
        """The monitors that read this kind of observation."""
        found = self._followers.get(kind)
        if found is None:
            found = [monitor for monitor in self.monitors if issubclass(kind, monitor.reads)]
            self._followers[kind] = found
        return found

    def _check_at_rest(self) -> None:
        if self.silence_counts:
            self._run_checks(self.asked.at_rest(self.state))
        for monitor in self.monitors:
            self._follow(monitor.at_rest())

    def closed(self, leaks: Iterable[Any]) -> None:
        """The scenario is closed, and the runtime says what it still holds; judged if the run is Done."""
        run, clause = self.state.run, self.leaks_clause
        self.exercised.pop(clause, None)  # of an earlier end, where the session continues from a snapshot
        is_over = run is not None and run.is_done
        if clause and is_over and self.violation is None and self.applies.get(clause, True):
            held = leaks_in_words(leaks)
            result = broken(f"the run was over, yet at scenario.close {held}") if held else HELD
            self._record(clause, result, Rank.LOST, is_deferred=False)

    @property
    def ruling(self) -> Ruling:
        """The current ruling."""
        excluded, policies = self.open.excluded, frozenset(self.policies)
        return Ruling(self.answers, self.violation, self.exercised, self.coverage, excluded, policies)

    def _run_checks(self, checks: Iterable[Invariant], *seen: Observation) -> None:
        """Run the checks in the order of their ranks, until one objects that no earlier objection leads."""
        violation, state, read = self.violation, self.state, self.declared.read
        for check in checks:
            if violation is not None and not check.rank.leads(violation.rank):
                return
            if self.leaves_open:
                self._record_all(self._under_each_value(check, *seen), check.rank)
            else:
                read.clear()
                for found in check.run(state, *seen):
                    if read:
                        self.policies |= read
                    self._record(check.clause, found, check.rank, is_deferred=check.is_deferred)
            violation = self.violation

    def _under_each_value(self, check: Invariant, *seen: Observation) -> Iterator[ClauseResult]:
        """The results of a check, under each value that is left of an open policy that it depends on."""
        if check.clause in self.open.undeclared.clauses:
            key, _ = self.open.undeclared.clauses[check.clause]
            yield from self.open.judge(check, (key,), self.state, *seen)
            return
        declared = PolicyView(self.declared)
        for found in check.run(self.state.under(declared), *seen):
            self.policies |= declared.read
            yield ClauseResult(check.clause, found, is_deferred=check.is_deferred)
        yield from self.open.judge(check, declared.read, self.state, *seen)

    def _follow(self, results: Iterator[ClauseResult]) -> None:
        """Count the transitions of a chart; an objection is of the last rank."""
        self.declared.read.clear()
        self._record_all(results, Rank.CHART)

    def _record_all(self, results: Iterator[ClauseResult], rank: Rank) -> None:
        for one in results:
            if one.always or self.applies.get(one.clause, True):
                self.policies |= self.declared.read
                self._record(one.clause, one.result, rank, is_deferred=one.is_deferred)

    def _record(self, clause: str, found: CheckResult, rank: Rank, *, is_deferred: bool) -> None:
        """Count that a clause was exercised, and keep the objection if it leads those before it."""
        self.exercised[clause] += 1
        if found.ok:
            return
        objection = Violation(clause, found.reason, self.state.stimuli, rank)
        if is_deferred:
            self.deferred = _leading(self.deferred, objection)
        else:
            self.violation = _leading(self.violation, objection)


def _leading(before: Violation | None, objection: Violation) -> Violation:
    return objection if before is None or objection.rank.leads(before.rank) else before
