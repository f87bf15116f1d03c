"""The result of an exploration, for a person and for a machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from runlock.conformance.family.family import Family
from runlock.conformance.report.clause_names import file_of, grouped
from runlock.conformance.report.console import Page
from runlock.conformance.text import counted
from runlock.machines.table import Row
from runlock.spec.model import Value

Explored = Any
"""The result of a family's exploration; likewise each finding, and the steps of its path."""

Finding = Any
Step = Any
Control = Any

SCHEMA: Final = 1
FEW: Final = 20
"""Maximum clauses that are named one by one; more are named by their numbers."""

FINDINGS_SHOWN: Final = 3
"""Maximum findings that are shown with their path; of the others only the clause is named."""


# --- for a person -------------------------------------------------------------------------------


def write(family: Family, explored: Explored, page: Page) -> None:
    """The whole report."""
    name = explored.plan.model
    if explored.judged.findings:
        _write_findings(family, explored.judged.findings, name, page)
    elif explored.stopped is not None:
        page.headline("partial", f": {name} broke nothing as far as was looked; {explored.stopped}", "yellow")
    else:
        page.headline("held", f" by the charts of {name}, at {explored.states:,} joint states", "green")
    for label, text in _facts(explored):
        page.labelled(label, text)


def _write_findings(family: Family, findings: Sequence[Finding], name: str, page: Page) -> None:
    for finding in findings[:FINDINGS_SHOWN]:
        clause = family.spec.clause(finding.clause)
        page.headline(f"{finding.clause} broken", f" by the charts of {name}: {finding.because}", "red")
        page.labelled("clause", f"{clause.sentence}   {file_of(family, clause)}")
        many = "once" if finding.times == 1 else f"{finding.times:,} times"
        page.labelled("seen", f"{many}; the shortest way there has {counted(len(finding.way), 'step')}")
        page.block("way", list(_table(finding.way)))
        page.line()
    if len(findings) > FINDINGS_SHOWN:
        rest = ", ".join(dict.fromkeys(finding.clause for finding in findings[FINDINGS_SHOWN:]))
        page.labelled("also", f"{rest}; --json tells the ways there")


def _table(way: Sequence[Step]) -> Iterator[str]:
    """A path as a table: where each subject and each call is after each step."""
    calls = len(way[0].calls) if way else 0
    shown = list(way[0].control.shown) if way else ["run"]
    heads = ["", *shown, *(f"c{number}" for number in range(1, calls + 1)), "what happened"]
    rows = [
        [str(number), *step.control.shown.values(), *map(str, step.calls), told(step)]
        for number, step in enumerate(way, 1)
    ]
    widths = [max(len(row[at]) for row in [heads, *rows]) for at in range(len(heads) - 1)]
    for row in [heads, *rows]:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)), row[-1]])


def told(step: Step) -> str:
    """A step in words, with the clauses of the arrows that it takes."""
    what = step.move.what if step.call is None else f"c{step.call + 1} {step.move.what}"
    return f"{what} ({', '.join(step.rows)})" if step.rows else what


def _facts(explored: Explored) -> Iterator[tuple[str, str]]:
    judged = explored.judged
    yield "explored", _size(explored)
    yield "bounds", ", ".join(explored.said_bounds)
    yield "charts", ", ".join(table.name for table in explored.tables)
    if explored.chosen is not None:
        yield "policies", _policies(explored)
    yield "reduced", _reduced(explored)
    if explored.derived:
        yield "run", "; ".join(f"{status} {states:,}" for status, states in explored.derived.items())
    yield "ends", _ends(explored)
    broken = {finding.clause for finding in judged.findings}
    held = [clause for clause, times in judged.checked.items() if times and clause not in broken]
    yield "held", f"{counted(len(held), 'clause')}: {_grouped(held)}"
    if judged.unasked:
        yield "untested", f"nothing in these bounds is about {_grouped(judged.unasked)}"
    yield "never", _never(explored)
    if explored.stopped is not None:
        yield "partial", f"{explored.stopped}: this says nothing of the states that were not reached"
    yield from explored.remarks


def _grouped(clauses: Collection[str]) -> str:
    return (
        grouped(sorted(clauses, key=_order)) if len(clauses) > FEW else ", ".join(sorted(clauses, key=_order))
    )


def _order(clause: str) -> tuple[str, int]:
    area, _, number = clause.rpartition("-")
    return area, int(number)


