"""Each check is shown to object on its own, but for those that only count.

A check objects to a row of a table, a stored wrong trace, a mutant, or a right trace that was edited.
tests/data/edited_traces.json has the edits.  Their schedules are scripts, witnesses, and those of
tests/data/edited_schedules, which are played for an edit alone.
"""

from __future__ import annotations

from collections import Counter

import pytest
from objections import (
    edited,
    hear,
    judged_on_the_reference,
    name_of,
    objecting_in_tables,
    rows_of_edits,
    schedules_of_edits,
    traces_of_arrows,
    traces_of_mutants,
    wrong_traces,
)

from runlock.conformance.family.family import Family, family_named
from runlock.conformance.family.invariant import Invariant

FAMILIES = [family_named(name) for name in ("lifecycle", "message-loop", "tool-runner")]

each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@pytest.mark.sampled(3)
@each_family
def test_a_check_objects_to_the_row_that_names_it(family: Family) -> None:
    """What it says of the trace that was not edited is said elsewhere: the reference breaks nothing."""
    rows = rows_of_edits(family)
    checks = {name_of(check): check for check in family.invariants}
    silent = {checks[name] for name in rows}
    for name, row in rows.items():
        asked = {checks[name]}
        records, declares = edited(family, row)
        hear(family, records, asked, **declares)
        silent -= {checks[name]} - asked

    assert sorted(map(name_of, silent)) == []


@each_family
def test_the_schedule_of_an_edit_is_right(family: Family) -> None:
    """The reference breaks nothing in it, so that the edit alone is what a check objects to."""
    used = {row["script"] for row in rows_of_edits(family).values()}
    for script in schedules_of_edits(family):
        tally = judged_on_the_reference(family, script)

        assert script.name in used
        assert (dict(tally.found), tally.troubles, tally.schedules) == ({}, [], 1)


@pytest.mark.long
@each_family
def test_every_check_objects_but_those_that_only_count(family: Family) -> None:
    """A check that was never seen to object judges nothing: it goes, or is registered with `@counts`."""
    rows = rows_of_edits(family)
    silent = {check for check in family.invariants if name_of(check) not in rows}
    if family.name == "lifecycle":
        silent.difference_update(objecting_in_tables())
        for records in wrong_traces():
            hear(family, records, silent)
    traces = (*(traces_of_arrows() if family.name == "message-loop" else ()), *traces_of_mutants(family))
    for records in traces:
        hear(family, records, silent)

    counted = set(map(name_of, counting(family)))
    assert sorted(set(map(name_of, silent)) - counted) == []
    assert counted <= set(map(name_of, silent)), "a check that only counts objects"


def counting(family: Family) -> list[Invariant]:
    """The checks of a family that only count."""
    return [check for check in family.invariants if check.only_counts]


@each_family
def test_every_clause_keeps_a_check_that_judges(family: Family) -> None:
    """A clause of which every check only counts would hold whatever a runtime does; so does a permission."""
    permitted = {one.id for one in family.spec.clauses.values() if one.level == "MAY"}
    judged = {check.clause for check in family.invariants if not check.only_counts}
    counted = Counter(check.clause for check in counting(family))

    assert sorted(counted.keys() - judged - permitted) == []
