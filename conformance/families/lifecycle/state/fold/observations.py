"""How the state takes in what the SUT shows: a function for each kind of observation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    CallShown,
    Checkpointed,
    DecisionTaken,
    Exchanged,
    GateOpened,
    InputReturned,
    MessageAppended,
    Nested,
    PhaseEntered,
    Prompted,
    Published,
    ResumeEntered,
    RunMoved,
    SegmentEnded,
    StreamClosed,
)
from runlock.conformance.families.lifecycle.state.fold.decisions import disposed
from runlock.conformance.families.lifecycle.state.fold.expiry import begins_to_wait
from runlock.conformance.families.lifecycle.state.fold.inputs import input_returned, inputs_shown, run_over
from runlock.conformance.families.lifecycle.state.fold.nesting import segment_ended, shown_within
from runlock.conformance.families.lifecycle.state.fold.watchers import (
    may_have_closed,
    published,
    stream_closed,
)
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.records import (
    WORKING_GATES,
    Form,
    ObservedGate,
    Run,
    ShownForm,
    Station,
    numbers_suspensions,
)
from runlock.conformance.protocol import GateClosed, Observation


def _ignores_aborts(state: Knowledge, run: Run, gate: ObservedGate) -> bool:
    """Whether the tool of a body, or of its call where it has no name, stays at work when it is aborted."""
    call = run.calls.get(gate.opened.call or "")
    name = gate.opened.name or (call.name if call is not None else None)
    return any(tool.name == name and tool.abort == "ignored" for tool in state.scene_of(gate).tools)


def _gate_opened(state: Knowledge, seen: GateOpened) -> None:
    run = state.runs.get(seen.run or "") or state.run
    if run is None:
        return
    gate = ObservedGate(seen.gate, seen.on, run.id, seen, state.life, at=state.stimuli, at_ms=state.now_ms)
    gate.ignores_aborts = seen.on == "tool" and _ignores_aborts(state, run, gate)
    gate.passed_ms = sum(params["ms"] for method, params in state.newest if method == "clock.advance")
    state.gates[seen.gate] = gate
    state.volatile.open_gates = [*state.volatile.open_gates, gate]
    if seen.on in WORKING_GATES or seen.on == "hook":
        run.segment_open = True
    if seen.on == "model":
        _asked_again(run, seen, state.last_model_gate)
        inputs_shown(state, seen)
        state.last_model_gate = gate
        state.since_model = []
        for edit in state.edits:
            edit.is_seen = True
    if seen.call is not None:
        gate.call = run.calls.get(seen.call)
    if seen.on == "hook":
        state.add_feature("a plugin")
        run.hooks.append(gate)
    elif gate.call is not None:
        gate.call.volatile.listed_pending = False
        for told in gate.call.wires.values():
            told.is_requested = False
        (gate.call.entries if seen.on == "tool" else gate.call.judged).append(gate)


def _asked_again(run: Run, seen: GateOpened, before: ObservedGate | None) -> None:
    if not run.steps and seen.messages is not None:
        run.turns_before = sum(message.role == "assistant" for message in seen.messages)
    run.steps += 1
    is_tried_again = (
        before is not None and before.run == run.id and (before.outcome or {}).get("kind") == "fault"
    )
    run.steps_at_least += not is_tried_again  # one that has failed need not count
    run.steps_at_most += 1
    run.volatile.faulted = None


def _gate_closed(state: Knowledge, seen: GateClosed) -> None:
    gate = state.gates.get(seen.gate)
    if gate is not None:
        gate.gone_ms = state.now_ms
    if gate is not None and gate.outcome is None:
        gate.gone = seen.because or "given up"
        state.shut(gate)
    elif gate is not None:
        gate.outcome, gate.gone = None, seen.because or "given up"


def _run_moved(state: Knowledge, seen: RunMoved) -> None:
    run = state.runs.get(seen.run or "")
    if run is None:
        return
    run.volatile.claimed, run.volatile.claimed_reason = seen.to, seen.reason
    run.claims.append(seen.to)
    if seen.to == "Running":
        run.segment_open = True
    elif seen.to == "Waiting":
        state.add_feature("a wait")
    elif seen.to == "Done" and seen.reason is not None:
        run_over(state, run, seen.reason.code)


def _call_moved(state: Knowledge, seen: CallMoved) -> None:
    run = state.runs.get(seen.run or "")
    call = run.calls.get(seen.call) if run is not None else None
    if call is None:
        return
    call.before_claim, call.volatile.claimed = call.claimed, seen.to
    call.claims.append(seen.to)
    if seen.to == "Suspended":
        state.add_feature("a wait")
        call.entries_when_suspended = len(call.entries)
        if seen.suspension is not None and call.before_claim not in (None, "Suspended"):
            call.numbers.append(seen.suspension)
        call.volatile.suspensions = seen.suspension or call.suspensions + (call.before_claim != "Suspended")
        begins_to_wait(state, call)


def _segment_ended(state: Knowledge, seen: SegmentEnded) -> None:
    run = state.runs.get(seen.run or "")
    if run is None:
        return
    run.finished.append(seen)
    if seen.reason.code != "Suspended":
        run_over(state, run, seen.reason.code)
    run.segment.clear()
    run.volatile.stations = []
    if seen.reason.code == "Suspended":
        state.add_feature("a wait")
        run.rested_at = state.stimuli
    if seen.reason.code == "Suspended" and "cancel.waiting" not in state.handshake.stimuli:
        run.volatile.cancel_at = None  # it came to wait before the cancel reached it, and hears none there
    run.segment_open = False
    for call in run.calls.values():
        newly = call.id in seen.pending and not call.listed_pending
        if newly and not state.observes("call.status"):
            call.volatile.suspensions += 1
            call.entries_when_suspended = len(call.entries)
        call.volatile.listed_pending = call.id in seen.pending
    if state.nested:
        segment_ended(state, run, seen)
    may_have_closed(state)


def _checkpointed(state: Knowledge, seen: Checkpointed) -> None:
    state.checkpoints.append(seen)
    state.stores_numbers = state.stores_numbers or numbers_suspensions((seen.state or {}).get("calls"))
    run = state.run_of(seen)
    for call in run.calls.values() if run is not None else ():
        call.claims_stored = len(call.claims)
    state.since_model.append(seen)
    state.since_answer.append(seen)


def _phase_entered(state: Knowledge, seen: PhaseEntered) -> None:
    run = state.runs.get(seen.run or "")
    if run is not None:
        run.phases.append(seen)


def _station_reached(state: Knowledge, seen: ResumeEntered) -> None:
    run = state.runs.get(seen.run or "")
    if run is not None:
        run.stations.append(Station(seen, state.stimuli, len(state.checkpoints)))


def _appended(state: Knowledge, seen: MessageAppended) -> None:
    state.messages.append(seen.message)


def _call_shown(state: Knowledge, seen: CallShown) -> None:
    call = state.call_of(seen)
    if call is not None:
        form = Form(seen.name, seen.args)
        call.shown.append(
            ShownForm(form, state.stimuli, len(call.entries), len(call.judged), call.suspensions)
        )


def _exchanged(state: Knowledge, seen: Exchanged) -> None:
    state.exchanges.append(seen)


def _prompted(state: Knowledge, seen: Prompted) -> None:
    state.prompts.append(seen)


SHOWN: Final[Mapping[type[Observation], Callable[[Knowledge, Any], None]]] = {
    GateOpened: _gate_opened,
    GateClosed: _gate_closed,
    RunMoved: _run_moved,
    CallMoved: _call_moved,
    SegmentEnded: _segment_ended,
    DecisionTaken: disposed,
    CallShown: _call_shown,
    Checkpointed: _checkpointed,
    MessageAppended: _appended,
    PhaseEntered: _phase_entered,
    Published: published,
    StreamClosed: stream_closed,
    Exchanged: _exchanged,
    Prompted: _prompted,
    InputReturned: input_returned,
    ResumeEntered: _station_reached,
    Nested: shown_within,
}
