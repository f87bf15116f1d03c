"""The status of a run, derived by a chart: one region for each call, and one that follows them all.

It is the same projection as `joint.derive_run_status`, in a form that can be drawn and executed.  It is made
with the library itself: the `Chart` of this project forbids nested states and arrows without an event, so
that every chart compiles to one flat table, and a derived region is made of nothing else.  The regions of
the calls are copied from the rows of `ToolCall`, so that no move of a call stands in two places.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, cast

from statemachine import State, StateChart
from statemachine.factory import StateMachineMetaclass
from statemachine.transition_list import TransitionList

from runlock.machines.chart import clause
from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.lifecycle.run_status import BUSY, ROUND_COMPLETE, derive_run_status
from runlock.machines.table import compile_chart

__all__ = ["DerivedRun", "derived_run"]

CALL: Final = compile_chart(ToolCall)
FOLLOWS: Final = {
    "Running": ("DERIVE-1", "a call has work before it"),
    "Waiting": ("DERIVE-2", "no call has, and one awaits a decision"),
    ROUND_COMPLETE: ("DERIVE-7", "every call is over"),
}
STATUSES: Final = tuple(FOLLOWS)


class DerivedRun(StateChart[Any]):
    """What every size of the chart has in common: it refuses nothing in silence, and swallows no error."""

    allow_event_without_transition = False
    catch_errors_as_events = False

    def status(self) -> str:
        """The status that the region of the run is in."""
        return next(name for name in STATUSES if f"run_{name}" in self._active)

    def call(self, number: int) -> str:
        """The status of a call, counted from 1."""
        return next(name for name in CALL.states if f"c{number}_{name}" in self._active)

    @property
    def _active(self) -> frozenset[str]:
        return frozenset(state.id for state in self.configuration)


@cache
def derived_run(calls: int) -> type[DerivedRun]:
    """Create the chart for a number of calls; the events of call 2 are `c2_start`, `c2_suspend`, …"""
    if calls < 1:
        raise ValueError("a round without calls has nothing to follow; its projection is in joint.py")
    regions = {f"c{number}": _call_region(number) for number in range(1, calls + 1)}
    regions["run"] = _run_region(calls)
    body = {"round": _nested(State.Parallel, "round", regions)}
    return cast(type[DerivedRun], StateMachineMetaclass(f"DerivedRunOf{calls}", (DerivedRun,), body))


def _nested(kind: type, name: str, body: dict[str, Any]) -> State:
    """What the library makes of `class name(State.Compound): …`, for a body that is made at run time."""
    return cast(State, type(kind)(name, (kind,), body, initial=True))


def _call_region(number: int) -> State:
    """One call: the states and the rows of `ToolCall`, with a prefix."""
    states = {
        name: State(f"c{number}_{name}", initial=name == CALL.initial, final=CALL.is_final(name))
        for name in CALL.states
    }
    events: dict[str, TransitionList] = {}
    for row in CALL.rows:
        arrow = clause(row.clause, states[row.source].to(states[row.target]), row.phrase)
        event = f"c{number}_{row.event}"
        events[event] = events[event] | arrow if event in events else arrow
    return _nested(State.Compound, f"c{number}", _named(f"c{number}", states) | events)


def _run_region(calls: int) -> State:
    """The run: it follows the calls, and has no events."""
    initial = derive_run_status([CALL.initial] * calls)
    states = {name: State(f"run_{name}", initial=name == initial) for name in STATUSES}
    for target, (clause_id, phrase) in FOLLOWS.items():
        for source in (other for other in STATUSES if other != target):
            arrow = states[source].to(states[target], cond=_condition(target, calls))
            clause(clause_id, arrow, phrase)
    return _nested(State.Compound, "run", _named("run", states))


def _named(region: str, states: dict[str, State]) -> dict[str, State]:
    return {f"{region}_{name}": state for name, state in states.items()}


def _condition(status: str, calls: int) -> str:
    """What the calls are in while the run has a status, in the library's language of conditions."""
    busy, suspended = _any_in(sorted(BUSY), calls), _any_in(["Suspended"], calls)
    return {
        "Running": busy,
        "Waiting": f"not ({busy}) and ({suspended})",
        ROUND_COMPLETE: f"not ({busy}) and not ({suspended})",
    }[status]


def _any_in(statuses: Iterable[str], calls: int) -> str:
    places = [f"In('c{number}_{status}')" for number in range(1, calls + 1) for status in statuses]
    return " or ".join(places)
