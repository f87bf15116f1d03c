"""The words of the spec against the charts: nothing moves without a clause, no clause speaks of no arrow."""

import pytest

from interlock.machines.charts.call import ToolCall
from interlock.machines.charts.resume_tool_call import ResumeToolCall
from interlock.machines.charts.run import Run, RunWithCreated
from interlock.machines.charts.run_flow import RunFlow
from interlock.machines.charts.tool_call import ToolCallPhases
from interlock.machines.table import compile_chart
from interlock.spec.model import load_spec

CHARTS_OF = {
    "RUN": (Run, RunWithCreated),
    "CALL": (ToolCall,),
    "RESUME": (ResumeToolCall,),
    "PHASE": (ToolCallPhases,),
    "FLOW": (RunFlow,),
}
DOCUMENTS = {"tirea", "awaken-8", "awaken-9", "tool-runner", "message-loop"}


def on_charts(area):
    tables = [compile_chart(chart) for chart in CHARTS_OF[area]]
    return {row.clause for table in tables for row in table.rows}.union(*(t.closed.values() for t in tables))


@pytest.mark.parametrize("area", list(CHARTS_OF))
def test_every_clause_that_a_chart_names_has_words(area):
    """An arrow that is blamed, or refused, can be looked up."""
    assert on_charts(area) - set(load_spec().clauses) == set()


@pytest.mark.parametrize("area", ["CALL", "RESUME", "PHASE", "FLOW"])
def test_clauses_that_arrows_make_have_an_arrow(area):
    """A clause of these areas that no chart names would speak of a move that cannot happen."""
    spoken = {clause.id for clause in load_spec().clauses.values() if clause.area == area}

    assert spoken - on_charts(area) == set()


def test_what_runs_and_calls_may_do_is_the_universal_core():
    """Every clause on the charts of runs and calls is claimed by every runtime."""
    spec = load_spec()

    assert [i for area in ("RUN", "CALL") for i in on_charts(area) if not spec.clause(i).core] == []


def test_a_clause_that_must_hold_says_where_to_look():
    """Whoever breaks a clause that can be tested gets a list of what to look at."""
    spec = load_spec()
    mute = [
        i
        for area in CHARTS_OF
        for i in sorted(on_charts(area))
        if (c := spec.clause(i)).level == "MUST" and not c.look_at and not c.untestable
    ]

    assert mute == []


def test_no_sentence_stands_twice():
    """Two clauses that say the same would be blamed on each other."""
    sentences = [clause.sentence for clause in load_spec().clauses.values()]

    assert len(set(sentences)) == len(sentences)


def test_errata_are_numbered_without_gaps_and_cite_the_documents():
    """Every contradiction that was found is there, and can be read where it stands."""
    errata = load_spec().errata

    assert list(errata) == [f"E-{n}" for n in range(1, len(errata) + 1)]
    assert {place.document for erratum in errata.values() for place in erratum.places} <= DOCUMENTS
    assert len(errata) >= 36


def test_the_profiles_are_those_of_the_sources():
    """Each source of the lifecycle has a profile, and the core has one."""
    names = {"core", "tirea", "tirea-stream", "awaken-8", "awaken-9", "awaken-concurrent"}

    assert names <= set(load_spec().profiles)


def test_a_stream_changes_when_decisions_act_and_nothing_else():
    """The two profiles of one source differ in one policy."""
    spec = load_spec()
    still, stream = spec.profile("tirea").policies, spec.profile("tirea-stream").policies

    assert {key for key in still | stream if still.get(key) != stream.get(key)} == {"decision.window"}


def test_the_concurrent_model_differs_from_its_present_by_what_it_promises():
    """The model to come runs calls together and lets decisions act at once."""
    spec = load_spec()
    now, then = spec.profile("awaken-8").policies, spec.profile("awaken-concurrent").policies

    assert {key for key in now | then if now.get(key) != then.get(key)} == {
        "round.executor",
        "decision.window",
        "decision.early",
    }
