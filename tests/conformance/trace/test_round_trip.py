"""A scenario file is the readable twin of a trace file: each converts into the other without loss."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.families.lifecycle.messages import LISTED
from runlock.conformance.trace.scenario_file import from_text, to_text
from runlock.conformance.trace.trace import Record, Trace

ODD = (
    "",
    " ",
    "->",
    "d 1",
    "true",
    "null",
    "3",
    "-x",
    "+x",
    "@a",
    "#",
    "a=b",
    ";",
    ",",
    "{",
    "\n",
    "\r",
    "\x85",
    "\u2028",
    "\ud800",
    "é",
    '"',
    "\\",
    "----",
    "model",
    "tool:c1",
    "c1",
    "g1",
    "r1",
    "ok",
    "turn",
    "Suspended",
)
NAMES = (
    "gate",
    "on",
    "call",
    "name",
    "args",
    "run",
    "reason",
    "from",
    "to",
    "message",
    "step",
    "tool_calls",
    "role",
    "text",
    "state",
    "messages",
    "resume",
    "pending",
    "trigger",
    "force",
    "decision",
    "disposition",
    "suspension",
    "kind",
    "input",
    "ms",
    "store",
    "decisions",
    "outcome",
    "turns",
    "id",
    "action",
    "payload",
    "tools",
    "agent",
    "hold",
    "leaks",
    "scenario",
    "permission",
    "stimulus",
    "why",
    "rounds",
)
METHODS = (
    "run.start",
    "gate.release",
    "decide",
    "cancel",
    "run.input",
    "clock.advance",
    "settle",
    "recover",
    "deliver",
    "fly",
)

words = st.sampled_from(ODD) | st.text(max_size=5)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
fields = st.dictionaries(st.sampled_from(NAMES) | words, values, max_size=6)
calls = st.lists(
    st.fixed_dictionaries({"id": words, "name": words, "args": st.builds(lambda k: {"k": k}, words)}),
    max_size=3,
)


def merged(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda each: {key: value for part in each for key, value in part.items()})


likely = st.fixed_dictionaries(
    {},
    optional={
        "run": st.just("r1"),
        "gate": words,
        "on": words,
        "call": words,
        "from": words,
        "to": words,
        "reason": st.builds(lambda code: {"code": code, "detail": None}, words),
        "message": merged(fields, st.builds(lambda asked: {"role": "assistant", "tool_calls": asked}, calls)),
    },
)
observations = merged(
    fields, likely, st.builds(lambda kind: {"kind": kind}, st.sampled_from([*LISTED, *ODD]))
)
outcomes = merged(
    fields, st.builds(lambda kind, asked: {"kind": kind, "tool_calls": asked}, st.just("turn") | words, calls)
)
params = st.one_of(
    fields,
    merged(likely, st.builds(lambda batch: {"decisions": batch}, st.lists(fields, max_size=3))),
    merged(likely, st.builds(lambda outcome: {"outcome": outcome}, outcomes)),
)
stimuli = st.builds(
    lambda method, given: {"method": method, "params": given}, st.sampled_from(METHODS), params
)
races = st.builds(
    lambda members, rest: {"method": "deliver", "params": {"stimuli": members, **rest}},
    st.lists(stimuli, max_size=3),
    st.sampled_from([{}, {"turns": 3}]),
)
reports = st.builds(
    lambda quiescent, refused: {"quiescent": quiescent, "refused": refused},
    scalars,
    st.lists(fields, max_size=2),
)
openings = st.builds(
    lambda tools, stop, hold: {"scenario": "s-1", "tools": tools, "agent": {"stop": stop}, "hold": hold},
    st.lists(fields, max_size=2),
    st.lists(fields, max_size=2),
    st.lists(words, max_size=2),
)


def under(key: str, value: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Record]:
    return value.map(lambda held: {key: held})


records = st.one_of(
    under("observation", observations),
    under("observation", fields),
    under("stimulus", stimuli),
    under("stimulus", races),
    under("stimulus", fields),
    under("report", st.just({"quiescent": True, "refused": []})),
    under("report", reports),
    under("report", fields),
    under("scenario", openings),
    under("scenario", fields),
    under("handshake", fields),
    under("crash", st.just({})),
    under("crash", fields),
    under("end", st.just({"leaks": []})),
    under("end", fields),
)


def exactly(trace: Trace) -> list[str]:
    """The records so that 1, 1.0 and true differ."""
    return [json.dumps(record, sort_keys=True) for record in trace.records]


@pytest.mark.long
@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    database=None,
)
@given(st.lists(records, max_size=8))
def test_any_trace_is_read_back_whole(found):
    """Whatever records in whatever order: no kind, field, text, number or order is lost."""
    trace = Trace(found)
    text = to_text(trace, LINE_FORMATS)
    back = from_text(text, LINE_FORMATS)

    assert back.records == trace.records
    assert exactly(back) == exactly(trace)
    assert to_text(back, LINE_FORMATS) == text
