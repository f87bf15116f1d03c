"""The charts of the tool runner, arrow by arrow, against tables transcribed from the source by hand."""

import pytest
from transcripts import arrows, transcribed

from runlock.machines.table import compile_chart, react
from runlock.machines.tool_runner.charts.iteration import RunnerIteration
from runlock.machines.tool_runner.charts.response import CachedToolResponse
from runlock.spec.model import load_spec

# What the spec adds to the source, and the erratum or the policy that settles it.
STREAMED = {
    ("Asked", "open", "Streaming"): "tools.start",
    ("Streaming", "whole", "Yielded"): "tools.start",
    ("Streaming", "leave", "Left"): "E-60",
    ("Streaming", "fault", "Broken"): "E-60",
    ("Streaming", "cancel", "Cancelled"): "E-60",
}
ENDS = {
    ("Settled", "limit", "Limited"): "E-60",
    ("Updated", "limit", "Limited"): "stop.tools",
    ("Yielded", "leave", "Left"): "E-60",
    ("Asked", "fault", "Broken"): "E-60",
    ("Handling", "fault", "Broken"): "E-60",
    ("Resumed", "fault", "Broken"): "E-60",
    ("Left", "close", "Over"): "again.break",
    ("Broken", "close", "Over"): "again.fault",
} | {
    (state, "cancel", "Cancelled"): "E-60"
    for state in ("Settled", "Asked", "Yielded", "Resumed", "Updated", "Handling")
}  # fmt: skip
ADDED = {
    RunnerIteration: STREAMED
    | ENDS
    | {
        ("Resumed", "placed", "Updated"): "runner.append",
        ("Updated", "go_on", "Settled"): "E-37",
        ("Left", "go_back", "Resumed"): "again.break",
        ("Broken", "retry", "Settled"): "again.fault",
    },
    CachedToolResponse: {
        ("Kept", "drop", "Empty"): "E-62",
        ("Making", "give_up", "Empty"): "cancel.inflight",
        ("Empty", "forget", "Forgotten"): "runner.cache",
        ("Kept", "forget", "Forgotten"): "runner.cache",
    },
}
TRANSCRIPTS = [(RunnerIteration, "runner_iteration"), (CachedToolResponse, "tool_response")]


@pytest.mark.parametrize(("chart", "name"), TRANSCRIPTS)
def test_a_chart_has_the_arrows_of_its_source_and_the_listed_additions(chart, name):
    """The chart has exactly the transitions of its source and the listed, justified additions."""
    source = {(s, e, t) for _, s, e, t in transcribed(name) if "*" not in (s, t)}

    assert source & ADDED[chart].keys() == set()
    assert arrows(chart) - source == set(ADDED[chart])
    assert source - arrows(chart) == set()


@pytest.mark.parametrize(("chart", "name"), TRANSCRIPTS)
def test_a_chart_starts_where_its_source_does(chart, name):
    """The arrow from the outside is the initial state."""
    begins = [target for _, source, _, target in transcribed(name) if source == "*"]

    assert begins == [compile_chart(chart).initial]


def test_the_end_of_the_source_is_one_of_the_six():
    """Final turn, limit and cancel are final; after a break or a fault the runner may be continued."""
    ends = {source for _, source, _, target in transcribed("runner_iteration") if target == "*"}

    assert ends < compile_chart(RunnerIteration).finals == {"Finished", "Limited", "Cancelled", "Over"}


def test_every_addition_names_what_settles_it():
    """Each addition names an existing erratum or policy."""
    spec = load_spec("tool-runner")
    reasons = {reason for added in ADDED.values() for reason in added.values()}

    assert reasons - set(spec.errata) - set(spec.policies) == set()


def test_one_clause_says_one_thing_on_both_charts():
    """All rows of a clause have the same event and the same phrase."""
    said = {}
    for chart in ADDED:
        for row in compile_chart(chart).rows:
            assert said.setdefault(row.clause, (row.event, row.phrase)) == (row.event, row.phrase)


@pytest.mark.parametrize("event", ["request", "handle", "results", "append", "finish"])
def test_between_yield_and_resume_the_runner_does_nothing(event):
    """While the turn is with the user only a resume, leaving and a cancel move the chart."""
    table = compile_chart(RunnerIteration)

    assert {row.event for row in table.rows if row.source == "Yielded"} == {"resume", "leave", "cancel"}
    assert str(react(table, "Yielded", event)) != ""
    assert react(table, "Yielded", event).clause == "RUNNER-49"


@pytest.mark.parametrize("end", ["Left", "Broken"])
def test_from_a_break_or_a_fault_nothing_goes_on_by_itself(end):
    """Only the user can continue the runner."""
    rows = [row for row in compile_chart(RunnerIteration).rows if row.source == end]

    assert {row.event for row in rows} <= {"go_back", "retry", "close"}
