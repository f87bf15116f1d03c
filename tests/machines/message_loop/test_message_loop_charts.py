"""The charts of the message loop against their source, line by line, and against each other."""

import pytest
from transcripts import arrows, transcribed

from runlock.machines.message_loop.charts.authority import (
    ModeAuthority,
    ModeAuthorityAfterGuards,
    StageAuthority,
    StageAuthorityAfterGuards,
)
from runlock.machines.message_loop.charts.bounds import ContinuationBound
from runlock.machines.message_loop.charts.cancellation import StrictCancellation
from runlock.machines.message_loop.charts.events import ProviderRequest, ToolInvocation
from runlock.machines.message_loop.charts.executions import ExecutionGroup, SessionTurn, StageExecution
from runlock.machines.message_loop.charts.hooks import StageWithHooks
from runlock.machines.message_loop.charts.stages import Pass
from runlock.machines.message_loop.charts.statuses import CallStatus, TurnStatus
from runlock.machines.table import Moved, Refused, compile_chart, react
from runlock.spec.model import load_spec

CHARTS = (
    Pass, ContinuationBound, StageWithHooks, ModeAuthority, StageAuthority, ModeAuthorityAfterGuards,
    StageAuthorityAfterGuards, StageExecution, ExecutionGroup, SessionTurn, StrictCancellation, TurnStatus,
    CallStatus, ProviderRequest, ToolInvocation,
)  # fmt: skip

ENDS = ("Cancelled", "Failed", "Broken")
"""Every part of a turn may be cancelled or break; the source says it once."""

ADDED = {
    Pass: {
        ("TOOL_CALL", "terminal", "Finished"): "call.terminal",
        ("TOOL_CALL", "halt", "Blocked"): "prompt.unanswered, reject.reach",
        ("STREAM_RESPONSE", "send_again", "STREAM_RESPONSE"): "model.fault",
    },
    ModeAuthority: {
        ("Proposed", "reject_form", "Unusable"): "E-47",
        ("ModeGate", "nobody", "Denied"): "E-68",
        ("Prompting", "deny", "Denied"): "the answer no",
        ("Prompting", "defer", "Denied"): "E-68",
        ("Proposed", "cascade", "Denied"): "reject.reach",
        ("ModeGate", "cascade", "Denied"): "reject.reach",
        ("Prompting", "cascade", "Denied"): "reject.reach",
        ("Guards", "cascade", "Denied"): "reject.reach",
        ("Proposed", "guard_denies", "Denied"): "hook.fault",
        ("Guards", "rewritten", "ModeGate"): "E-71",
    },
    StageAuthority: {
        ("Proposed", "reject_form", "Unusable"): "E-47",
        ("Envelope", "standing", "Guards"): "grant.scopes",
        ("Proposed", "cascade", "Denied"): "reject.reach",
        ("Envelope", "cascade", "Denied"): "reject.reach",
        ("Granting", "cascade", "Denied"): "reject.reach",
        ("Guards", "cascade", "Denied"): "reject.reach",
        ("Proposed", "guard_denies", "Denied"): "hook.fault",
        ("Guards", "rewritten", "Envelope"): "E-71",
    },
    StageExecution: {
        ("Assert", "reject", "ExitAfterFailure"): "exit.on_fail",
    },
    ExecutionGroup: {},
    StageWithHooks: {
        ("Post", "deny", "Denied"): "COMPOSE_REQUEST has a guard there",
        ("Post", "rewrite", "Post"): "COMPOSE_REQUEST and TOOL_CALL have transforms there",
    },
}
"""The transitions that the source lacks, with the erratum or policy that justifies each."""

TRANSCRIPTS = [
    (Pass, "message_loop_pass"),
    (ModeAuthority, "message_loop_mode_authority"),
    (StageAuthority, "message_loop_stage_authority"),
    (StageExecution, "message_loop_execution"),
    (ExecutionGroup, "message_loop_group"),
    (StageWithHooks, "message_loop_stage"),
]


def cut_short(arrow):
    return arrow[2] in ENDS


