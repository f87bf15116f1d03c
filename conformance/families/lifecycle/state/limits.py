"""Bodies that a run leaves at work: it goes on as if their calls were over, as at a time limit."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.families.lifecycle.messages import (
    FINAL_CALL_STATUSES,
    CallMoved,
    Checkpointed,
    GateOpened,
    MessageAppended,
    RunMoved,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state.calls import stored_status
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.records import ObservedCall, ObservedGate
from runlock.conformance.protocol import Observation

RESULT_STATUSES = ("ok", "error", "cancelled")


def left_by(state: Knowledge, seen: Observation) -> list[ObservedGate]:
    """The bodies at work of calls that this observation shows to be over for their run."""
    over = [gate for call in _over_by(state, seen) for gate in call.executing]
    return over + [gate for gate in state.volatile.open_gates if _is_aborted_by(gate, seen)]


def _over_by(state: Knowledge, seen: Observation) -> Iterator[ObservedCall]:
    if not any(gate.on == "tool" for gate in state.volatile.open_gates):
        return
    if isinstance(seen, GateOpened) and seen.on == "model":
        told = {m.call for m in seen.messages or () if m.role == "tool" and m.status in RESULT_STATUSES}
        yield from (call for call in _at_work(state) if call.id in told)
    elif _is_met_by_time_alone(state):
        yield from (call for call in _at_work(state) if _is_passed_by(state, call, seen))


def _at_work(state: Knowledge) -> Iterator[ObservedCall]:
    for run in state.runs.values():
        yield from (call for call in run.calls.values() if call.executing and not call.is_unclear)


def _is_met_by_time_alone(state: Knowledge) -> bool:
    """Whether nothing but time that passed was sent to a runtime that was idle: no answer, and no wait has
    expired."""
    return state.settled_before and all(method == "clock.advance" for method, _ in state.newest)


def _is_passed_by(state: Knowledge, call: ObservedCall, seen: Observation) -> bool:
    """Whether the run goes past a call that was at work before the time passed."""
    if call.executing[0].at == state.stimuli:
        return False
    if isinstance(seen, CallMoved):
        return seen.call == call.id and seen.to in FINAL_CALL_STATUSES
    if isinstance(seen, SegmentEnded):
        return seen.reason.code == "Suspended" and seen.run == call.run
    other = state.call_of(seen) if isinstance(seen, GateOpened) and seen.on == "tool" else None
    is_next = other is not None and other.step == call.step and other.run == call.run
    return is_next and other is not None and not other.entries


def _is_aborted_by(gate: ObservedGate, seen: Observation) -> bool:
    """Whether a body that ignores aborts is left, since its call or its run has ended."""
    if not gate.ignores_aborts:
        return False
    call = gate.opened.call
    if isinstance(seen, CallMoved):
        return seen.call == call and seen.to == "Cancelled"
    if isinstance(seen, MessageAppended):
        return seen.message.role == "tool" and seen.message.call == call
    if isinstance(seen, Checkpointed):
        return stored_status(seen.state, call) == "Cancelled"
    if isinstance(seen, SegmentEnded):
        return seen.run == gate.run and seen.reason.code != "Suspended"
    return isinstance(seen, RunMoved) and seen.run == gate.run and seen.to == "Done"
