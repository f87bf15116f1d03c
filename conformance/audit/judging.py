"""Judges one recorded thread, and adds it to a summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from runlock.conformance.audit.recording import Importer, Recording
from runlock.conformance.audit.summary import Counterexample, SourceSummary, Summary
from runlock.conformance.campaign.audit import facts_of
from runlock.conformance.campaign.rejudging import judges_of
from runlock.conformance.campaign.units import Facts
from runlock.conformance.driving.exceptions import exceptions_of
from runlock.conformance.errors import UsageError
from runlock.conformance.judging.judge import Judge, Violation
from runlock.conformance.judging.selection import EVERYTHING, Selection
from runlock.conformance.trace.trace import Trace

NONE: Final = "no clause"


@dataclass(slots=True)
class ThreadJudge:
    """Judges threads with one selection of clauses, and reads each handshake once."""

    selection: Selection = EVERYTHING
    _facts: dict[str, Facts] = field(default_factory=dict)

    def judge(self, importer: Importer, recording: Recording, summary: Summary) -> None:
        """Add a thread to the summary; one that cannot be judged is an error."""
        for kind, times in recording.unknown.items():
            summary.unknown[f"{importer.name}: {kind}"] += times
        if recording.unexplained:
            left = len(recording.unexplained)
            more = f" (and {left - 1} more)" if left > 1 else ""
            summary.error(f"{recording.thread}: {recording.unexplained[0]}{more}")
            return
        if not recording.trace.records:
            return
        try:
            facts = self._facts_of(importer, recording)
            judges = list(judges_of(recording.thread, recording.trace, facts))
        except UsageError as error:
            summary.error(f"{recording.thread}: {error}")
            return
        handshake = next(recording.trace.of("handshake"))
        _add(summary.source(importer.name, handshake), recording, judges)
        _count_unlisted(summary, importer.name, recording.trace, facts)

    def _facts_of(self, importer: Importer, recording: Recording) -> Facts:
        handshake: Mapping[str, Any] = next(recording.trace.of("handshake"))
        key = f"{importer.name}{handshake!r}"
        if key not in self._facts:
            shown = facts_of(recording.thread, recording.trace, replace(self.selection, skip=()))
            self._facts[key] = limited(shown, importer)
        return self._facts[key]


def limited(facts: Facts, importer: Importer) -> Facts:
    """The facts with only those clauses that a format can show; one that hides some settles no policy."""
    if importer.clauses is None:
        return facts
    shown = tuple(sorted(one for one in importer.clauses if facts.selection.has(one)))
    policies = tuple(sorted(facts.family.spec.policies))
    return replace(facts, selection=Selection(shown or (NONE,), policies))


def _add(source: SourceSummary, recording: Recording, judges: list[Judge]) -> None:
    last = judges[-1]
    source.threads += 1
    source.open += recording.is_open
    source.records += len(recording.trace.records)
    source.stimuli += last.state.stimuli
    source.exercised.update(last.exercised)
    source.coverage.add(last.coverage)
    for raised in exceptions_of(recording.trace):
        source.exception(raised, recording.thread)
    for one in judges:
        _add_findings(source, recording, one, is_first=one is judges[0])


def _add_findings(source: SourceSummary, recording: Recording, judge: Judge, *, is_first: bool) -> None:
    """Add what one judge objected to; the later ones mute what those before found."""
    found, thread = judge.violation, recording.thread
    if found is not None:
        source.ended_by[found.clause] += is_first
        source.broken[found.clause] += 1
        cut = up_to(recording.trace, found.stimulus)
        source.note(found.clause, [Counterexample(thread, found, cut)])
    for key, why in judge.open.excluded.items():
        violation = Violation(why.clause, why.because, judge.state.stimuli)
        source.exclude(key, why, Counterexample(thread, violation, recording.trace))


def up_to(trace: Trace, stimuli: int) -> Trace:
    """The trace up to the answer to its stimulus of that number."""
    kept, sent = Trace(), 0
    for record in trace.records:
        sent += "stimulus" in record or "crash" in record
        if sent > stimuli:
            break
        kept.records.append(record)
    return kept


def _count_unlisted(summary: Summary, format_: str, trace: Trace, facts: Facts) -> None:
    """Count the observations of a kind that the family does not list."""
    listed = facts.family.vocabulary.observations
    for seen in trace.of("observation"):
        if (kind := str(seen.get("kind"))) not in listed:
            summary.unknown[f"{format_}: {kind}"] += 1
