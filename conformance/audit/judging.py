"""Judges one recorded thread, and adds it to a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from runlock.conformance.audit.origins import Breaks, Origin, tools_in
from runlock.conformance.audit.reading import values_of
from runlock.conformance.audit.recording import Importer, Recording
from runlock.conformance.audit.shapes import Held, Shape, Shapes
from runlock.conformance.audit.summary import (
    HELD,
    IDLE,
    NOT_READ,
    Counterexample,
    SourceSummary,
    Summary,
    Where,
)
from runlock.conformance.campaign.audit import facts_of
from runlock.conformance.campaign.rejudging import judges_of
from runlock.conformance.campaign.units import Facts
from runlock.conformance.driving.exceptions import exceptions_of
from runlock.conformance.errors import UsageError
from runlock.conformance.judging.judge import Judge, Violation
from runlock.conformance.judging.selection import EVERYTHING, Selection
from runlock.conformance.trace.trace import Trace

NONE: Final = "no clause"
NOWHERE: Final = Origin((), ())
"""The origin of a thread that was not recorded."""


@dataclass(slots=True)
class ThreadJudge:
    """Judges threads with one selection of clauses, and reads each handshake once."""

    selection: Selection = EVERYTHING
    shapes: Shapes = field(default_factory=Shapes)
    _facts: dict[str, Facts] = field(default_factory=dict)

    def judge(
        self, importer: Importer, recording: Recording, summary: Summary, origin: Origin = NOWHERE
    ) -> Held | None:
        """Add a thread to the summary; one that cannot be judged is an error.

        Returns what a thread held, if it broke nothing and shows nothing out of the ordinary.
        """
        note = partial(_note_outcome, summary, origin)
        for kind, times in recording.unknown.items():
            summary.unknown[f"{importer.name}: {kind}"] += times
        if recording.unexplained:
            left = len(recording.unexplained)
            more = f" (and {left - 1} more)" if left > 1 else ""
            summary.error(f"{recording.thread}: {recording.unexplained[0]}{more}")
            note(NOT_READ)
            return None
        if not recording.trace.records:
            note(IDLE)
            return None
        try:
            facts = self._facts_of(importer, recording)
            judges = list(judges_of(recording.thread, recording.trace, facts))
        except UsageError as error:
            summary.error(f"{recording.thread}: {error}")
            note(NOT_READ)
            return None
        handshake = next(recording.trace.of("handshake"))
        source = summary.source(importer.name, handshake)
        broke = [one.violation.clause for one in judges if one.violation is not None]
        note(*(broke or [HELD if any(judges[-1].exercised.values()) else IDLE]))
        for one in judges:
            self._note(source, importer, recording, one, origin)
        _add(source, recording, judges)
        has_unlisted = _count_unlisted(summary, importer.name, recording.trace, facts)
        last = judges[-1]
        if (verdict := recording.trace.verdict) is not None:
            found = {one.violation.clause for one in judges if one.violation is not None}
            summary.recorded[recording.trace.verdict_in_words] += verdict.get("clause") not in found
        if len(judges) > 1 or has_unlisted or verdict is not None or exceptions_of(recording.trace):
            return None
        sizes = len(recording.trace.records), last.state.stimuli
        rules_out = frozenset(last.open.excluded)
        return Held(
            importer.name, handshake, recording.thread, *sizes, recording.is_open, last.exercised,
            last.coverage, frozenset(last.policies), rules_out,
        )  # fmt: skip

    def _note(
        self, source: SourceSummary, importer: Importer, recording: Recording, judge: Judge, origin: Origin
    ) -> None:
        """Keep what a judge objected to, with the raw records if it may be shown."""
        found = judge.violation
        if found is None:
            return
        source.broken[found.clause] += 1
        tools = ", ".join(tools_in(found.reason, recording.trace))
        source.where[Where(found.clause, tools, origin.file)] += 1
        cut = up_to(recording.trace, found.stimulus)
        example = Counterexample(recording.thread, found, cut)
        if source.keeps(found.clause, example.rank):
            excerpts = origin.excerpts(found.reason, cut, self._breaks(importer, recording, found.clause))
            source.note(found.clause, [replace(example, excerpts=excerpts)])

    def _breaks(self, importer: Importer, recording: Recording, clause: str) -> Breaks:
        """Whether the beginning of a thread breaks a clause."""

        def breaks(records: Sequence[Any]) -> bool:
            made = [one for one in importer.recordings(recording.thread, records) if one.trace.records]
            return any(
                judge.violation is not None and judge.violation.clause == clause
                for one in made
                if one.thread == recording.thread and not one.unexplained
                for judge in judges_of(one.thread, one.trace, self._facts_of(importer, one))
            )

        return breaks

    def learn(self, shape: Shape, held: Held, importer: Importer) -> None:
        """Remember a shape that was met before, if only the equality of strings makes it hold."""
        if self.shapes.is_known(shape.key, held.thread) or not self.shapes.is_frequent(shape.key):
            return
        for recording in importer.recordings("a shape", list(values_of(shape.lines, 1))):
            again = self.judge(importer, recording, Summary())
            if again is not None and again.says_the_same_as(held):
                self.shapes.remember(shape.key, held)

    def _facts_of(self, importer: Importer, recording: Recording) -> Facts:
        handshake: Mapping[str, Any] = next(recording.trace.of("handshake"))
        key = f"{importer.name}{handshake!r}{sorted(recording.hidden)}"
        if key not in self._facts:
            shown = facts_of(recording.thread, recording.trace, replace(self.selection, skip=()))
            self._facts[key] = limited(shown, importer, recording.hidden)
        return self._facts[key]


def limited(facts: Facts, importer: Importer, hidden: frozenset[str] = frozenset()) -> Facts:
    """The facts with only those clauses that a format can show; one that hides some settles no policy."""
    if importer.clauses is None:
        return facts
    shown = tuple(sorted(one for one in importer.clauses - hidden if facts.selection.has(one)))
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
    source.policies |= last.policies
    for raised in exceptions_of(recording.trace):
        source.exception(raised, recording.thread)
    for one in judges:
        _add_findings(source, recording, one, is_first=one is judges[0])


def _add_findings(source: SourceSummary, recording: Recording, judge: Judge, *, is_first: bool) -> None:
    """Add what one judge objected to; the later ones mute what those before found."""
    found, thread = judge.violation, recording.thread
    if found is not None:
        source.ended_by[found.clause] += is_first
    for key, why in judge.open.excluded.items():
        violation = Violation(why.clause, why.reason, judge.state.stimuli)
        source.exclude(key, why, Counterexample(thread, violation, recording.trace))


def _note_outcome(summary: Summary, origin: Origin, *outcomes: str) -> None:
    """Note what became of a thread in each of its files."""
    for file in {file for file, _ in origin.places}:
        summary.outcome(file, *outcomes)


def up_to(trace: Trace, stimuli: int) -> Trace:
    """The trace up to the answer to its stimulus of that number."""
    kept, sent = Trace(), 0
    for record in trace.records:
        sent += "stimulus" in record or "crash" in record
        if sent > stimuli:
            break
        kept.records.append(record)
    return kept


def _count_unlisted(summary: Summary, format_: str, trace: Trace, facts: Facts) -> bool:
    """Count the observations of a kind that the family does not list; whether there are any."""
    listed = facts.family.vocabulary.observations
    kinds = [kind for seen in trace.of("observation") if (kind := str(seen.get("kind"))) not in listed]
    for kind in kinds:
        summary.unknown[f"{format_}: {kind}"] += 1
    return bool(kinds)
