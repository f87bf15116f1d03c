"""What judging a number of threads found; summaries add up to the same one in any order.

A summary does not grow with the number of threads: of each clause that broke it keeps the shortest
counterexamples, of errors the first ones by name, and of everything else a count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from runlock.conformance.audit.origins import Excerpt
from runlock.conformance.driving.exceptions import Raised
from runlock.conformance.family.coverage import Coverage
from runlock.conformance.judging.judge import Violation
from runlock.conformance.judging.policy_hypotheses import Exclusion
from runlock.conformance.trace.trace import Trace

KEPT: Final = 3
"""Counterexamples of a clause that are kept."""

ERRORS_KEPT: Final = 20


NOT_READ: Final = "not judged"
HELD: Final = "held"
IDLE: Final = "nothing to judge"
"""What becomes of a file besides the clauses that it breaks."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A thread that breaks a clause, up to the answer that does."""

    thread: str
    violation: Violation
    trace: Trace
    excerpts: tuple[Excerpt, ...] = ()  # the raw records, where it was recorded

    @property
    def rank(self) -> tuple[int, str]:
        """Sorts the shortest first."""
        return len(self.trace.records), self.thread


class Where(NamedTuple):
    """What threads break, and where: the tools of the calls that the reason names, and the file."""

    clause: str
    tools: str
    file: str


@dataclass(slots=True)
class SourceSummary:
    """The threads that have one handshake, all of one format."""

    format: str
    handshake: Mapping[str, Any]
    threads: int = 0
    open: int = 0
    records: int = 0
    stimuli: int = 0
    exercised: Counter[str] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)  # the number of threads that break a clause
    ended_by: Counter[str] = field(default_factory=Counter)  # by the clause that a thread breaks first
    where: Counter[Where] = field(default_factory=Counter)  # threads by what they break, and where
    found: dict[str, list[Counterexample]] = field(default_factory=dict)
    excluded: dict[tuple[str, str], tuple[Exclusion, Counterexample]] = field(default_factory=dict)
    raised: dict[str, tuple[Raised, str]] = field(default_factory=dict)  # with the thread
    coverage: Coverage = field(default_factory=Coverage)
    policies: set[str] = field(default_factory=set)  # that a check has read and judged something by

    def keeps(self, clause: str, rank: tuple[int, str]) -> bool:
        """Whether a counterexample of that rank would be kept."""
        known = self.found.get(clause, ())
        return len(known) < KEPT or rank < known[-1].rank

    def note(self, clause: str, examples: Iterable[Counterexample]) -> None:
        """Keep the shortest counterexamples of a clause."""
        every = {one.thread: one for one in (*self.found.get(clause, ()), *examples)}
        self.found[clause] = sorted(every.values(), key=lambda one: one.rank)[:KEPT]

    def exclude(self, key: tuple[str, str], exclusion: Exclusion, example: Counterexample) -> None:
        """Keep the shortest proof that an open policy cannot have a value."""
        known = self.excluded.get(key)
        if known is None or example.rank < known[1].rank:
            self.excluded[key] = exclusion, example

    def exception(self, raised: Raised, thread: str) -> None:
        """Count an exception of the runtime, and keep the shortest trace that shows it."""
        known = self.raised.get(raised.what)
        if known is None:
            self.raised[raised.what] = raised, thread
            return
        (first, name), _ = sorted(
            ((raised, thread), known), key=lambda one: (len(one[0].trace.records), one[1])
        )
        times = raised.times + known[0].times
        self.raised[raised.what] = Raised(first.error, first.verb, first.stimulus, times, first.trace), name

    def add(self, other: SourceSummary) -> None:
        """Add the threads of another summary."""
        self.threads += other.threads
        self.open += other.open
        self.records += other.records
        self.stimuli += other.stimuli
        for name in ("exercised", "shown", "broken", "ended_by", "where"):
            getattr(self, name).update(getattr(other, name))
        self.coverage.add(other.coverage)
        self.policies |= other.policies
        for clause, examples in other.found.items():
            self.note(clause, examples)
        for key, (exclusion, example) in other.excluded.items():
            self.exclude(key, exclusion, example)
        for raised, thread in other.raised.values():
            self.exception(raised, thread)


@dataclass(slots=True)
class Summary:
    """Everything that an audit found so far."""

    sources: dict[str, SourceSummary] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)  # `format: kind of record`
    recorded: Counter[str] = field(default_factory=Counter)  # verdicts in traces that are not found again
    errors: list[str] = field(default_factory=list)  # the first ones by name
    failed: int = 0  # how many there are
    read: Counter[str] = field(default_factory=Counter)  # files by format
    passed_by: list[str] = field(
        default_factory=list
    )  # files of a folder that hold no records, the first ones
    left: int = 0  # how many of them there are
    outcomes: dict[str, set[str]] = field(default_factory=dict)  # of each file: what it broke, or else

    @property
    def judged(self) -> int:
        """The number of threads that were judged, or found wrong."""
        return self.failed + sum(source.threads for source in self.sources.values())

    def source(self, format_: str, handshake: Mapping[str, Any]) -> SourceSummary:
        """The summary of the threads with this handshake."""
        key = json.dumps([format_, handshake], sort_keys=True)
        return self.sources.setdefault(key, SourceSummary(format_, handshake))

    def error(self, *sentences: str) -> None:
        """Count errors, and keep the first ones by name."""
        self.failed += len(sentences)
        self.errors = sorted({*self.errors, *sentences})[:ERRORS_KEPT]

    def outcome(self, file: str, *outcomes: str) -> None:
        """Note what became of a thread of a file, or of all of it."""
        self.outcomes.setdefault(file, set()).update(outcomes)

    def pass_by(self, *files: str, times: int = 0) -> None:
        """Count files that hold no records, and keep the first ones by name."""
        self.left += times or len(files)
        self.passed_by = sorted({*self.passed_by, *files})[:ERRORS_KEPT]

    def add(self, other: Summary) -> None:
        """Add what another summary found."""
        self.read.update(other.read)
        for file, outcomes in other.outcomes.items():
            self.outcome(file, *outcomes)
        self.pass_by(*other.passed_by, times=other.left)
        for source in other.sources.values():
            self.source(source.format, source.handshake).add(source)
        self.unknown.update(other.unknown)
        self.recorded.update(other.recorded)
        failed = self.failed + other.failed
        self.error(*other.errors)
        self.failed = failed
