"""How an account takes in what the SUT shows: a function for each kind of observation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from runlock.conformance.families.lifecycle.state.decisions import disposed
from runlock.conformance.families.lifecycle.state.records import (
    WORKING_GATES,
    Gate,
    Run,
    Station,
)
from runlock.conformance.families.lifecycle.state.watchers import published, stream_closed
from runlock.conformance.protocol import (
    CallMoved,
    Checkpointed,
    DecisionTaken,
    GateClosed,
    GateOpened,
    MessageAppended,
    Observation,
    PhaseEntered,
    Published,
    ResumeEntered,
    RunMoved,
    SegmentEnded,
    StreamClosed,
)

if TYPE_CHECKING:
    from runlock.conformance.families.lifecycle.state.account import Account


def _gate_opened(account: Account, seen: GateOpened) -> None:
    run = account.runs.get(seen.run or "") or account.run
    if run is None:
        return
    gate = Gate(seen.gate, seen.on, run.id, seen, account.life, at=account.stimuli)
    account.gates[seen.gate] = gate
    account.open_gates = [*account.open_gates, gate]
    if seen.on in WORKING_GATES or seen.on == "hook":
        run.segment_open = True
    if seen.on == "model":
        _asked_again(run, seen)
        account.last_model_gate = gate
        account.since_model = []
    if seen.call is not None:
        gate.call = run.calls.get(seen.call)
    if seen.on == "hook":
        account.comes_to("a plugin")
        run.hooks.append(gate)
    elif gate.call is not None:
        gate.call.listed_pending = False
        (gate.call.entries if seen.on == "tool" else gate.call.judged).append(gate)


def _asked_again(run: Run, seen: GateOpened) -> None:
    if not run.steps and seen.messages is not None:
        run.turns_before = sum(message.role == "assistant" for message in seen.messages)
    run.steps += 1
    run.steps_at_least += 1
    run.steps_at_most += 1
    run.faulted = None


def _gate_closed(account: Account, seen: GateClosed) -> None:
    gate = account.gates.get(seen.gate)
    if gate is not None and gate.outcome is None:
        gate.gone = seen.because or "given up"
        account.shut(gate)
    elif gate is not None:
        gate.outcome, gate.gone = None, seen.because or "given up"


def _run_moved(account: Account, seen: RunMoved) -> None:
    run = account.runs.get(seen.run or "")
    if run is None:
        return
    run.claimed = seen.to
    run.claims.append(seen.to)
    if seen.to == "Running":
        run.segment_open = True
    elif seen.to == "Waiting":
        account.comes_to("a wait")


def _call_moved(account: Account, seen: CallMoved) -> None:
    run = account.runs.get(seen.run or "")
    call = run.calls.get(seen.call) if run is not None else None
    if call is None:
        return
    call.before_claim, call.claimed = call.claimed, seen.to
    call.claims.append(seen.to)
    if seen.to == "Suspended":
        account.comes_to("a wait")
        call.entries_when_suspended = len(call.entries)
        if seen.suspension is not None and call.before_claim not in (None, "Suspended"):
            call.numbers.append(seen.suspension)
        call.suspensions = seen.suspension or call.suspensions + (call.before_claim != "Suspended")


def _segment_ended(account: Account, seen: SegmentEnded) -> None:
    run = account.runs.get(seen.run or "")
    if run is None:
        return
    run.finished.append(seen)
    run.segment.clear()
    run.stations = []
    if seen.reason.code == "Suspended":
        account.comes_to("a wait")
    if seen.reason.code == "Suspended" and "cancel.waiting" not in account.handshake.stimuli:
        run.cancel_at = None  # it came to wait before the cancel reached it, and hears none there
    run.segment_open = False
    for call in run.calls.values():
        newly = call.id in seen.pending and not call.listed_pending
        if newly and not account.observes("call.status"):
            call.suspensions += 1
        call.listed_pending = call.id in seen.pending


def _checkpointed(account: Account, seen: Checkpointed) -> None:
    account.checkpoints.append(seen)
    account.since_model.append(seen)
    account.since_answer.append(seen)


def _phase_entered(account: Account, seen: PhaseEntered) -> None:
    run = account.runs.get(seen.run or "")
    if run is not None:
        run.phases.append(seen)


def _station_reached(account: Account, seen: ResumeEntered) -> None:
    run = account.runs.get(seen.run or "")
    if run is not None:
        run.stations.append(Station(seen, account.stimuli, len(account.checkpoints)))


def _appended(account: Account, seen: MessageAppended) -> None:
    account.messages.append(seen.message)


SHOWN: Final[Mapping[type[Observation], Callable[[Account, Any], None]]] = {
    GateOpened: _gate_opened,
    GateClosed: _gate_closed,
    RunMoved: _run_moved,
    CallMoved: _call_moved,
    SegmentEnded: _segment_ended,
    DecisionTaken: disposed,
    Checkpointed: _checkpointed,
    MessageAppended: _appended,
    PhaseEntered: _phase_entered,
    Published: published,
    StreamClosed: stream_closed,
    ResumeEntered: _station_reached,
}
