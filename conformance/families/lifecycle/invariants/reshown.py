"""SHOWN: who comes later is shown the calls that wait: a watcher, and those who decide after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runlock.conformance.families.lifecycle.invariants.inspect import looked_at
from runlock.conformance.families.lifecycle.messages import CallShown, Published, RunInspected
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, check, counts, held_or
from runlock.conformance.family.rank import Rank


@check("SHOWN-4", rank=Rank.SHOWN, requires="a wait")
def a_watcher_is_shown_what_waits(state: ObservedState) -> CheckResults:
    """A watcher that comes, alone and while the run rests, is shown each call that waits."""
    if state.policy("wait.reshown") == "yes":
        for call, is_shown in shown_to_a_watcher(state):
            who = f"watcher {state.audience.watcher} came while call {call.id} waits"
            yield held_or(is_shown, f"{who}, and that was not shown again")


@check("SHOWN-5", rank=Rank.SHOWN, requires="a crash")
def what_waits_is_shown_after_a_restart(state: ObservedState) -> CheckResults:
    """A run that comes back from a crash and rests shows each call of it that waits."""
    if state.policy("wait.reshown") == "yes":
        for call, is_shown in shown_after_a_restart(state):
            yield held_or(is_shown, f"call {call.id} waits after the crash, and that was not shown again")


@check("SHOWN-6", rank=Rank.SHOWN, requires="a wait")
def whoever_looks_sees_what_waits(state: ObservedState, seen: RunInspected) -> CheckResults:
    """Where wait.reshown is on_request, a look at a run shows each call that waits as Suspended."""
    run = looked_at(state, seen)
    if run is None or state.policy("wait.reshown") != "on_request" or state.gates_of(run):
        return
    for call in _waiting(run):
        shown = seen.calls.get(call.id)
        status = shown.status if shown is not None else "no such call"
        yield held_or(status == "Suspended", f"call {call.id} waits, yet a look at the run shows {status}")


@counts("SHOWN-7", requires="a wait")
def what_waits_was_not_shown_again(state: ObservedState) -> CheckResults:
    """Counts the calls that wait and were not shown to a watcher that came, where wait.reshown is no."""
    if state.policy("wait.reshown") == "no":
        yield from (HELD for _, is_shown in shown_to_a_watcher(state) if not is_shown)


def shown_to_a_watcher(state: ObservedState) -> Iterator[tuple[ObservedCall, bool]]:
    """The calls that wait when a watcher has come, with whether they were shown then."""
    if _newest(state) != ["watch"] or not state.alone:
        return
    for call in _resting(state):
        shows_any = bool(call.shown) or any(told.is_requested for told in call.wires.values())
        if shows_any:
            yield call, _is_shown(state, call) or any(_names(one, call.id) for one in _events(state))


def shown_after_a_restart(state: ObservedState) -> Iterator[tuple[ObservedCall, bool]]:
    """The calls that wait when their run has come back from a crash, with whether they were shown then."""
    if _newest(state) == ["recover"]:
        for call in _resting(state):
            if call.shown:
                yield call, _is_shown(state, call)


def _newest(state: ObservedState) -> list[str]:
    return [name for name, _ in state.newest]


def _resting(state: ObservedState) -> Iterator[ObservedCall]:
    """The calls that wait for a decision, of a run that rests."""
    run = state.run
    if run is not None and not run.is_done and not state.gates_of(run) and run.cancel_at is None:
        yield from _waiting(run)


def _waiting(run: Run) -> Iterator[ObservedCall]:
    return (call for call in run.calls.values() if call.waits and not (call.is_unclear or call.decisions))


def _is_shown(state: ObservedState, call: ObservedCall) -> bool:
    return any(isinstance(one, CallShown) and one.call == call.id for one in state.shown)


def _events(state: ObservedState) -> Iterator[Any]:
    """What the present watcher was told in this answer."""
    watcher = state.audience.watcher
    return (one.data for one in state.shown if isinstance(one, Published) and one.watcher == watcher)


def _names(data: Any, call: str) -> bool:
    """Whether the data of an event names a call, however deep."""
    if isinstance(data, dict):
        return any(_names(one, call) for one in data.values())
    if isinstance(data, list):
        return any(_names(one, call) for one in data)
    return bool(data == call)


def names_what_waits(state: ObservedState, seen: Published) -> bool:
    """Whether an event tells a newcomer of a call that waits."""
    return any(_names(seen.data, call.id) for call in _resting(state))
