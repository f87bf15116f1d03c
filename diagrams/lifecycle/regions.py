"""The derived run: a chart with a region for each call and one for the run that follows them.

It is drawn for two calls, the fewest that have something to say to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from statemachine import State

from runlock.diagrams.charts.picture import Arrow, Picture, Place
from runlock.machines.chart import arrow_of
from runlock.machines.lifecycle.charts.derived_run import derived_run

CALLS_DRAWN: Final = 2
DERIVED: Final = "DerivedRun"


def pictures() -> Iterator[Picture]:
    """The pictures of the charts that are no tables."""
    yield _of_derived()


def _of_derived() -> Picture:
    chart = derived_run(CALLS_DRAWN)
    places = tuple(_place(state) for state in chart.states)
    arrows = tuple(arrow for state in chart.states for arrow in _leaving(state))
    return Picture(DERIVED, "run", places, arrows)


def _place(state: State) -> Place:
    inside = tuple(_place(one) for one in state.states)
    name = state.id if inside else state.id.partition("_")[2]
    return Place(state.id, name, bool(state.initial), bool(state.final), "", inside, state.parallel)


def _leaving(state: Any) -> Iterator[Arrow]:
    for transition in state.transitions:
        known = arrow_of(transition)
        if known is not None:
            conditions = tuple(str(one) for one in transition.cond)
            ends = (transition.source.id, transition.target.id)
            yield Arrow(*ends, transition.event, conditions, known.clause, known.phrase)
    for inner in state.states:
        yield from _leaving(inner)
