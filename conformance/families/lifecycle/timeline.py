"""A trace as a timeline: one row for each moment at which a status changed, one column for each call.

It reads like the table of parallel tool calls in the sources.  Where a runtime shows no statuses, they
follow from what was witnessed: an open tool gate is a running call.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.families.lifecycle.messages import AnyObservation, Handshake, Scenario, kept_apart
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.nesting import calls_within
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.families.lifecycle.wording import shown, step
from runlock.conformance.family.parts import Row
from runlock.conformance.protocol import Refusal, Report
from runlock.conformance.text import cut, plain
from runlock.conformance.trace.moves import Move, moves_of
from runlock.conformance.trace.trace import Trace

CALLS_MAX: Final = 6
"""More calls than this are counted, not drawn."""

ROOM_MIN: Final = 24
"""So wide is the column of what happened at least, before calls are left out."""

LINES_MAX: Final = 3
"""This many lines the words of one moment may take."""

TOLD: Final = ("gate.open", "gate.closed", "run.finished")
"""Observations that are described in addition to the statuses; a status speaks for itself."""

__all__ = ["CALLS_MAX", "Row", "render", "timeline", "tools_of"]

_OBSERVATION: Final[TypeAdapter[Any]] = TypeAdapter(AnyObservation)


@dataclass(slots=True)
class _Moment:
    """What has happened since the last row."""

    words: list[str] = field(default_factory=list)
    moved: set[str] = field(default_factory=set)


def timeline(trace: Trace) -> list[Row]:
    """The rows of a trace: one for each stimulus, and more where a status changes twice on one."""
    state = _state_of(trace)
    moves = moves_of(trace, LINE_FORMATS.gate_name)
    rows: list[Row] = []
    moment = _Moment()
    for record in trace.records:
        ((key, value),) = record.items()
        if key in ("stimulus", "crash"):
            move = None if _is_recovery(key, value) else next(moves, None)
            moment.words += [step(move)] if move is not None else []
            _stimulate(state, key, value)
        elif key == "observation":
            if _moves_again(value, moment):
                rows.append(_row(state, moment))
                moment = _Moment()
            _observe(state, value, moment)
        elif key == "report":
            state.report(Report(quiescent=bool(value.get("quiescent", True)), refused=_refusals(value)))
            moment.words += _refused(value)
            rows.append(_row(state, moment))
            moment = _Moment()
    return [*rows, _row(state, moment)] if moment.words else rows


def _state_of(trace: Trace) -> ObservedState:
    handshake = Handshake.model_validate(next(trace.of("handshake"), _NOBODY))
    scenario = Scenario.model_validate(next(trace.of("scenario"), {"scenario": "unknown"}))
    return ObservedState(handshake, {}, scenario)


_NOBODY: Final = {"implementation": {"name": "unknown", "version": "unknown"}}


def _is_recovery(key: str, value: Mapping[str, Any]) -> bool:
    return key == "stimulus" and value["method"] == "recover"


def _stimulate(state: ObservedState, key: str, value: Mapping[str, Any]) -> None:
    if key == "crash":
        state.stimulus("crash", {})
    else:
        state.stimulus(value["method"], value["params"])


def _observe(state: ObservedState, raw: Mapping[str, Any], moment: _Moment) -> None:
    try:
        seen = kept_apart(_OBSERVATION.validate_python(raw))
    except ValidationError:  # kept in the trace, and no fact
        return
    state.observe(seen)
    moment.moved |= _subject(raw)
    if seen.kind in TOLD:
        moment.words.append(shown(raw))


def _subject(raw: Mapping[str, Any]) -> set[str]:
    """Whose status an observation changes."""
    if raw.get("kind") == "call.status":
        return {f"call {raw.get('call')}"}
    return {f"run {raw.get('run')}"} if raw.get("kind") == "run.status" else set()


def _moves_again(raw: Mapping[str, Any], moment: _Moment) -> bool:
    return bool(_subject(raw) & moment.moved)


def _refusals(report: Mapping[str, Any]) -> list[Refusal]:
    try:
        return [Refusal.model_validate(one) for one in report.get("refused") or ()]
    except ValidationError:
        return []


def _refused(report: Mapping[str, Any]) -> list[str]:
    refused = report.get("refused") or []
    return [plain(f"refused: {one.get('why', '')}") for one in refused if isinstance(one, Mapping)]


def _row(state: ObservedState, moment: _Moment) -> Row:
    run = state.run
    every = [*run.every_call, *(call for _, _, call in calls_within(state, run))] if run is not None else []
    calls = {str(call.id): call_status(state, call) for call in every}
    return Row(calls, run_status(state, run) if run is not None else "", ", ".join(moment.words))


def call_status(state: ObservedState, call: ObservedCall) -> str:
    """The status that a call claims, or the one that follows from its gates; after a crash none is known."""
    if call.claimed is not None:
        return call.claimed
    if call.life != state.life and state.observes("call.status"):
        return ""
    if call.executing or _is_at_work(state, call):
        return "Running"
    if call.listed_pending:
        return "Suspended"
    answer = call.last_answer
    if answer is not None and answer["kind"] == "pending":
        return "Suspended"
    return call.ended_as or ("Failed" if answer is not None else "New")


def _is_at_work(state: ObservedState, call: ObservedCall) -> bool:
    """Whether a run within the call is at a gate."""
    return call.has_agent and any(gate.run == f"{call.run}/{call.id}" for gate in state.open_gates)


def run_status(state: ObservedState, run: Run) -> str:
    """The status that a run claims, or the one that follows from its segments."""
    if run.claimed is not None:
        return run.claimed
    if run.ended is not None:
        return "Done"
    return "Running" if run.segment_open or state.gates_of(run) else "Waiting"


# --- as text ------------------------------------------------------------------------------------


def render(trace: Trace, width: int = 100) -> list[str]:
    """The timeline as lines of text; calls for which there is no room are counted."""
    rows = timeline(trace)
    tools = tools_of(trace)
    calls = list(dict.fromkeys(call for row in rows for call in row.calls))
    for drawn in range(min(len(calls), CALLS_MAX), -1, -1):
        table = _table(rows, calls[:drawn], calls[drawn:], tools)
        if drawn <= 1 or _left(table) + ROOM_MIN <= width:
            return list(_lines(table, width))
    return []


def _table(
    rows: Sequence[Row], drawn: Sequence[str], hidden: Sequence[str], tools: Mapping[str, str]
) -> list[list[str]]:
    names = [*(_headline(call, tools) for call in drawn), *(["more"] if hidden else [])]
    table = [["t", *names, "run", "what happened"]]
    for number, row in enumerate(rows):
        statuses = [*(row.calls.get(call, "") for call in drawn), *([_hidden(row, hidden)] if hidden else [])]
        table.append([str(number), *statuses, row.run, row.happened])
    return table


def _widths(table: list[list[str]]) -> list[int]:
    return [max(len(row[at]) for row in table) for at in range(len(table[0]) - 1)]


def _left(table: list[list[str]]) -> int:
    """How wide everything is that stands before what happened."""
    return sum(size + 2 for size in _widths(table))


def tools_of(trace: Trace) -> dict[str, str]:
    """What each call asks for: the permission of its tool, which says more than the tool's name."""
    offered: dict[str, str] = {}
    for scenario in trace.of("scenario"):
        offered |= {tool["name"]: tool.get("permission", "allow") for tool in scenario.get("tools", ())}
    asked = (call for move in moves_of(trace, LINE_FORMATS.gate_name) for call in _asked(move))
    return {call["id"]: offered.get(call["name"], "no such tool") for call in asked}


def _asked(move: Move) -> Iterator[Mapping[str, Any]]:
    for method, params in move.parts():
        if method == "gate.release":
            yield from params["outcome"].get("tool_calls", ())


def _headline(call: str, tools: Mapping[str, str]) -> str:
    return cut(plain(f"{call} ({tools[call]})" if call in tools else call), 18)


def _hidden(row: Row, hidden: Sequence[str]) -> str:
    known = sum(call in row.calls for call in hidden)
    return f"+{known}" if known else ""


def _lines(table: list[list[str]], width: int) -> Iterator[str]:
    """The table; what happened takes a second line where it must, the statuses never do."""
    widths, left = _widths(table), _left(table)
    room = max(width - left, 16)
    for *cells, happened in table:
        first, *more = textwrap.wrap(happened, room, max_lines=LINES_MAX, placeholder=" …") or [""]
        start = "  ".join(cell.ljust(size) for cell, size in zip(cells, widths, strict=True))
        yield cut(f"{start}  {first}".rstrip(), max(width, left))
        yield from (cut(f"{' ' * left}{line}", max(width, left + room)) for line in more)