def _size(explored: Explored) -> str:
    states = f"{explored.states:,} {'states' if explored.plan.symmetry else 'states with every call named'}"
    if explored.unreduced is not None:
        states += f", which stand for {explored.unreduced:,} with every call named"
    depth = f"the farthest {counted(explored.levels, 'step')} away"
    return f"{states}; {explored.transitions:,} transitions; {depth}"


def _policies(explored: Explored) -> str:
    assert explored.chosen is not None
    chosen = explored.chosen
    fixed = {key: value for key, value in chosen.policies.items() if key not in chosen.open}
    said = "; ".join(f"{key} = {_value(value)}" for key, value in fixed.items())
    left = "; ".join(f"{key} = {_value(value)}" for key, value in chosen.open.items())
    return f"{said or 'none is set'}. Open, and explored as: {left or 'none'}."


def _value(value: Value) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _reduced(explored: Explored) -> str:
    if not explored.plan.symmetry:
        return "nothing: every call has its own name"
    return (
        "states that differ only in the names of calls count once: calls begin alike, every move treats them "
        "alike, and no rule names one, so that whatever holds of one state holds of all that it stands for"
    )


def _ends(explored: Explored) -> str:
    judged = explored.judged
    done = f"{judged.over:,} states are Done"
    dead = "no other is without a move" if not judged.dead else f"{judged.dead:,} others are without a move"
    if explored.stopped is not None:
        return f"{done}; {dead}"
    hope = "from every state the run can come to Done"
    if judged.hopeless:
        hope = f"from {judged.hopeless:,} states the run cannot come to Done"
    return f"{done}; {dead}; {hope}, with nobody who {explored.trouble} anything"


def _never(explored: Explored) -> str:
    rows = sum(len(table.rows) for table in explored.tables)
    left = [_left_out(explored, row) for _, row in explored.judged.never_taken]
    if not left:
        return f"none of the {rows} arrows of the charts was left out"
    return f"{len(left)} of the {rows} arrows of the charts: {'; '.join(left)}"


def _left_out(explored: Explored, row: Row) -> str:
    what = f"{row.clause} {row.source} to {row.target} ({row.event})"
    why = explored.why_never(row)
    return f"{what}, which {why}" if why else what


# --- for a machine ------------------------------------------------------------------------------


def as_json(explored: Explored) -> dict[str, Any]:
    """The whole report as one JSON object."""
    plan, judged, chosen = explored.plan, explored.judged, explored.chosen
    broken = {finding.clause for finding in judged.findings}
    return {
        "schema": SCHEMA,
        "model": plan.model,
        "verdict": explored.verdict,
        "exit_code": explored.exit_code,
        "exhaustive": explored.stopped is None,
        "stopped": explored.stopped,
        "bounds": dict(explored.bounds),
        "symmetry": plan.symmetry,
        "reduction": _reduced(explored),
        "policies": dict(chosen.policies) if chosen is not None else {},
        "open": list(chosen.open) if chosen is not None else [],
        "states": explored.states,
        "unreduced": explored.unreduced,
        "transitions": explored.transitions,
        "depth": explored.levels,
        "derived": explored.derived,
        "done": judged.over,
        "deadlocks": judged.dead,
        "hopeless": judged.hopeless,
        "clauses": [
            {"id": clause, "verdict": _verdict(clause, broken, asked), "asked": asked}
            for clause, asked in sorted(judged.checked.items(), key=lambda pair: _order(pair[0]))
        ],
        "charts": [_chart(explored, at) for at in range(len(explored.tables))],
        "findings": [_finding(finding) for finding in judged.findings],
    }


def _verdict(clause: str, broken: Collection[str], asked: int) -> str:
    if clause in broken:
        return "broken"
    return "held" if asked else "untested"


def _chart(explored: Explored, at: int) -> dict[str, Any]:
    table = explored.tables[at]
    never = [row for its, row in explored.judged.never_taken if its is table]
    return {
        "chart": table.name,
        "arrows": len(table.rows),
        "never": [
            {
                "clause": row.clause,
                "from": row.source,
                "event": row.event,
                "to": row.target,
                "applies": explored.concerns(row),
                "why": explored.why_never(row),
            }
            for row in never
        ],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "clause": finding.clause,
        "because": finding.because,
        "times": finding.times,
        "steps": len(finding.way),
        "way": [_step(step) for step in finding.way],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "what": told(step),
        "clauses": list(step.rows),
        **step.control.shown,
        "at": step.control.at,
        "calls": [call.seen for call in step.calls],
    }
