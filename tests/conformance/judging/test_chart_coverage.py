"""What a schedule exercised of the charts is counted where it is certain, and nowhere else."""

from __future__ import annotations

import itertools

import pytest
from cli_fakes import Tiny

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario, ToolSpec
from runlock.conformance.families.lifecycle.monitors.coverage_targets import covered
from runlock.conformance.families.lifecycle.monitors.flow_charts import FLOW_READING, PASS_READING, TABLES
from runlock.conformance.families.lifecycle.monitors.round_charts import SHOWN
from runlock.conformance.families.lifecycle.monitors.status_charts import (
    CALLS,
    RESUME_GATE,
    RUNS,
    RUNS_WITH_CREATED,
)
from runlock.conformance.families.lifecycle.reference import ReferenceAdapter, factory
from runlock.conformance.family.chart_monitor import Follower
from runlock.conformance.family.coverage import Coverage, Trails
from runlock.conformance.trace.moves import Move, race

TOOLS = [ToolSpec(name="read"), ToolSpec(name="send", permission="ask")]
DECISION = {"id": "d1", "call": "c1", "action": "resume", "payload": None}

BY_NAME = {
    "Run", "RunWithCreated", "ToolCall", "ResumeToolCall", "StepEndsBeforeTools", "StepEndsAfterTools",
    "StepWithToolGate", "ConcurrentTask", "Dispatcher", "Barrier",
}  # fmt: skip
"""Charts whose stations are all told by name, so that no detour of another clause shows more of them."""


def asks(call, tool):
    """The model asks for one call."""
    asked = [{"id": call, "name": tool, "args": {"k": call}}]
    return Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "tool_calls": asked}})


START = Move("run.start", {"run": "r1", "input": "go"})
ANSWERS = Move("gate.release", {"gate": "tool:c1", "outcome": {"kind": "ok", "content": "done"}})
DECIDES = Move("decide", {"run": "r1", "decisions": [DECISION]})


def exercised(*moves, adapter=None):
    """What these moves exercise of the charts of a runtime."""
    bench = Bench(lambda: Hosted(adapter or factory("awaken-8")))

    def schedule(session):
        session.play(moves)
        session.close()

    tally = Tally()
    bench.play(Scenario(scenario="s", tools=TOOLS), schedule, tally)
    assert not tally.found
    return tally.coverage


@pytest.mark.parametrize(
    "table",
    [CALLS, RUNS, RUNS_WITH_CREATED, RESUME_GATE, *TABLES, *SHOWN],
    ids=lambda table: table.name,
)
def test_an_arrow_is_named_by_its_clause(table):
    """Within a chart no two arrows share a clause, so that a count belongs to one of them."""
    assert len({row.clause for row in table.rows}) == len(table.rows)


def test_two_arrows_of_one_life_make_a_pair():
    """Two arrows are a pair only for one instance that certainly took both in a row."""
    trails = Trails()
    start, suspend = CALLS.arrow("New", "Running")[0], CALLS.arrow("Running", "Suspended")[0]
    trails.take(CALLS, "c1", start)
    trails.take(CALLS, "c2", suspend)
    assert trails.coverage.pairs == {}

    trails.take(CALLS, "c1", suspend)
    assert trails.coverage.pairs == {("ToolCall", "CALL-1", "CALL-3"): 1}

    trails.lose(CALLS, "c1")
    trails.take(CALLS, "c1", CALLS.arrow("Suspended", "Resuming")[0])
    assert len(trails.coverage.pairs) == 1


def test_statuses_are_counted_arrow_by_arrow():
    """A call that waits and is approved takes its four arrows, and the three pairs that they make."""
    seen = exercised(START, asks("c1", "send"), DECIDES, ANSWERS)

    arrows = ["CALL-2", "CALL-7", "CALL-9", "CALL-4"]
    assert [seen.arrows["ToolCall", clause] for clause in arrows] == [1, 1, 1, 1]
    assert [key[1:] for key in seen.pairs if key[0] == "ToolCall"] == list(itertools.pairwise(arrows))


def test_without_statuses_the_arrows_are_derived():
    """A runtime that shows no statuses takes the same arrows, as far as its gates leave no doubt."""
    seen = exercised(START, asks("c1", "send"), DECIDES, ANSWERS, adapter=Tiny)

    assert {key[1] for key in seen.arrows if key[0] == "ToolCall"} == {"CALL-2", "CALL-7", "CALL-9", "CALL-4"}
    assert {key[1] for key in seen.arrows if key[0] == "Run"} == {"RUN-1", "RUN-2"}


