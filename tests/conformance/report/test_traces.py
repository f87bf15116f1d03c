"""The traces of runtimes that the playground plays: each is of the version and the schedule of the matrix."""

import json
from pathlib import Path

import pytest
from places import ROOT

from runlock.conformance.campaign.audit import facts_of
from runlock.conformance.campaign.rejudging import violations_in
from runlock.conformance.report import traces
from runlock.diagrams.charts.playable import packed, unpacked

REPORT = json.loads((ROOT / "docs/matrix.json").read_text("utf-8"))
STORED = traces.known(ROOT / "docs" / traces.FILE)
SHOWN = list(traces.shown(REPORT, STORED))


def test_a_trace_is_the_same_when_it_was_unpacked():
    """It is stored in letters that may stand in a URL."""
    [(_, _, trace), *_] = SHOWN

    assert unpacked(packed(trace)).records == trace.records


@pytest.mark.long
@pytest.mark.parametrize(("runtime", "clause", "trace"), SHOWN, ids=[f"{one[0]} {one[1]}" for one in SHOWN])
def test_what_a_runtime_did_breaks_the_clause(runtime, clause, trace):
    """The trace is judged again by the clauses of today."""
    path = Path(f"{runtime} {clause}")

    assert clause in {one.clause for one in violations_in(path.name, trace, facts_of(path, trace))}


def test_a_trace_of_another_version_or_of_other_steps_is_not_shown():
    """A runtime that is judged again has no trace of before."""
    [(runtime, clause, _), *_] = SHOWN
    [column] = [one for one in REPORT["runtimes"] if one["name"] == runtime]
    [found] = [one for one in column["violations"] if one["clause"] == clause]
    newer = {**column, "implementation": {**column["implementation"], "version": "99"}}
    longer = {**column, "violations": [{**found, "witness": [*found["witness"], "cancel r1"]}]}

    for other in (newer, longer):
        assert list(traces.shown({"runtimes": [other]}, {runtime: {clause: STORED[runtime][clause]}})) == []


def test_news_replace_the_traces_of_a_runtime(tmp_path):
    """Those of other runtimes stay."""
    file = tmp_path / traces.FILE
    file.write_text(json.dumps({"b": {"GATE-2": "x"}, "a": {"GATE-1": "y"}}))

    assert traces.merged(file, {"b": {"RUN-3": "z"}}) == {"a": {"GATE-1": "y"}, "b": {"RUN-3": "z"}}
