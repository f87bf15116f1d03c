"""Makes a recorded counterexample short: without the runs that the violation does not need."""

from __future__ import annotations

from dataclasses import replace

from runlock.conformance.audit.summary import Counterexample
from runlock.conformance.campaign.rejudging import violations_in
from runlock.conformance.campaign.units import Facts
from runlock.conformance.errors import UsageError
from runlock.conformance.judging.judge import Violation
from runlock.conformance.trace.trace import Record, Trace


def shortened(example: Counterexample, facts: Facts) -> Counterexample:
    """The counterexample without each run whose absence leaves the same clause broken, the oldest first."""
    for run in [str(run) for run in _runs(example.trace)][:-1]:
        without = Trace(_without(example.trace, run))
        found = _still(without, example.violation.clause, facts)
        if found is not None:
            example = replace(example, trace=without, violation=found)
    return example


def _runs(trace: Trace) -> list[str]:
    return [one["params"].get("run") for one in trace.stimuli if one["method"] == "run.start"]


def _without(trace: Trace, run: str) -> list[Record]:
    """The records without those from the start of a run to the start of the next one."""
    kept: list[Record] = []
    is_inside = False
    for record in trace.records:
        stimulus = record.get("stimulus", {})
        if stimulus.get("method") == "run.start":
            is_inside = stimulus["params"].get("run") == run
        if not is_inside:
            kept.append(record)
    return kept


def _still(trace: Trace, clause: str, facts: Facts) -> Violation | None:
    """The violation of the clause in a shorter trace; None if it does not break it, or cannot be judged."""
    try:
        found = violations_in("the counterexample", trace, facts)
    except UsageError:
        return None
    return next((one for one in found if one.clause == clause), None)
