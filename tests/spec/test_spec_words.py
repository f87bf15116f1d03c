"""The words of the spec against the charts: nothing moves without a clause, no clause speaks of no arrow."""

import re

import pytest
from source_coverage import ACP_SOURCES, PAGES

from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.machines.lifecycle.charts.ag_ui_stream import AgUiStream
from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.lifecycle.charts.concurrent_round import Barrier, ConcurrentTask, Dispatcher
from runlock.machines.lifecycle.charts.event_sink import ReconnectableEventSink
from runlock.machines.lifecycle.charts.resume_tool_call import ResumeToolCall
from runlock.machines.lifecycle.charts.run import Run, RunWithCreated
from runlock.machines.lifecycle.charts.run_flow import RunFlow, SegmentCutShort
from runlock.machines.lifecycle.charts.step import (
    StepCutShort,
    StepEndsAfterTools,
    StepEndsBeforeTools,
    StepThatWaited,
    StepWithToolGate,
)
from runlock.machines.lifecycle.charts.tool_call import ToolCallPhases
from runlock.machines.lifecycle.charts.tool_execution import ThreeStages, TwoPhases
from runlock.machines.lifecycle.charts.wait_loop import WaitForResumeOrCancel
from runlock.machines.table import compile_chart
from runlock.spec.model import load_spec

STEPS = (StepEndsBeforeTools, StepEndsAfterTools, StepWithToolGate, StepThatWaited, StepCutShort)
CHARTS_OF = {
    "RUN": (Run, RunWithCreated),
    "CALL": (ToolCall,),
    "RESUME": (ResumeToolCall,),
    "PHASE": (ToolCallPhases, *STEPS),
    "FLOW": (RunFlow, SegmentCutShort),
    "ROUND": (TwoPhases, ThreeStages, ConcurrentTask, Dispatcher, Barrier),
    "DECIDE": (WaitForResumeOrCancel,),
    "STREAM": (ReconnectableEventSink,),
    "PRODUCER": (AgUiStream,),
}
NUMBERS_OF_ARROWS = {
    "RUN": [range(1, 19)],
    "CALL": [range(1, 22)],
    "RESUME": [range(1, 100)],
    "PHASE": [range(1, 21), range(40, 80)],
    "FLOW": [range(1, 100)],
    "ROUND": [range(20, 100)],
    "DECIDE": [range(40, 60)],
    "STREAM": [range(1, 8), range(20, 30)],
    "PRODUCER": [range(1, 5), range(40, 50)],
}
"""The numbers of an area that are kept for arrows and for what may leave a state."""

OF_OTHER_DOCUMENTS = {*range(37, 48), *range(56, 63), *range(67, 79)}
"""Numbers of errata that are kept for the families of the tool runner and the message loop."""

AS_DECLARED = re.compile(r"\bas (it )?(was |is )?declared\b")
DOCUMENTS = {"tirea", "awaken-8", "awaken-9", "tool-runner", "message-loop"}
DOCUMENTS |= {f"ag-ui-1.1-{page}" for page in PAGES} | {*ACP_SOURCES}


def on_charts(area):
    tables = [compile_chart(chart) for chart in CHARTS_OF[area]]
    return {row.clause for table in tables for row in table.rows}.union(*(t.closed.values() for t in tables))


@pytest.mark.parametrize("area", list(CHARTS_OF))
def test_every_clause_that_a_chart_names_has_words(area):
    """An arrow that is blamed, or refused, can be looked up."""
    assert on_charts(area) - set(load_spec("lifecycle").clauses) == set()


@pytest.mark.parametrize("area", list(CHARTS_OF))
def test_a_number_that_is_kept_for_arrows_stands_on_one(area):
    """A clause among those of a chart that no chart names would speak of a move that cannot happen."""
    kept = {f"{area}-{number}" for numbers in NUMBERS_OF_ARROWS[area] for number in numbers}

    assert set(load_spec("lifecycle").clauses) & kept == on_charts(area)


def test_what_runs_and_calls_may_do_is_the_universal_core():
    """Every clause on the charts of runs and calls is claimed by every runtime."""
    spec = load_spec("lifecycle")

    assert [i for area in ("RUN", "CALL") for i in on_charts(area) if not spec.clause(i).core] == []


def test_a_clause_that_can_be_broken_says_where_to_look():
    """Every testable clause lists what to look at when it is broken."""
    clauses = load_spec("lifecycle").clauses.values()

    assert [c.id for c in clauses if c.level != "MAY" and not c.look_at and not c.untestable] == []


def test_every_value_of_every_policy_decides_about_a_clause():
    """A choice that no clause asks about would be declared for nothing, and could be broken by no one."""
    spec = load_spec("lifecycle")
    asked = {
        (key, value) for c in spec.clauses.values() for key, values in c.applies.items() for value in values
    }

    assert [(p.key, v) for p in spec.policies.values() for v in p.values if (p.key, v) not in asked] == []


def test_no_sentence_stands_twice():
    """Two clauses that say the same would be blamed on each other."""
    sentences = [clause.sentence for clause in load_spec("lifecycle").clauses.values()]

    assert len(set(sentences)) == len(sentences)


def test_as_declared_names_the_policy():
    """A text that refers to a declaration says which policy it means."""
    checks = {check.check.__doc__ or "" for check in INVARIANTS}
    clauses = {clause.sentence for clause in load_spec("lifecycle").clauses.values()}

    assert [text for text in checks | clauses if AS_DECLARED.search(text)] == []


def test_errata_are_numbered_without_gaps_and_cite_the_documents():
    """Every contradiction that was found is there, and can be read where it stands."""
    errata = load_spec("lifecycle").errata

    numbers = [int(erratum.removeprefix("E-")) for erratum in errata]

    assert set(range(1, max(numbers) + 1)) - set(numbers) <= OF_OTHER_DOCUMENTS
    assert numbers == sorted(set(numbers))
    assert {place.document for erratum in errata.values() for place in erratum.places} <= DOCUMENTS


def test_the_profiles_are_those_of_the_sources():
    """Each source of the lifecycle has a profile, and the core has one."""
    names = {"core", "tirea", "tirea-stream", "awaken-8", "awaken-9", "awaken-concurrent"}
    names |= {"ag-ui-1.0", "ag-ui-1.1"}

    assert names <= set(load_spec("lifecycle").profiles)


def test_a_stream_changes_when_decisions_act_and_nothing_else():
    """The two profiles of one source differ in one policy."""
    spec = load_spec("lifecycle")
    still, stream = spec.profile("tirea").policies, spec.profile("tirea-stream").policies

    assert {key for key in still | stream if still.get(key) != stream.get(key)} == {"decision.window"}


def test_the_concurrent_model_differs_from_its_present_by_what_it_promises():
    """The model to come runs calls together and lets decisions act at once."""
    spec = load_spec("lifecycle")
    now, then = spec.profile("awaken-8").policies, spec.profile("awaken-concurrent").policies

    assert {key for key in now | then if now.get(key) != then.get(key)} == {
        "round.executor",
        "decision.window",
        "decision.early",
    }