@pytest.mark.parametrize(("chart", "name"), TRANSCRIPTS)
def test_a_chart_has_the_arrows_of_its_source_and_the_listed_additions(chart, name):
    """The chart has exactly the transitions of its source and the listed, justified additions."""
    source = {(s, e, t) for _, s, e, t in transcribed(name) if s != "*"}

    assert source - arrows(chart) == set()
    assert {arrow for arrow in arrows(chart) - source if not cut_short(arrow)} == set(ADDED[chart])


@pytest.mark.parametrize(("chart", "name"), TRANSCRIPTS)
def test_a_chart_starts_where_its_source_does(chart, name):
    """The arrow from outside leads to the initial state."""
    assert [target for _, s, _, target in transcribed(name) if s == "*"] == [compile_chart(chart).initial]


@pytest.mark.parametrize("chart", [Pass, StageWithHooks, ModeAuthority, StageAuthority, StageExecution])
def test_a_cancel_ends_every_state_that_is_not_over(chart):
    """A user who interrupts does not wait for anything."""
    table = compile_chart(chart)
    open_states = [state for state in table.states if not table.is_final(state)]

    answers = [react(table, state, "interrupt") for state in open_states]
    assert [answer.state for answer in answers if isinstance(answer, Moved)] == ["Cancelled"] * len(answers)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.__name__)
def test_every_arrow_of_a_chart_has_a_clause_with_words(chart):
    """Every transition has a clause that exists in the spec."""
    table = compile_chart(chart)
    named = {row.clause for row in table.rows} | set(table.closed.values())

    assert named - set(load_spec("message-loop").clauses) == set()


def test_one_clause_says_one_thing_in_all_charts():
    """A clause labels the same event in every chart of the same subject."""
    events = {}
    for chart in CHARTS:
        for row in compile_chart(chart).rows:
            events.setdefault((row.clause, chart.subject), set()).add(row.event)

    assert {clause: found for clause, found in events.items() if len(found) > 1} == {}


ARROW_NUMBERS = {"LOOP": 40, "AUTH": 40, "HOOK": 40, "TURN": 40, "WIRE": 40, "CANCEL": 20}
"""From this number on, the clauses of an area are reserved for transitions of charts."""


def test_a_number_that_is_kept_for_arrows_stands_on_one():
    """Every clause with a reserved number labels a transition of a chart."""
    kept = {
        clause
        for clause in load_spec("message-loop").clauses
        if int(clause.partition("-")[2]) >= ARROW_NUMBERS.get(clause.partition("-")[0], 1_000)
    }
    tables = [compile_chart(chart) for chart in CHARTS]
    named = {row.clause for table in tables for row in table.rows}.union(*(t.closed.values() for t in tables))

    assert kept - named == set()


@pytest.mark.parametrize("chart", [ModeAuthority, StageAuthority])
def test_nothing_leads_to_execution_but_the_guards(chart):
    """A call that no guard saw is not executed."""
    assert {row.source for row in compile_chart(chart).rows if row.target == "Executing"} == {"Guards"}


@pytest.mark.parametrize("chart", [ModeAuthorityAfterGuards, StageAuthorityAfterGuards])
def test_where_guards_come_first_nothing_leads_to_execution_but_an_approval(chart):
    """A guard denies, and does not approve."""
    rows = compile_chart(chart).rows

    assert {row.source for row in rows if row.target == "Executing"} == {"Approved"}
    assert "Guards" not in {row.source for row in rows if row.target == "Approved"}


def test_a_denied_call_moves_nowhere():
    """Denied is a final state."""
    for chart in (ModeAuthority, StageAuthority, ModeAuthorityAfterGuards, StageAuthorityAfterGuards):
        assert isinstance(react(compile_chart(chart), "Denied", "execute"), Refused)


def test_the_bound_is_looked_at_when_a_continuation_would_begin():
    """Below the bound it counts, and at the bound it ends."""
    table = compile_chart(ContinuationBound)

    below = react(table, "Within", "continuation", {"below_bound"})
    reached = react(table, "Within", "continuation")
    assert isinstance(below, Moved)
    assert below.state == "Within"
    assert isinstance(reached, Moved)
    assert reached.state == "Reached"


def test_chart_names_are_unique():
    """Chart names are unique across families."""
    from runlock.machines.catalogue import every_chart

    names = [chart.__name__ for chart in {*every_chart("lifecycle"), *CHARTS}]
    assert len(names) == len(set(names))
