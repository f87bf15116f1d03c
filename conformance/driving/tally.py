"""The results of a number of schedules."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from runlock.conformance.driving.exceptions import Raised
from runlock.conformance.driving.findings import Trouble
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.family.coverage import Coverage, Goal
from runlock.conformance.judging.judge import Violation
from runlock.conformance.judging.policy_hypotheses import Exclusion, Undeclared, nothing_left
from runlock.conformance.protocol import (
    Scenario,
)
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Trace


@dataclass(slots=True)
class Found:
    """A violation as it was found, before its witness is shrunk."""

    violation: Violation
    scenario: Scenario
    moves: tuple[Move, ...]
    trace: Trace
    muted: frozenset[str] = frozenset()  # clauses that were broken before, and were not judged
    rules_out: tuple[str, str] | None = None
    """A policy and a value: this schedule rules it out, and others rule out every other value."""


@dataclass(slots=True)
class Tally:
    """The results of a number of schedules; tallies are added in the order of their shards."""

    exercised: Counter[str] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)  # gates and observations, as clauses need them
    schedules: int = 0
    stimuli: int = 0
    policies: set[str] = field(default_factory=set)  # those that a check has read and judged something by
    cut_short: int = 0  # schedules that ended at a violation, so that no other clause was judged to the end
    ended_by: Counter[str] = field(default_factory=Counter)  # in earlier runs of the same schedules too
    found: dict[str, Found] = field(default_factory=dict)
    excluded: dict[tuple[str, str], tuple[Exclusion, Found]] = field(default_factory=dict)
    troubles: list[Trouble] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    unrepeated: dict[str, str] = field(default_factory=dict)  # clauses that did not break again, and why
    asides: Counter[str] = field(default_factory=Counter)  # requests of the runtime that were of no scenario
    raised: dict[str, Raised] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)
    tours_played: Counter[Goal] = field(default_factory=Counter)
    tours_reached: Counter[Goal] = field(default_factory=Counter)
    searched: Counter[tuple[int, str]] = field(
        default_factory=Counter
    )  # by number of stimuli, and name of the counter

    def add(self, other: Tally) -> None:
        """Add another tally; of two violations of a clause the shorter is kept."""
        self.exercised.update(other.exercised)
        self.shown.update(other.shown)
        self.schedules += other.schedules
        self.stimuli += other.stimuli
        self.policies |= other.policies
        self.cut_short += other.cut_short
        self.ended_by.update(other.ended_by)
        self.troubles += other.troubles
        self.ledger.add(other.ledger)
        self.unrepeated.update(other.unrepeated)
        self.asides.update(other.asides)
        for raised in other.raised.values():
            self.exception(raised)
        self.coverage.add(other.coverage)
        self.tours_played.update(other.tours_played)
        self.tours_reached.update(other.tours_reached)
        self.searched.update(other.searched)
        for clause, found in other.found.items():
            self.note(clause, found)
        for one, (exclusion, found) in other.excluded.items():
            self.exclude(one, exclusion, found)

    def keep(self, earlier: Tally) -> None:
        """Keep what earlier runs of the same schedules found, before it was muted."""
        self.ended_by.update(earlier.ended_by)
        self.ledger.add(earlier.ledger)
        self.unrepeated.update(earlier.unrepeated)
        self.exercised |= earlier.exercised
        self.policies |= earlier.policies
        for clause, found in earlier.found.items():
            self.note(clause, found)
        for one, (exclusion, found) in earlier.excluded.items():
            self.exclude(one, exclusion, found)

    def mixed(self, undeclared: Undeclared) -> set[str]:
        """The open policies of which every value was refuted."""
        values = undeclared.policies.items()
        return {key for key, among in values if all((key, one) in self.excluded for one in among)}

    def exception(self, raised: Raised) -> None:
        """Record an exception of the adapter or the runtime."""
        known = self.raised.get(raised.what)
        self.raised[raised.what] = raised if known is None else known.more(raised)

    def exclude(self, one: tuple[str, str], exclusion: Exclusion, found: Found) -> None:
        """Record why an open policy cannot have a value; the shortest schedule that shows it is kept."""
        known = self.excluded.get(one)
        if known is None or len(found.moves) < len(known[1].moves):
            self.excluded[one] = (exclusion, found)

    def settle(self, undeclared: Undeclared) -> None:
        """Record the policies whose values were all ruled out, though by no schedule alone."""
        for key in sorted(self.mixed(undeclared)) if undeclared.mixing not in self.found else ():
            whys = {value: self.excluded[key, value] for value in undeclared.policies[key]}
            value, (last, found) = max(whys.items(), key=lambda one: len(one[1][1].moves))
            because = nothing_left(key, {value: why for value, (why, _) in whys.items()}, undeclared)
            clause = undeclared.mixing or last.clause
            violation = replace(found.violation, clause=clause, reason=because)
            self.note(clause, replace(found, violation=violation, rules_out=(key, value)))

    def note(self, clause: str, found: Found) -> None:
        """Record a violation, unless a shorter one of its clause is known."""
        known = self.found.get(clause)
        if known is None or len(found.moves) < len(known.moves):
            self.found[clause] = found