def test_what_has_to_be_shown_and_is_not_is_said():
    """A chart of which nothing shows has a reason in place of a count."""
    shown = ["run.status", "call.status", "checkpoint"]
    bench = Bench(lambda: Hosted(lambda: ReferenceAdapter("tirea", declare={"observes": shown})))
    charts = {
        chart.chart: chart for chart in covered(bench.handshake, bench.policies, bench.standings, Coverage())
    }

    assert charts["ResumeToolCall"].why == "the runtime does not show resume"
    assert charts["RunFlow"].why == "the runtime does not show phase or resume"
    assert not charts["RunFlow"].arrows


def test_nothing_exercised_is_nothing_covered():
    """Before a schedule was played every count is nought."""
    bench = Bench(lambda: Hosted(factory("awaken-9")))

    for chart in covered(bench.handshake, bench.policies, bench.standings, Coverage()):
        assert not any((*chart.arrows.values(), *chart.pairs.values(), *chart.refusals.values()))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("profile", ["tirea", "awaken-8", "awaken-9", "awaken-concurrent"])
def test_what_is_taken_is_possible(profile):
    """No schedule takes an arrow that the profile does not have, or that does not show."""
    bench, total = Bench(lambda: Hosted(factory(profile))), Tally()
    for script in corpus(FAMILY)[::4]:
        bench.play(script.scenario, play(script), total)

    charts = covered(bench.handshake, bench.policies, bench.standings, Coverage())
    told = {chart.chart: chart for chart in charts if chart.chart in BY_NAME}
    able = {(name, row.clause) for name, chart in told.items() for row in chart.arrows}
    pairs = {(name, one.clause, two.clause) for name, chart in told.items() for one, two in chart.pairs}
    assert {arrow for arrow in total.coverage.arrows if arrow[0] in told} <= able
    assert {pair for pair in total.coverage.pairs if pair[0] in told} <= pairs


# --- refused stimuli ----------------------------------------------------------------------------


def test_a_decision_nobody_waits_for_is_counted_by_the_state_it_met():
    """For a call that runs, for one that is over, and for one that no one asked for."""
    nobody = {**DECISION, "id": "d9", "call": "nobody"}
    again = Move("decide", {"run": "r1", "decisions": [{**DECISION, "id": "d2"}, nobody]})
    seen = exercised(START, asks("c1", "read"), DECIDES, ANSWERS, again)

    assert seen.cells == {
        ("ToolCall", "Running", "decide resume"): 1,
        ("ToolCall", "Succeeded", "decide resume"): 1,
        ("ToolCall", "unknown", "decide resume"): 1,
    }


def test_what_is_taken_is_no_refusal():
    """A decision for a call that waits is what its state takes."""
    assert exercised(START, asks("c1", "send"), DECIDES).cells == {}


def test_in_a_race_nobody_knows_which_state_was_met():
    """A decision that comes with the answer of its call may meet either status."""
    assert exercised(START, asks("c1", "read"), race([ANSWERS, DECIDES])).cells == {}


def test_a_run_refuses_too():
    """Input for a run that waits, and a cancel of one that is over."""
    seen = exercised(
        START,
        asks("c1", "send"),
        Move("run.input", {"run": "r1", "input": "other"}),
        Move("cancel", {"run": "r1"}),
        Move("cancel", {"run": "r1"}),
    )

    assert seen.cells == {("Run", "Waiting", "run.input"): 1, ("Run", "Done", "cancel"): 1}


# --- ways that show little ----------------------------------------------------------------------


def taken(reading, *labels):
    """The clauses of the arrows that the last of these labels shows to be taken."""
    follower = Follower(reading)
    for label in labels:
        follower.see(label)
    return [row.clause for row in follower.taken if row is not None]


def test_states_that_show_nothing_are_passed_on_the_only_way():
    """From the input to the first step leads one way, past three stations that show nothing."""
    assert taken(FLOW_READING, "RunStart", "UserMessage", "StepStart") == [
        "FLOW-2", "FLOW-4", "FLOW-7", "FLOW-8",
    ]  # fmt: skip


def test_a_doubt_that_is_cleared_up_counts():
    """A look at the resume gate may be one of two; either way the same arrows led to the step."""
    assert taken(FLOW_READING, "RunStart", "UserMessage", "the resume gate", "StepStart") == [
        "FLOW-2", "FLOW-4", "FLOW-7", "FLOW-8",
    ]  # fmt: skip


def test_where_several_ways_lead_none_is_taken():
    """After the judgement of a call nothing tells whether it was blocked, held or failed."""
    assert taken(PASS_READING, "BeforeToolExecute", "AfterToolExecute") == []
