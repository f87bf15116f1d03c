"""One application that runs already is played on by several threads of the kit at once."""

import pytest

from runlock.conformance.campaign.order import Means, Order, Sampled
from runlock.conformance.campaign.supervisor import campaign
from runlock.conformance.wires import opened

THREADS = 4


@pytest.fixture
def target(apps, monkeypatch):
    """The name of an application as a target, whose wire is open."""

    def named(name):
        found = apps.wire(name)
        monkeypatch.setitem(opened._OPEN, str(found.address), found)
        return str(found.address)

    return named


def checked(target, jobs, **more):
    """The result of the scripts alone."""
    return campaign(Order(target, Sampled(0, 0), **more), Means(jobs))


@pytest.mark.long
def test_a_right_application_holds(target):
    """And each clause is exercised as often as by one thread."""
    one, several = (checked(target("usual"), jobs) for jobs in (1, THREADS))

    assert (one.verdict, several.verdict) == ("held", "held")
    assert one.schedules == several.schedules
    assert [(clause.id, clause.verdict) for clause in one.clauses] == [
        (clause.id, clause.verdict) for clause in several.clauses
    ]


@pytest.mark.long
def test_a_wrong_one_is_broken_with_a_short_schedule(target):
    """The threads find it, and one of them shrinks it."""
    found = checked(target("RunsTheRejected"), THREADS)

    assert found.verdict == "broken"
    assert "GATE-2" in {witness.clause for witness in found.witnesses}


@pytest.mark.long
def test_it_ends_at_the_first_violation(target):
    """What the other threads were given is not begun any more."""
    found = checked(target("RunsTheRejected"), THREADS, first=True)

    assert found.verdict == "broken"
    assert found.partial == "it stopped at the first violation"
