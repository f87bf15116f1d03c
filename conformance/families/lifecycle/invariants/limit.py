"""LIMIT: a call whose time has passed is over, and its body with it."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.families.lifecycle.messages import CallMoved, GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.limits import RESULT_STATUSES
from runlock.conformance.families.lifecycle.state.records import ObservedCall
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import GateClosed


@check("LIMIT-1", rank=Rank.CONSENT, requires="calls")
def nothing_is_left_at_work(state: ObservedState) -> CheckResults:
    """No body is at work whose call is over for its run."""
    for gate in state.volatile.open_gates:
        if gate.is_left and gate.call is not None and not gate.ignores_aborts:
            yield broken(f"the run goes on as if call {gate.call.id} were over, yet its body is at work")


@counts("LIMIT-1", at=("model",), requires="calls")
def what_is_over_is_not_at_work(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the calls that the model is shown as over, and whose bodies are."""
    over = {m.call for m in seen.messages or () if m.role == "tool" and m.status in (None, *RESULT_STATUSES)}
    for run in state.runs.values():
        yield from (HELD for call in run.calls.values() if call.id in over and not call.executing)


@check("LIMIT-2", rank=Rank.LOST, requires="calls")
def a_body_ends_at_its_time(state: ObservedState) -> CheckResults:
    """A body whose time has passed is given up."""
    for gate in state.volatile.open_gates:
        late = state.now_ms - gate.ends_at_ms if gate.ends_at_ms is not None else -1
        if late >= 0 and not gate.is_left:
            yield broken(f"the time of call {gate.opened.call} passed {late} ms ago, yet its body is at work")


@check("LIMIT-2", rank=Rank.LOST, excuses=(CANCEL, FAULT, CRASH, INPUT))
def a_body_has_its_whole_time(state: ObservedState, seen: GateClosed) -> CheckResults:
    """Time that passes gives up no body whose time has not passed."""
    gate = state.gates.get(seen.gate)
    ends_at = gate.may_end_at_ms if gate is not None else None
    if gate is None or ends_at is None or any(method != "clock.advance" for method, _ in state.newest):
        return
    left = ends_at - state.now_ms
    yield held_or(left <= 0, f"call {gate.opened.call} had {left} ms left, yet its body was given up")


@check("LIMIT-3", at=("model",), rank=Rank.SHOWN, requires="calls")
def a_time_limit_is_shown_as_a_failure(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The model is shown an error for each call whose time has passed, at every inference since."""
    for call in _timed_out(state) if seen.messages is not None else ():
        shown = [m for m in seen.messages or () if m.role == "tool" and m.call == call.id]
        wrong = [m.status for m in shown if m.status not in ("error", None)]
        as_what = wrong[-1] if wrong else None
        why = f"the time of call {call.id} has passed, yet the model is shown it as {as_what}"
        yield held_or(not wrong, why)


@check("LIMIT-3", at=("Succeeded", "Cancelled"), rank=Rank.STATUS, requires="calls")
def a_call_whose_time_has_passed_is_Failed(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call whose time has passed becomes Failed, and nothing else."""
    call = state.call_of(seen)
    if call is not None and call in [*_timed_out(state)] and seen.to != call.claimed:
        yield broken(f"the time of call {call.id} has passed, yet it became {seen.to}")


@check("LIMIT-4", at=("tool",), rank=Rank.TWICE, excuses=(CRASH,))
def a_call_is_tried_as_often_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose time has passed is entered again only as often as its tool may be tried again."""
    call = state.entering(seen)
    if call is None or not call.entries or not call.entries[-1].has_timed_out:
        return
    tries = sum(gate.has_timed_out and gate.opened.resume == seen.resume for gate in call.entries)
    retries = (call.tool.retries if call.tool is not None else None) or 0
    why = f"the time of call {call.id} has passed {tries} times, and it may be tried again {retries} times"
    yield held_or(tries <= retries, f"{why}, yet it is entered again")


@counts("LIMIT-4", at=("model",), requires="calls")
def a_call_was_not_tried_more_often(state: ObservedState, _seen: GateOpened) -> CheckResults:
    """Counts the calls that were given up for good at their time."""
    yield from (HELD for _ in _timed_out(state))


def _timed_out(state: ObservedState) -> Iterator[ObservedCall]:
    """The calls that were given up at their time, and that nothing else has ended."""
    for run in state.runs.values():
        if not run.disturbed_by(CANCEL, FAULT, CRASH, INPUT):
            yield from (c for c in run.calls.values() if _has_timed_out(c) and not c.is_unclear)


def _has_timed_out(call: ObservedCall) -> bool:
    return bool(call.entries) and call.entries[-1].has_timed_out and not call.decisions
