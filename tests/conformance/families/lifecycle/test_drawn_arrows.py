"""Followers take no arrow that no chart has: what they take is a row of a chart, with its clause."""

from __future__ import annotations

import pytest
from played_scripts import played_on

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.monitors import flow_charts
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.families.lifecycle.variants import VARIANTS
from runlock.conformance.family.chart_monitor import NOT_BEGUN, Detour, Follower
from runlock.machines.catalogue import tables

ROWS = {row for table in tables("lifecycle") for row in table.rows}
TARGETS = {
    **{profile: factory(profile) for profile in ("tirea", "awaken-8", "awaken-9")},
    **{one.name: one for one in VARIANTS if one.name.startswith(("sequential", "ending-a-step-again"))},
}


def undrawn(detours):
    """The transitions among these that no chart draws."""
    return [one for one in detours if one.row not in ROWS]


def test_what_is_followed_in_some_cases_is_drawn():
    """Each transition that a case adds is a row of a chart, with the same target."""
    cases = [*flow_charts.DETOURS_OF_CASES.values(), *flow_charts.LEFT_BEHIND.values()]
    others = [flow_charts.CUT_SHORT, flow_charts.WAITS, flow_charts.ENDS_AGAIN, flow_charts.MADE_READY_AGAIN]
    every = frozenset[Detour]().union(*cases, *others)

    assert undrawn(every) == []
    assert all(one.row.target == one.target for one in every)


def test_a_transition_without_an_arrow_is_seen():
    """A transition that code adds by itself would be noticed."""
    assert undrawn({Detour("LoopTop", "RunEnd")}) == [Detour("LoopTop", "RunEnd")]


@pytest.fixture
def taken(monkeypatch):
    """Every transition that a follower certainly took, with the state before it."""
    found = []
    see = Follower.see

    def seeing(self, label, detours=frozenset(), *, surely=True):
        before, result = self.states, see(self, label, detours, surely=surely)
        found.extend((before, row) for row in self.taken)
        return result

    monkeypatch.setattr(Follower, "see", seeing)
    return found


@pytest.mark.sampled(8, nightly=3)
@pytest.mark.parametrize("target", TARGETS)
def test_every_arrow_that_is_taken_is_drawn(target, taken):
    """In every other script of the corpus nothing is taken but rows of charts; only a beginning is none."""
    played_on(Bench(lambda: Hosted(TARGETS[target])), corpus(FAMILY)[::2])

    assert len(taken) > 100
    assert [row for before, row in taken if row is None and NOT_BEGUN not in before] == []
    assert {row for _, row in taken if row is not None} <= ROWS
