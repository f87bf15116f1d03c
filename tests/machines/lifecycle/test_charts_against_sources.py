"""Every chart, arrow by arrow and both ways, against a table that was transcribed from its source by hand.

The tables are in transcribed/, with the line of each arrow.  A `*` stands for the outside, `?` for an
arrow that the source draws without saying what takes it.  Where a source has words instead of a drawing, a
line names the words that an arrow was read from.
"""

import pytest
from transcripts import arrows, transcribed

from runlock.machines.lifecycle.charts.ag_ui_stream import AgUiStream
from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.lifecycle.charts.concurrent_round import Barrier, ConcurrentTask, Dispatcher
from runlock.machines.lifecycle.charts.event_sink import ReconnectableEventSink
from runlock.machines.lifecycle.charts.resume_tool_call import ResumeToolCall
from runlock.machines.lifecycle.charts.run import Run, RunWithCreated
from runlock.machines.lifecycle.charts.run_flow import RunFlow
from runlock.machines.lifecycle.charts.step import StepEndsAfterTools, StepEndsBeforeTools, StepWithToolGate
from runlock.machines.lifecycle.charts.tool_call import ToolCallPhases
from runlock.machines.lifecycle.charts.tool_execution import ThreeStages, TwoPhases
from runlock.machines.lifecycle.charts.wait_loop import WaitForResumeOrCancel
from runlock.machines.table import compile_chart
from runlock.spec.model import load_spec

FOR_EACH_CALL = {
    ("AfterToolExecute", "another", "BeforeToolExecute"): "E-20",
    ("AfterToolExecute", "outcome", "AfterToolExecute"): "E-20",
}

# What the spec adds to its source, and the erratum or the source that settles it.
ADDED = {
    Run: {
        ("Running", "blocked", "Done"): "awaken has a reason of its own for it (line 98)",
        ("Waiting", "stopped", "Done"): "awaken ends a waiting run on completion too (line 29)",
    },
    ToolCall: {
        ("New", "provide", "Succeeded"): "E-7",
        ("New", "fail", "Failed"): "E-7",
        ("New", "cancel", "Cancelled"): "E-7",
    },
    ResumeToolCall: {},
    ToolCallPhases: {("BeforeToolExecute", "again", "BeforeToolExecute"): "E-51"},
    RunFlow: {
        ("RunStart", "reenter", "ResumeReplay0"): "E-63",
        ("ResumeReplay0", "parked", "Suspended"): "E-63",
        ("CommitReplay0", "decided", "ResumeReplay0"): "E-63",
        ("CommitAssistant", "drain", "ResumeBeforeEnd"): "E-63",
        ("ResumeBeforeEnd", "none_waits", "NaturalEnd"): "E-63",
        ("ResumeBeforeEnd", "some_wait", "Suspended"): "E-55",
        ("ResumeBeforeEnd", "resolved", "LoopTop"): "E-63",
        ("ResumeToolCall", "held_back", "ToolRound"): "E-63",
        ("ResumeAfterTool", "held_back", "ToolRound"): "E-63",
    },
    StepEndsBeforeTools: FOR_EACH_CALL
    | {
        ("BeforeToolExecute", "another", "BeforeToolExecute"): "E-20",
        ("BeforeToolExecute", "left_over", "CommitTool"): "E-51",
    },
    StepEndsAfterTools: FOR_EACH_CALL | {("BeforeToolExecute", "none_left", "StepEnd"): "E-10"},
    StepWithToolGate: FOR_EACH_CALL
    | {
        ("AfterInference", "no_tools", "StepEnd"): "awaken with eight phases says when (line 94)",
        ("ToolGate", "none_left", "StepEnd"): "E-10",
        ("BeforeToolExecute", "left_over", "StepEnd"): "E-65",
        (
            "ToolGate",
            "outcome",
            "AfterToolExecute",
        ): "results are looked at, also those that were set (line 8)",
    },
    TwoPhases: {},
    ThreeStages: {
        ("Sequential", "close", "Completed"): "awaken with eight phases goes on to the next step (line 165)",
        ("Parallel", "close", "Completed"): "awaken with eight phases goes on to the next step (line 165)",
    },
    WaitForResumeOrCancel: {
        ("Blocked", "cancel", "Cancelled"): "E-22",
        ("ReplayResume", "cancel", "Cancelled"): "E-22",
        ("ReplayResume", "end", "Ended"): "a run at work may end (line 29)",
        ("Blocked", "break_off", "Ended"): "awaken ends a waiting run on completion or an error (line 29)",
        ("Blocked", "set_aside", "Resumed"): "the policy input.waiting; no source speaks of it (line 206)",
    },
    ConcurrentTask: {
        ("Execute", "hold", "WaitDecision"): "tirea has a running call suspend (line 44)",
        ("Replay", "hold", "WaitDecision"): "E-23",
        ("WaitDecision", "finish", "Terminal"): "E-22",
    },
    Dispatcher: {},
    Barrier: {},
    ReconnectableEventSink: {("Dropped", "finish", "Closed"): "E-25"},
    AgUiStream: {
        ("Closed", "end", "Ended"): "what may follow the end of a run need not (line 177)",
        ("Failed", "end", "Ended"): "what may follow the end of a run need not (line 177)",
    },
}

