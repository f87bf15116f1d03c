"""The report of a campaign for a machine: one JSON object, with fields of stable meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.result import ClauseVerdict, Result, Search
from runlock.conformance.driving.exceptions import Raised
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.leaks import Leak
from runlock.conformance.family.coverage import ChartCoverage
from runlock.conformance.family.family import Family
from runlock.conformance.family.timeline import timeline
from runlock.conformance.report.search_summary import bounds, reductions
from runlock.conformance.report.text import exception_name, leak_name, trouble_name
from runlock.conformance.trace.moves import Move

SCHEMA: Final = 1


def as_json(
    result: Result, files: Mapping[str, Path], exit_code: int, baseline: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The whole result as a JSON object; `files` are the trace files by clause."""
    return {
        "schema": SCHEMA,
        "target": result.target,
        "implementation": dict(result.implementation),
        "family": result.family.name,
        "profile": result.profile,
        "policies": dict(result.policies),
        "spec": result.spec,
        "verdict": result.verdict,
        "exit_code": exit_code,
        "baseline": baseline,
        "budget": dict(result.budget),
        "partial": result.partial or None,
        "schedules": result.schedules,
        "stimuli": result.stimuli,
        "clauses": [_clause(clause) for clause in result.clauses],
        "violations": [
            _violation(result.family, witness, files.get(witness.clause)) for witness in result.witnesses
        ],
        "coverage": [_chart(chart) for chart in result.coverage],
        "tours": [asdict(tour) for tour in result.tours],
        "search": _search(result.search),
        "troubles": [_trouble(one, files.get(trouble_name(at))) for at, one in enumerate(result.troubles, 1)],
        "warnings": list(result.warnings),
        "exceptions": [
            _exception(one, files.get(exception_name(at))) for at, one in enumerate(result.raised, 1)
        ],
        "leaks": [_leak(one, files.get(leak_name(at))) for at, one in enumerate(result.leaks, 1)],
    }


def _search(search: Search | None) -> dict[str, Any] | None:
    if search is None:
        return None
    return {
        **asdict(search),
        "exhausted": search.exhausted,
        "exhaustive": search.is_exhaustive,
        "bounds": bounds(search),
        "reduction": reductions(search),
    }


def _clause(clause: ClauseVerdict) -> dict[str, Any]:
    return {
        "id": clause.id,
        "level": clause.level,
        "verdict": clause.verdict,
        "why": clause.why,
        "exercised": clause.exercised,
        "thin": clause.is_thin,
        "offered": clause.offered,
    }


def _chart(chart: ChartCoverage) -> dict[str, Any]:
    """A chart with everything that can be taken, including what never was."""
    return {
        "chart": chart.chart,
        "why": chart.why,
        "derived": chart.derived,
        "unseen": chart.unseen,
        "arrows": [
            {"clause": row.clause, "from": row.source, "event": row.event, "to": row.target, "taken": taken}
            for row, taken in chart.arrows.items()
        ],
        "pairs": [
            {"first": first.clause, "then": then.clause, "taken": taken}
            for (first, then), taken in chart.pairs.items()
        ],
        "refusals": [
            {"state": state, "stimulus": stimulus, "sent": sent}
            for (state, stimulus), sent in chart.refusals.items()
        ],
    }


def _violation(family: Family, witness: Witness, path: Path | None) -> dict[str, Any]:
    return {
        "clause": witness.clause,
        "because": witness.because,
        "cause": witness.cause or None,
        "steps": witness.steps,
        "witness": [stimulus(move) for move in witness.moves],
        "timeline": [asdict(row) for row in timeline(family, witness.trace)],
        "trace": None if path is None else str(path),
    }


def stimulus(move: Move) -> dict[str, Any]:
    """A move as a stimulus, with its gate by name."""
    turns = {} if move.turns is None else {"turns": move.turns}
    return {"method": move.method, "params": {**move.params, **turns}}


def _leak(leak: Leak, path: Path | None) -> dict[str, Any]:
    return {"what": leak.what, "times": leak.times, "trace": str(path) if path is not None else None}


def _exception(raised: Raised, path: Path | None) -> dict[str, Any]:
    shown = None if path is None else str(path)
    return {"error": raised.error, "verb": raised.verb, "times": raised.times, "trace": shown}


def _trouble(trouble: Trouble, path: Path | None) -> dict[str, Any]:
    return {"blame": trouble.blame, "what": trouble.what, "trace": None if path is None else str(path)}
