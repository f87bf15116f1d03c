"""The serialisable form of the result of a campaign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from runlock.conformance.campaign.result import ClauseVerdict, Result, Search, Unanswered
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.ledger import Incident
from runlock.conformance.family.coverage import ChartCoverage
from runlock.conformance.family.family import Family
from runlock.conformance.family.timeline import timeline
from runlock.conformance.report.search_summary import bounds, reductions
from runlock.conformance.report.stored_result import (
    Stored,
    StoredArrow,
    StoredBaseline,
    StoredChart,
    StoredClause,
    StoredException,
    StoredIncident,
    StoredMove,
    StoredPair,
    StoredQuestion,
    StoredRefusal,
    StoredRow,
    StoredSearch,
    StoredTour,
    StoredTrouble,
    StoredViolation,
)
from runlock.conformance.report.text import exception_name, incident_name, question_name, trouble_name
from runlock.conformance.trace.moves import Move


def as_json(
    result: Result, files: Mapping[str, Path], exit_code: int, baseline: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The whole result as a JSON object; `files` are the trace files by clause."""
    return stored(result, files, exit_code, baseline).model_dump(mode="json", by_alias=True)


def stored(
    result: Result, files: Mapping[str, Path], exit_code: int, baseline: Mapping[str, Any] | None = None
) -> Stored:
    """The whole result; `files` are the trace files by clause."""
    paths = {name: str(path) for name, path in files.items()}
    return Stored(
        flaky=result.ledger.headline,
        incidents=[_incident(one, at, paths) for at, one in enumerate(result.ledger.all, 1)],
        target=result.target,
        implementation=dict(result.implementation),
        family=result.family.name,
        profile=result.profile,
        policies=dict(result.policies),
        spec=result.spec,
        verdict=result.verdict,
        exit_code=exit_code,
        baseline=None if baseline is None else StoredBaseline.model_validate(baseline),
        budget=dict(result.budget),
        partial=result.partial or None,
        schedules=result.schedules,
        stimuli=result.stimuli,
        clauses=[_clause(clause, result.family) for clause in result.clauses],
        violations=[
            StoredViolation.model_validate(_witness(result.family, one, paths.get(one.clause)))
            for one in result.witnesses
        ],
        questions=[
            _question(result.family, one, paths.get(question_name(at)))
            for at, one in enumerate(result.questions, 1)
        ],
        coverage=[_chart(chart) for chart in result.coverage],
        tours=[StoredTour.model_validate(asdict(tour)) for tour in result.tours],
        search=None if result.search is None else _search(result.search),
        warnings=list(result.warnings),
        **_findings(result, paths),
    )


def _incident(one: Incident, at: int, paths: Mapping[str, str]) -> StoredIncident:
    return StoredIncident(
        kind=one.kind,
        what=one.what,
        times=one.times,
        recovered=one.recovered,
        lasting=one.lasting,
        trace=paths.get(incident_name(at)),
    )


def _findings(result: Result, paths: Mapping[str, str]) -> dict[str, Any]:
    """What was found besides violations, each with its trace file."""
    return {
        "troubles": [
            StoredTrouble(blame=one.blame, what=one.what, trace=paths.get(trouble_name(at)))
            for at, one in enumerate(result.troubles, 1)
        ],
        "exceptions": [
            StoredException(
                error=one.error, verb=one.verb, times=one.times, trace=paths.get(exception_name(at))
            )
            for at, one in enumerate(result.raised, 1)
        ],
        "unjudged_policies": result.unjudged_policies,
    }


def _search(search: Search) -> StoredSearch:
    summary = {
        "exhausted": search.exhausted,
        "exhaustive": search.is_exhaustive,
        "bounds": bounds(search),
        "reduction": reductions(search),
    }
    return StoredSearch.model_validate({**asdict(search), **summary})


def _clause(clause: ClauseVerdict, family: Family) -> StoredClause:
    return StoredClause(
        id=clause.id,
        level=clause.level,
        verdict=clause.verdict,
        why=clause.why,
        exercised=clause.exercised,
        thin=clause.is_thin,
        offered=clause.offered,
        severity=family.spec.clauses[clause.id].severity,
        official=family.spec.clauses[clause.id].official,
    )


def _chart(chart: ChartCoverage) -> StoredChart:
    """A chart with everything that can be taken, including what never was."""
    return StoredChart(
        chart=chart.chart,
        why=chart.why,
        derived=chart.derived,
        unseen=chart.unseen,
        arrows=[
            StoredArrow.model_validate(
                {
                    "clause": row.clause,
                    "from": row.source,
                    "event": row.event,
                    "to": row.target,
                    "taken": taken,
                }
            )
            for row, taken in chart.arrows.items()
        ],
        pairs=[
            StoredPair(first=first.clause, then=then.clause, taken=taken)
            for (first, then), taken in chart.pairs.items()
        ],
        refusals=[
            StoredRefusal(state=state, stimulus=stimulus, sent=sent)
            for (state, stimulus), sent in chart.refusals.items()
        ],
    )


def _question(family: Family, asked: Unanswered, path: str | None) -> StoredQuestion:
    shown = {"question": asked.sentence, "policy": asked.question.policy, "values": list(asked.values)}
    return StoredQuestion.model_validate({**_witness(family, asked.witness, path), **shown})


def _witness(family: Family, witness: Witness, path: str | None) -> dict[str, Any]:
    return {
        "clause": witness.clause,
        "severity": family.spec.clauses[witness.clause].severity,
        "because": witness.reason,
        "cause": witness.cause or None,
        "steps": witness.steps,
        "witness": [StoredMove.model_validate(stimulus(move)) for move in witness.moves],
        "timeline": [StoredRow.model_validate(asdict(row)) for row in timeline(family, witness.trace)],
        "trace": path,
        "adapter": family.wording.adapter_mistake(witness.trace),
    }


def stimulus(move: Move) -> dict[str, Any]:
    """A move as a stimulus, with its gate by name."""
    turns = {} if move.turns is None else {"turns": move.turns}
    return {"method": move.method, "params": {**move.params, **turns}}