# The ids of runs and calls were given in an order of their own; the others count the source's arrows.
LABELLED = [
    (Run, "run_tirea"),
    (ToolCall, "call_tirea"),
    (ResumeToolCall, "resume_tool_call"),
    (ToolCallPhases, "tool_call"),
    (RunFlow, "run_flow"),
]
DRAWN_FROM_WORDS = [
    (StepEndsBeforeTools, "step_tirea"),
    (StepEndsAfterTools, "step_awaken_8"),
    (StepWithToolGate, "step_awaken_9"),
    (TwoPhases, "two_phases"),
    (ThreeStages, "three_stages"),
    (WaitForResumeOrCancel, "wait_loop"),
    (ConcurrentTask, "concurrent_task"),
    (Dispatcher, "dispatcher"),
    (Barrier, "barrier"),
    (ReconnectableEventSink, "event_sink"),
    (AgUiStream, "ag_ui_stream"),
]
TRANSCRIPTS = LABELLED + DRAWN_FROM_WORDS


@pytest.mark.parametrize(("chart", "name"), TRANSCRIPTS)
def test_a_chart_has_the_arrows_of_its_source_and_the_listed_additions(chart, name):
    """No arrow is missing, none is there without a source, and each addition says what settles it."""
    source = {(s, e, t) for _, s, e, t in transcribed(name) if "*" not in (s, t)}

    assert source & ADDED[chart].keys() == set()
    assert arrows(chart) - source == set(ADDED[chart])
    assert source - arrows(chart) == set()


@pytest.mark.parametrize(("chart", "name"), TRANSCRIPTS)
def test_a_chart_starts_and_ends_where_its_source_does(chart, name):
    """The arrows from and to the outside are the initial and the final states."""
    table, rows = compile_chart(chart), transcribed(name)
    ends = {source for _, source, _, target in rows if target == "*"}

    assert [target for _, source, _, target in rows if source == "*"] == [table.initial]
    assert not ends or ends == table.finals


@pytest.mark.parametrize(("chart", "name"), LABELLED[2:])
def test_the_ids_of_a_chart_follow_the_order_of_its_source(chart, name):
    """Reading the source downwards, the numbers count its arrows."""
    number = {(r.source, r.event, r.target): int(r.clause.split("-")[1]) for r in compile_chart(chart).rows}
    in_order = [number[s, e, t] for _, s, e, t in transcribed(name) if "*" not in (s, t)]

    assert in_order == list(range(1, len(in_order) + 1))


@pytest.mark.parametrize(("chart", "name"), [(Run, "run_awaken"), (RunWithCreated, "run_created")])
def test_a_run_joins_the_same_states_as_the_source_without_labels(chart, name):
    """Whatever takes an arrow, it leads where the source draws one, and nowhere else."""
    drawn = {(source, target) for _, source, _, target in transcribed(name)}

    assert {(row.source, row.target) for row in compile_chart(chart).rows} == drawn


def test_a_call_joins_the_same_states_as_the_source_without_labels():
    """Where awaken draws a call, the chart differs by the errata alone: held, ended or cancelled when New."""
    drawn = {(source, target) for _, source, _, target in transcribed("call_awaken")}
    joined = {(row.source, row.target) for row in compile_chart(ToolCall).rows}

    assert drawn - joined == set()
    assert joined - drawn == {("New", end) for end in ("Suspended", "Succeeded", "Failed", "Cancelled")}


def test_a_run_that_is_created_first_has_the_named_arrows_out_of_created():
    """It begins, is cancelled, or is rejected."""
    named = {(s, e, t) for _, s, e, t in transcribed("run_created") if e != "?"}

    assert {arrow for arrow in arrows(RunWithCreated) if arrow[0] == "Created"} == named


def test_a_run_that_is_created_first_is_the_other_run_from_running_on():
    """The two charts of a run agree row by row, clause and phrase included."""
    late = {row for row in compile_chart(RunWithCreated).rows if row.source != "Created"}

    assert late == set(compile_chart(Run).rows)


def test_one_clause_says_one_thing_in_all_charts():
    """A clause stands on the same row wherever it stands."""
    charts = (RunWithCreated, *ADDED)
    rows = {row for chart in charts for row in compile_chart(chart).rows}

    assert len({row.clause for row in rows}) == len(rows)


def test_every_addition_names_an_erratum_or_a_line():
    """What no drawing has is settled somewhere, and one can look it up."""
    reasons = [reason for added in ADDED.values() for reason in added.values()]

    assert [r for r in reasons if r not in load_spec("lifecycle").errata and "(line " not in r] == []


@pytest.mark.parametrize(
    ("chart", "earlier"), [(StepEndsAfterTools, StepEndsBeforeTools), (StepWithToolGate, StepEndsAfterTools)]
)
def test_the_charts_of_a_step_agree_where_they_draw_the_same(chart, earlier):
    """An arrow that two kinds of step have in common has one clause and one phrase."""
    ours, theirs = (
        {(row.source, row.event, row.target): row for row in compile_chart(one).rows}
        for one in (chart, earlier)
    )
    shared = ours.keys() & theirs.keys()

    assert len(shared) >= 6
    assert {ours[arrow] for arrow in shared} == {theirs[arrow] for arrow in shared}
