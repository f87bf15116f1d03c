"""The status of a run as a projection of its calls, row by row against the timelines of the source."""

import itertools

import pytest
from places import TRANSCRIBED

from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.lifecycle.run_status import ROUND_COMPLETE, derive_run_status, source_derive_run_status
from runlock.machines.table import compile_chart


def rows(name):
    lines = (TRANSCRIBED / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.split()[1:] for line in lines if not line.startswith("#")]


def settled(calls, run):
    """The row as the errata read it: a call is never Created (E-6), a complete round is not Done (E-2)."""
    return [{"Created": "New"}.get(call, call) for call in calls], {"Done": ROUND_COMPLETE}.get(run, run)


@pytest.mark.parametrize("row", [*rows("timeline"), *rows("timeline_concurrent")], ids=" ".join)
def test_the_projection_is_that_of_the_timelines(row):
    """At each time of both timelines the calls give the status that the source writes next to them."""
    _, *calls, run = row
    calls, run = settled(calls, run)

    assert derive_run_status(calls) == run


def test_the_function_of_the_source_fails_its_own_timeline_at_the_first_row():
    """E-1: with every call New the source's function says Done where its timeline says Running."""
    wrong = [
        row[0] for row in rows("timeline") if source_derive_run_status(settled(row[1:4], "")[0]) != row[4]
    ]

    assert wrong == ["t0"]


def test_the_two_projections_differ_where_a_call_is_new_or_none_is_live():
    """Over all pairs of calls they differ by E-1 (New is at work) and by E-2 (complete is not Done) alone."""
    for calls in itertools.product(compile_chart(ToolCall).states, repeat=2):
        ours, theirs = derive_run_status(calls), source_derive_run_status(calls)
        busy = {"Running", "Resuming"} & set(calls)
        if "New" in calls and not busy:
            assert (ours, theirs) == ("Running", "Waiting" if "Suspended" in calls else "Done")
        else:
            assert ours == {"Done": ROUND_COMPLETE}.get(theirs, theirs)


def test_a_round_of_no_calls_is_complete():
    """Nothing is owed, so the calls say nothing of the run."""
    assert derive_run_status([]) == ROUND_COMPLETE
    assert source_derive_run_status([]) == "Done"


def test_a_status_that_no_call_has_is_refused():
    """A slip in a status must not pass for a finished call."""
    with pytest.raises(ValueError, match="Created: no call has that status; there are New, Running"):
        derive_run_status(["Created", "New"])
