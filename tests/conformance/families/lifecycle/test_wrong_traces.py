"""What runtimes did wrong that share nothing with the kit: each trace breaks one clause, and no other.

Each file is named after what was done in it.
"""

import tomllib

import pytest
from places import DATA

from runlock.conformance.campaign.audit import audit

TRACES = {path.stem: path for path in (DATA / "wrong_traces").glob("*.jsonl")}

BREAKS = {
    "a-drained-result-that-is-told-as-cancelled": (
        "PAIR-4",
        "the tool of call c1 answered 'mine', yet the model was not shown that: it was shown 'cancelled'",
    ),
    "a-permission-asked-twice-after-one-phase": (
        "PHASE-87",
        "permission is asked once more for call c1, yet BeforeToolExecute has not fired once more for it",
    ),
    "an-input-after-the-end-that-goes-on": ("RUN-20", "the run is Done, yet a model gate opened"),
    "a-second-wait-in-the-first-suspension": (
        "DECIDE-3",
        "call c1 waits anew in suspension 1, as it was before: "
        "a decision for the wait that is over would act on it",
    ),
    "a-wait-that-begins-anew-in-another-suspension": (
        "RECOVER-2",
        "the checkpoint says that call c1 is Suspended, yet it starts in suspension 0, not 2",
    ),
    "a-cancelled-wait-that-is-shown-as-a-success": (
        "PAIR-6",
        "nobody gave call c1 a result, yet the model is shown success",
    ),
    "a-stored-decision-that-a-crash-costs": (
        "DECIDE-4",
        "the checkpoint holds decision d1 for call c1, which waits in it, yet the call waits still",
    ),
    "an-input-that-is-committed-before-it-is-heard": (
        "FLOW-1",
        "the input 'write it' is committed, yet its checkpoint does not hold it",
    ),
    "an-aborted-call-that-is-shown-as-a-success": (
        "PAIR-6",
        "nobody gave call c1 a result, yet the model is shown success",
    ),
    "an-approval-that-runs-with-an-earlier-payload": (
        "DECIDE-17",
        'call c1 was decided with payload {"v": 2} for its arguments, yet it ran with {"v": 1}',
    ),
}


WHOLE = tomllib.loads((DATA / "wrong_traces.toml").read_text("utf-8"))
"""What breaks in traces of the reference that were changed: messages and calls that are not whole."""


@pytest.mark.parametrize("name", BREAKS)
def test_one_clause_is_broken(name):
    """The clause that a trace is about objects, in its own words."""
    clause, because = BREAKS[name]

    assert {one.clause: one.reason for one in audit(TRACES[name], name).witnesses} == {clause: because}


@pytest.mark.parametrize("name", WHOLE)
def test_what_was_changed_is_seen(name):
    """The clauses that the change breaks object, each in its own words, and no others."""
    assert {one.clause: one.reason for one in audit(TRACES[name], name).witnesses} == WHOLE[name]


def test_every_trace_breaks_a_clause():
    """Every trace in the folder is read by a test."""
    assert set(TRACES) == {*BREAKS, *WHOLE}
