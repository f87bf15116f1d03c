"""The result of an audit: the verdicts of each family over all threads, and what could not be judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from runlock.conformance.audit.formats import importer_named
from runlock.conformance.audit.judging import limited
from runlock.conformance.audit.shortening import shortened
from runlock.conformance.audit.summary import ERRORS_KEPT, IDLE, Counterexample, SourceSummary, Summary
from runlock.conformance.campaign.audit import UNREACHED, facts_of
from runlock.conformance.campaign.causes import grouped
from runlock.conformance.campaign.result import ClauseVerdict, Result
from runlock.conformance.campaign.supervisor import concluded
from runlock.conformance.campaign.units import Facts
from runlock.conformance.campaign.worker import as_found
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.judging.selection import Selection
from runlock.conformance.text import counted
from runlock.conformance.trace.moves import moves_of
from runlock.conformance.trace.trace import Trace

BLAMED: Final = "recording"
SEVERAL: Final = "several"
HIDDEN: Final = "the format does not show it"
WORST: Final = ("broken", "held", "error", "untested", "not-applicable")
"""The verdicts by what one source says for all: what one shows and another does not is what was shown."""


class Finding(NamedTuple):
    """What threads break, in which agent, with which tools, and in which file."""

    clause: str
    agent: str
    tools: str
    file: str


@dataclass(frozen=True, slots=True)
class Input:
    """What was read, of all families together."""

    read: Mapping[str, int] = field(default_factory=dict)  # files by format
    failed: int = 0  # inputs that could not be judged
    passed_by: Sequence[str] = ()  # the first files of a folder that hold no records
    left: int = 0  # how many of them there are
    outcomes: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of each file

    @property
    def idle(self) -> int:
        """The number of files with nothing to judge."""
        return sum(found == [IDLE] for found in self.outcomes.values())


@dataclass(slots=True)
class AuditResult:
    """The verdicts of one family, the number of threads that break each clause, and examples."""

    result: Result
    broken: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Counterexample]] = field(default_factory=dict)
    threads: int = 0
    open: int = 0
    records: int = 0
    sources: list[dict[str, Any]] = field(default_factory=list)
    unknown: Mapping[str, int] = field(default_factory=dict)
    findings: Counter[Finding] = field(default_factory=Counter)  # threads by what they break, and where
    input: Input = field(default_factory=Input)

    @property
    def is_idle(self) -> bool:
        """Whether everything could be read, and there was nothing to judge in it."""
        result = self.result
        nothing = self.input.idle > 0 and self.input.idle == len(self.input.outcomes)
        return nothing and not (result.witnesses or result.troubles or result.raised)


def results_of(summary: Summary, target: str, selection: Selection) -> list[AuditResult]:
    """A result for each family, the one with the most threads first; one without clauses if there is none."""
    of_family: dict[str, list[AuditResult]] = {}
    for _, source in sorted(summary.sources.items()):
        one = _of_source(source, target, selection)
        of_family.setdefault(one.result.family_name, []).append(one)
    made = [_merged(several) for several in of_family.values()] or [_nothing(target)]
    made.sort(key=lambda one: (-one.threads, one.result.family_name))
    recorded = sorted(sentence for sentence, times in summary.recorded.items() if times)[:ERRORS_KEPT]
    for one in made:
        one.result.warnings += [f"a trace was recorded for this: {sentence}" for sentence in recorded]
        one.result.troubles += [Trouble(BLAMED, sentence) for sentence in summary.errors]
        if summary.failed > len(summary.errors):
            more = summary.failed - len(summary.errors)
            one.result.troubles.append(Trouble(BLAMED, f"{more} more inputs could not be judged"))
        one.unknown = dict(sorted(summary.unknown.items()))
        one.input = _input(summary)
        one.result.warnings += [
            f"{counted(times, 'record')} of unknown kind {kind}" for kind, times in one.unknown.items()
        ]
    return made


def _input(summary: Summary) -> Input:
    outcomes = {file: sorted(found) for file, found in sorted(summary.outcomes.items())}
    read = dict(sorted(summary.read.items()))
    return Input(read, summary.failed, summary.passed_by, summary.left, outcomes)


def _nothing(target: str) -> AuditResult:
    result = Result(target, {"name": "nothing", "version": "?"}, "core", {}, "", "lifecycle", {})
    return AuditResult(result)


# --- one source ---------------------------------------------------------------------------------


def _of_source(source: SourceSummary, target: str, selection: Selection) -> AuditResult:
    facts = facts_of("the recording", Trace([{"handshake": source.handshake}]), selection.with_skipped)
    judged = limited(facts, importer_named(source.format))
    examples = {clause: _shortest(found, judged) for clause, found in sorted(source.found.items())}
    tally = _tally(source, examples, judged)
    found = [as_found(one) for _, one in sorted(tally.found.items())]
    result = concluded(target, selection, facts, tally, grouped(found, judged, tally), budget={}, partial="")
    shown = importer_named(source.format).clauses
    result.clauses = [_counted(one, source, shown) for one in result.clauses]
    result.witnesses = [_counted_witness(one, source) for one in result.witnesses]
    made = AuditResult(
        result, source.broken, examples, source.threads, source.open, source.records, [_described(source)]
    )
    who = _agent(source)
    made.findings.update({Finding(clause, who, *at): many for (clause, *at), many in source.where.items()})
    return made


def _agent(source: SourceSummary) -> str:
    """The name and the version of what was recorded."""
    claimed = source.handshake.get("implementation") or {}
    return " ".join(str(claimed[one]) for one in ("name", "version") if claimed.get(one) not in (None, "?"))


def _shortest(found: Sequence[Counterexample], facts: Facts) -> list[Counterexample]:
    return sorted((shortened(one, facts) for one in found), key=lambda one: one.rank)


def _tally(source: SourceSummary, examples: Mapping[str, list[Counterexample]], facts: Facts) -> Tally:
    """The summary in the form from which the verdicts of a campaign are derived."""
    tally = Tally(
        exercised=source.exercised,
        schedules=source.threads,
        stimuli=source.stimuli,
        ended_by=source.ended_by,
        raised={what: raised for what, (raised, _) in sorted(source.raised.items())},
        coverage=source.coverage,
        policies=set(source.policies),
    )
    for clause, found in examples.items():
        tally.note(clause, _found(found[0], facts))
    for key, (exclusion, example) in sorted(source.excluded.items()):
        tally.exclude(key, exclusion, _found(example, facts))
    tally.settle(facts.undeclared)
    return tally


def _found(example: Counterexample, facts: Facts) -> Found:
    scenario = facts.family.vocabulary.scenario.model_validate(next(example.trace.of("scenario")))
    moves = tuple(moves_of(example.trace, facts.family.line_formats.gate_name))
    return Found(example.violation, scenario, moves, example.trace)


def _counted(clause: ClauseVerdict, source: SourceSummary, shown: frozenset[str] | None) -> ClauseVerdict:
    """The verdict with the number of threads, and the reason why a clause was not observable."""
    if clause.verdict == "untested" and shown is not None and clause.id not in shown:
        return replace(clause, offered=False, why=HIDDEN)
    if clause.verdict == "untested" and clause.offered:
        return replace(clause, offered=False, why=UNREACHED)
    if clause.verdict == "broken":
        return replace(clause, why=_in_threads(clause.why, source.broken[clause.id], source.threads))
    return clause


def _counted_witness(witness: Witness, source: SourceSummary) -> Witness:
    because = _in_threads(witness.reason, source.broken[witness.clause], source.threads)
    return replace(witness, reason=because)


def _in_threads(because: str, broken: int, threads: int) -> str:
    """The reason with the share of threads, where there are several."""
    return because if threads == 1 or not broken else f"{because} (in {broken} of {threads} threads)"


def _described(source: SourceSummary) -> dict[str, Any]:
    return {
        "format": source.format,
        "implementation": source.handshake.get("implementation"),
        "profile": source.handshake.get("profile"),
        "grade": importer_named(source.format).grade(source.handshake).as_dict(),
        "threads": source.threads,
        "open": source.open,
        "records": source.records,
    }


# --- several sources of one family --------------------------------------------------------------


def _merged(several: Sequence[AuditResult]) -> AuditResult:
    """One result for a family: what broke in one source is broken, and what held in one was seen to hold."""
    if len(several) == 1:
        return several[0]
    first = several[0].result
    made = AuditResult(replace(first, clauses=_merged_clauses(several), witnesses=_merged_witnesses(several)))
    for one in several:
        made.broken.update(one.broken)
        made.threads += one.threads
        made.open += one.open
        made.findings.update(one.findings)
        made.records += one.records
        made.sources += one.sources
        for clause, examples in one.examples.items():
            made.examples[clause] = sorted([*made.examples.get(clause, []), *examples], key=lambda x: x.rank)
    results = [one.result for one in several]
    made.result.implementation = _same(
        [one.implementation for one in results], {"name": SEVERAL, "version": "?"}
    )
    made.result.profile = _same([one.profile for one in results], SEVERAL)
    made.result.policies = _same([one.policies for one in results], {})
    made.result.schedules = sum(one.schedules for one in results)
    made.result.stimuli = sum(one.stimuli for one in results)
    made.result.raised = [raised for one in results for raised in one.raised]
    made.result.coverage = []
    return made


def _same(values: Sequence[Any], otherwise: Any) -> Any:
    return values[0] if all(value == values[0] for value in values) else otherwise


def _merged_clauses(several: Sequence[AuditResult]) -> list[ClauseVerdict]:
    verdicts: dict[str, list[ClauseVerdict]] = {}
    for one in several:
        for clause in one.result.clauses:
            verdicts.setdefault(clause.id, []).append(clause)
    return [_merged_clause(found) for found in verdicts.values()]


def _merged_clause(found: Iterable[ClauseVerdict]) -> ClauseVerdict:
    every = list(found)
    worst = min(every, key=lambda one: WORST.index(one.verdict))
    return replace(worst, exercised=sum(one.exercised for one in every))


def _merged_witnesses(several: Sequence[AuditResult]) -> list[Witness]:
    shortest: dict[str, Witness] = {}
    for one in several:
        for witness in one.result.witnesses:
            known = shortest.get(witness.clause)
            if known is None or witness.steps < known.steps:
                shortest[witness.clause] = witness
    kept = [replace(one, cause=one.cause if one.cause in shortest else "") for one in shortest.values()]
    return sorted(kept, key=lambda one: (one.cause != "", one.steps, one.clause))
