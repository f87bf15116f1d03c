"""How the state takes in what the runner shows: a function for each kind of observation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.conformance.families.tool_runner.messages import (
    MessageAppended,
    Published,
    Responded,
    RunFinished,
    RunMoved,
    RunnerGate,
    RunnerInspected,
)
from runlock.conformance.families.tool_runner.state.fold.stimuli import went_on
from runlock.conformance.families.tool_runner.state.knowledge import Knowledge
from runlock.conformance.families.tool_runner.state.records import Iteration, ObservedGate, Run
from runlock.conformance.protocol import GateClosed, Observation


def _gate_opened(state: Knowledge, seen: RunnerGate) -> None:
    run = state.run_of(seen)
    if run is None:
        return
    gate = ObservedGate(seen.gate, seen.on, run.id, seen, state.stimuli)
    state.gates[seen.gate] = gate
    state.open_gates = [*state.open_gates, gate]
    if seen.on == "model":
        _requested(state, gate, run)
    elif seen.on == "yield" and state.is_early(seen):
        state.early_yield = gate
    elif state.iteration is not None and seen.on == "yield":
        state.iteration.yields.append(gate)
    elif state.iteration is not None and seen.on == "tool":
        gate.phase, gate.response = state.phase(state.iteration)
        gate.is_after_again = run.is_again and state.iteration.run != run.id
        state.iteration.entries.append(gate)


def _requested(state: Knowledge, gate: ObservedGate, run: Run) -> None:
    if state.first_params is None and gate.seen.params is not None:
        state.first_params = gate.seen.params
    run.requests += 1
    number = len(state.iterations) + 1
    made = Iteration(number, run.id, gate, number, state.turns, dict(state.tools))
    if state.early_yield is not None:
        made.yields.append(state.early_yield)
        if state.early_yield.outcome is not None:
            went_on(state, made, state.early_yield)
        state.early_yield = None
    state.iterations.append(made)


def _gate_closed(state: Knowledge, seen: GateClosed) -> None:
    gate = state.gates.get(seen.gate)
    if gate is not None and gate.outcome is None:
        gate.gone = seen.because or "given up"
        state.shut(gate)
    elif gate is not None and state.window == gate.released_in:
        gate.gone = seen.because or "given up"
        _take_back(state, gate)


def _take_back(state: Knowledge, gate: ObservedGate) -> None:
    """The runner had given the gate up before it was released: the release came late, and was dropped."""
    kind, gate.outcome = gate.kind, None
    iteration = state.iteration
    if iteration is None:
        return
    if gate is iteration.request and kind == "turn":
        iteration.turn = iteration.turn_in = None
        iteration.whole_at_resume = False
        state.turns -= 1
    elif gate is iteration.request and kind == "fault":
        iteration.fault = False
        state.faults -= 1
    elif gate.on == "yield" and gate in iteration.yields:
        iteration.resumed_at = iteration.left_at = iteration.left_in = None
        if state.run is not None:
            state.run.left_at = None


def _moved(state: Knowledge, seen: RunMoved) -> None:
    run = state.run_of(seen)
    if run is not None:
        run.claims.append(seen.to)
        run.claimed_reason = seen.reason or run.claimed_reason


def _appended(state: Knowledge, seen: MessageAppended) -> None:
    iteration = state.iteration
    if iteration is not None:
        iteration.shown.append((seen.message, iteration.yielded is not None))


def _responded(state: Knowledge, seen: Responded) -> None:
    pending = state.iteration.pending_response if state.iteration is not None else None
    if pending is not None and state.iteration is not None:
        pending.seen, pending.acts_when_seen = seen, len(state.iteration.acts)


def _published(state: Knowledge, seen: Published) -> None:
    iteration = state.iteration
    if iteration is None or seen.stream != "turn":
        return
    if seen.name == "delta":
        iteration.pieces.append(seen.data)
    elif seen.name == "end":
        iteration.end_events.append(seen.data)


def _finished(state: Knowledge, seen: RunFinished) -> None:
    run = state.run_of(seen)
    if run is not None:
        run.finished.append(seen)


def _inspected(state: Knowledge, seen: RunnerInspected) -> None:
    run = state.run_of(seen)
    if run is not None:
        run.looks.append(seen)


SHOWN: Final[Mapping[type[Observation], Callable[[Knowledge, Any], None]]] = {
    RunnerGate: _gate_opened,
    GateClosed: _gate_closed,
    RunMoved: _moved,
    MessageAppended: _appended,
    Responded: _responded,
    Published: _published,
    RunFinished: _finished,
    RunnerInspected: _inspected,
}
