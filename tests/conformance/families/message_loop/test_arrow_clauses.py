"""Each clause of a transition is shown to fail when it is judged for itself.

What breaks such a clause breaks a rule that says more, and that rule is blamed first.  So each clause is
judged here without the others: on what a mutant shows in its stored schedule, or on a right trace with one
record edited.
"""

import tomllib

import pytest
from edited_traces import Edit, judged_for, label, right_trace
from loop_walks import Walks
from places import DATA

from runlock.conformance.families.message_loop.mutants import MUTANTS

ROWS = tomllib.loads((DATA / "message_loop_arrows.toml").read_text("utf-8"))
WALKS = tomllib.loads((DATA / "message_loop_walks.toml").read_text("utf-8"))
SCHEDULES = WALKS["walks"] | WALKS["after"] | WALKS["scripts"] | WALKS["scripts_after"]


@pytest.mark.parametrize("clause", [*ROWS["mutants"], *ROWS["traces"]])
def test_the_clause_of_a_transition_is_shown_to_fail(clause):
    """A wrong loop, or a wrong trace, breaks it; the right trace exercises it and does not."""
    if clause in ROWS["mutants"]:
        assert clause in broken_by(ROWS["mutants"][clause], clause)
        return
    row = ROWS["traces"][clause]
    right = right_trace(row["runtime"], row["script"])
    wrong = Edit(row["way"], row["record"], row.get("value")).apply(right)

    assert label(right[row["record"]]) == row["label"]
    held, broken = judged_for(clause, right), judged_for(clause, wrong)
    assert held.exercised[clause]
    assert held.violation is None
    assert broken.violation is not None


def broken_by(name, clause):
    """Which of the clauses breaks in the stored schedule of a mutant, if no other is judged."""
    walks = Walks(next(mutant for mutant in MUTANTS if mutant.name == name))
    walks.bench.mute(walks.bench.family.spec.clauses.keys() - {clause})
    try:
        return set(walks.see(SCHEDULES[name]).found)
    finally:
        walks.close()


def test_a_clause_is_shown_once():
    """By a mutant or by a trace."""
    assert ROWS["mutants"].keys() & ROWS["traces"].keys() == set()
