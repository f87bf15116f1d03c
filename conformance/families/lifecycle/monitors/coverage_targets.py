"""What a campaign has exercised of each chart, compared with what it could have exercised.

Possible is what a runtime of this handshake can take and show: arrows of clauses that its policies rule
out are left out, and so are those that look from outside like another one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import Handshake
from runlock.conformance.families.lifecycle.monitors.flow_charts import (
    FLOW_READING,
    PASS_READING,
    STEP_READINGS,
)
from runlock.conformance.families.lifecycle.monitors.refusals import refusing_calls, refusing_runs
from runlock.conformance.families.lifecycle.monitors.round_charts import (
    BARRIER,
    DISPATCHER,
    LAST,
    PHASES,
    SHOWN,
    STAGES,
    TASKS,
)
from runlock.conformance.families.lifecycle.monitors.status_charts import (
    CALLS,
    RESUME_GATE,
    RUNS,
    RUNS_WITH_CREATED,
)
from runlock.conformance.family.chart_monitor import (
    NO_DETOURS,
    Detours,
    Follower,
    Reading,
)
from runlock.conformance.family.coverage import ChartCoverage, Coverage
from runlock.conformance.judging.applicability import Applicability
from runlock.machines.table import Row, Table


@dataclass(frozen=True, slots=True)
class Shown:
    """What of a chart shows from outside: arrows by their clause, and which two can be seen in a row."""

    table: Table
    arrows: frozenset[str]
    pairs: frozenset[tuple[str, str]]


def covered(
    handshake: Handshake, policies: Mapping[str, Any], standings: Mapping[str, Applicability], seen: Coverage
) -> list[ChartCoverage]:
    """Every chart that the profile uses, with what was exercised of it."""
    charts = (_of_chart(shown, handshake, standings, seen) for shown in _charts(policies))
    return [chart for chart in charts if chart.arrows or (chart.why and chart.unseen)]


def _applies(row: Row, standings: Mapping[str, Applicability]) -> bool:
    return standings[row.clause].verdict != "not-applicable" or _is_core(standings[row.clause])


def _is_core(standing: Applicability) -> bool:
    """Whether only the profile keeps a clause out, and not what its runtime does."""
    return standing.why.startswith("the profile core") and not standing.clause.applies


def _of_chart(
    shown: Shown, handshake: Handshake, standings: Mapping[str, Applicability], seen: Coverage
) -> ChartCoverage:
    table, why = shown.table, _hidden(shown.table, handshake)
    rows = [row for row in table.rows if _applies(row, standings)]
    arrows = shown.arrows | {clause for chart, clause in seen.arrows if chart == table.name}
    able = [row for row in rows if row.clause in arrows] if not why else []
    known = shown.pairs | {(one, two) for chart, one, two in seen.pairs if chart == table.name}
    pairs = [(one, two) for one in able for two in able if (one.clause, two.clause) in known]
    return ChartCoverage(
        table.name,
        {row: seen.arrows[table.name, row.clause] for row in able},
        {(one, two): seen.pairs[table.name, one.clause, two.clause] for one, two in pairs},
        {cell: seen.cells[table.name, *cell] for cell in _refusals(table, handshake)},
        len(rows) - len(able),
        STATUSES.get(table.name, "") not in (*handshake.observes, ""),
        why,
    )


STATUSES: Final = {CALLS.name: "call.status", RUNS.name: "run.status", RUNS_WITH_CREATED.name: "run.status"}

SHOWS: Final = {RESUME_GATE.name: "resume", RUNS_WITH_CREATED.name: "run.status"}
"""The kind of observation without which nothing of a chart can be seen; phases for most of the others."""

BY_GATES: Final = frozenset({CALLS.name, RUNS.name, *(table.name for table in SHOWN)})


def _hidden(table: Table, handshake: Handshake) -> str:
    """Why nothing of a chart can be seen, or nothing."""
    kinds = [SHOWS[table.name]] if table.name in SHOWS else [] if table.name in BY_GATES else ["phase"]
    if table.name == FLOW_READING.table.name:
        kinds = ["phase", "checkpoint", "resume"]
    lacking = [kind for kind in kinds if kind not in handshake.observes]
    return f"the runtime does not show {' or '.join(lacking)}" if lacking else ""


def _refusals(table: Table, handshake: Handshake) -> Iterator[tuple[str, str]]:
    if table is CALLS:
        yield from refusing_calls(handshake)
    elif table in (RUNS, RUNS_WITH_CREATED):
        yield from refusing_runs(handshake, table)


# --- what shows ---------------------------------------------------------------------------------


def _charts(policies: Mapping[str, Any]) -> Iterator[Shown]:
    """The charts of a profile, in the order of reports."""
    yield _named_by_status(RUNS_WITH_CREATED if policies.get("run.created") == "yes" else RUNS)
    yield _named_by_status(CALLS)
    yield _named_by_status(RESUME_GATE)
    phases, ends = policies.get("phases"), policies.get("step.end")
    if policies.get("checkpoint.at") == "triggers" and ends == "before_tools":
        yield _read(FLOW_READING)
    if (reading := STEP_READINGS.get((str(phases), str(ends)))) is not None:
        yield _read(reading)
    if (phases, ends) == ("eight", "before_tools"):
        yield _read(PASS_READING)
    yield from (_sent(table, SHOWN[table]) for table in _rounds(policies))


def _rounds(policies: Mapping[str, Any]) -> Iterator[Table]:
    yield STAGES if policies.get("phases") == "nine" else PHASES
    if policies.get("round.executor") == "parallel" and policies.get("decision.window") == "immediate":
        yield from (TASKS, DISPATCHER, BARRIER)


@cache
def _named_by_status(table: Table) -> Shown:
    """A chart whose states are reported by name; the reason of an end tells those of a run apart."""
    told = [row for row in table.rows if table in (RUNS, RUNS_WITH_CREATED) or _is_alone(table, row)]
    return _sent(table, tuple(row.clause for row in told))


def _is_alone(table: Table, row: Row) -> bool:
    return table.arrow(row.source, row.target) == (row,)


def _sent(table: Table, arrows: Collection[str]) -> Shown:
    """A chart of which these arrows are seen, and any two of them that can follow each other."""
    rows = [row for row in table.rows if row.clause in arrows]
    firsts = [row for row in rows if row.clause not in LAST]
    pairs = {(one.clause, two.clause) for one in firsts for two in rows if one.target == two.source}
    return Shown(table, frozenset(arrows), frozenset(pairs))


def _read(reading: Reading, detours: Detours = NO_DETOURS) -> Shown:
    """A chart of which stations are seen: what labels can show of it, a few of them in a row."""
    arrows: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    for way in _shown_ways(reading, detours):
        arrows.update(row.clause for row in way)
        pairs.update((one.clause, two.clause) for one, two in pairwise(way))
    return Shown(reading.table, frozenset(arrows), frozenset(pairs))


def _shown_ways(reading: Reading, detours: Detours) -> Iterator[tuple[Row, ...]]:
    """Every way that some labels show, from one certain state to the next, and the arrow before it."""
    ways: dict[tuple[Row, ...], None] = {}
    ahead, met = [reading.table.initial], {reading.table.initial}
    while ahead:
        for way in _told(Follower.at(reading, ahead.pop()), detours, LABELS_MAX):
            ways[way] = None
            if way[-1].target not in met:
                met.add(way[-1].target)
                ahead.append(way[-1].target)
    yield from ways
    yield from ((one[-1], two[0]) for one in ways for two in ways if one[-1].target == two[0].source)


def _told(follower: Follower, detours: Detours, labels: int) -> Iterator[tuple[Row, ...]]:
    for label in follower.right(detours) if labels else ():
        ahead = copy(follower)
        ahead.see(label, detours)
        drawn = tuple(row for row in ahead.taken if row is not None)
        if drawn and len(drawn) == len(ahead.taken):
            yield drawn
        elif not ahead.is_lost:
            yield from _told(ahead, detours, labels - 1)


LABELS_MAX: Final = 3
"""This many labels may leave it open where a segment stands, before one tells."""
