"""How the state takes in what the runtime shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.conformance.families.message_loop.messages import (
    CallMoved,
    Checkpointed,
    GateOpened,
    MessageAppended,
    Published,
    RunMoved,
    TurnEnded,
)
from runlock.conformance.families.message_loop.state.knowledge import Knowledge
from runlock.conformance.families.message_loop.state.naming import gate_name
from runlock.conformance.families.message_loop.state.records import (
    COMPOSING,
    ObservedGate,
    ObservedPass,
    ObservedPrompt,
    ObservedRequest,
    ObservedTurn,
)
from runlock.conformance.protocol import GateClosed, Observation

OF_A_REQUEST: Final = frozenset({"COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE"})


def composing(path: ObservedPass) -> ObservedRequest:
    """The request that a gate before its model gate belongs to."""
    request = path.request
    if request is None or (request.model_gates and not request.may_be_sent_again):
        request = ObservedRequest(len(path.requests) + 1, path)
        path.requests.append(request)
    return request


def _opened(state: Knowledge, seen: GateOpened) -> None:
    turn = state.turn_of(seen)
    if turn is None:
        return
    path = turn.path(seen.stage)
    gate = ObservedGate(seen.gate, seen.on, gate_name(seen), seen, turn, state.clock, state.window, path)
    gate.call = state.call_of(seen) if seen.call is not None else None
    state.gates[seen.gate] = gate
    turn.gates.append(gate)
    if path is not None:
        filed = FILED.get(seen.on)
        if filed is not None:
            filed(state, gate, path)
    if seen.on == "store.put" and seen.cause == "exit" and seen.stage in turn.executions:
        turn.executions[seen.stage].exits.append(gate)


def _file_model(state: Knowledge, gate: ObservedGate, path: ObservedPass) -> None:
    gate.request = composing(path)
    gate.request.model_gates.append(gate)


def _file_context(state: Knowledge, gate: ObservedGate, path: ObservedPass) -> None:
    gate.request = composing(path)
    gate.request.contexts.append(gate)


def _file_hook(state: Knowledge, gate: ObservedGate, path: ObservedPass) -> None:
    at, point = gate.opened.at, gate.opened.point or "pre"
    if at == "TOOL_CALL":
        if gate.call is not None:
            gate.call.hooks.append(gate)
    elif at in OF_A_REQUEST:
        later = path.request
        gate.request = composing(path) if (at, point) in COMPOSING else later
        if gate.request is not None:
            gate.request.hooks.append(gate)
    else:
        path.hooks.append(gate)


def _file_prompt(state: Knowledge, gate: ObservedGate, path: ObservedPass) -> None:
    shown, call = gate.opened, gate.call
    if call is None:
        return
    key = shown.prompt or gate.id
    prompt = next((one for one in call.prompts if one.id == key), None)
    if prompt is None:
        prompt = ObservedPrompt(key, shown.ask, call, shown, state.clock)
        call.prompts.append(prompt)
    prompt.gates.append(gate)


def _file_tool(state: Knowledge, gate: ObservedGate, path: ObservedPass) -> None:
    if gate.call is not None:
        gate.call.entries.append(gate)


def _file_verdict(state: Knowledge, gate: ObservedGate, path: ObservedPass) -> None:
    if gate.call is not None:
        gate.call.judged.append(gate)


def _file_assert(state: Knowledge, gate: ObservedGate, path: ObservedPass) -> None:
    path.asserts.append(gate)


def _closed(state: Knowledge, seen: GateClosed) -> None:
    gate = state.gates.get(seen.gate)
    if gate is not None and not gate.closed_at:
        gate.closed_at, gate.closed_in = state.clock, state.window
        _take_back(state, gate)


def _take_back(state: Knowledge, gate: ObservedGate) -> None:
    """What was released and then given up never took effect."""
    state.grants = [one for one in state.grants if one.at != gate.released_at or gate.on != "prompt"]
    request = gate.request
    if gate.on == "model" and gate.outcome is not None and request is not None:
        request.calls.clear()
        request.path.calls = {call.id: call for call in request.path.every_call()}


def _finished(state: Knowledge, seen: TurnEnded) -> None:
    turn = state.turn_of(seen)
    if turn is not None and turn.reason is None:
        turn.reason = seen.reason


def _message(state: Knowledge, seen: MessageAppended) -> None:
    turn = state.turn_of(seen)
    if seen.transcript == "session":
        state.session.append(seen.message)
        if turn is not None:
            turn.messages.append(seen.message)
    path = turn.path(seen.stage) if turn is not None else None
    if path is None:
        return
    path.messages.append(seen.message)
    call = path.calls.get(seen.message.call or "")
    if call is not None and seen.message.role == "tool":
        call.results.append(seen.message)


def _checkpoint(state: Knowledge, seen: Checkpointed) -> None:
    turn = state.turn_of(seen)
    if isinstance(seen.state, Mapping) and "messages" in seen.state:
        state.stored = seen.state["messages"]
    if turn is None:
        return
    turn.checkpoints.append((state.clock, seen))
    if seen.cause == "exit" and seen.stage in turn.executions:
        turn.executions[seen.stage].exit_checkpoints.append(seen)


def _event(state: Knowledge, seen: Published) -> None:
    if seen.watcher is not None:
        state.watched.append((state.clock, seen))
        return
    state.published.append((state.clock, seen))
    turn = state.turn_of(seen)
    if turn is None:
        return
    turn.events.append((state.clock, seen))
    execution = turn.executions.get(seen.get("execution") or "")
    if execution is not None:
        execution.events.append((state.clock, seen))
    _file_event(state, turn, seen)


def _file_event(state: Knowledge, turn: ObservedTurn, seen: Published) -> None:
    call = seen.get("call")
    found = state.call_of(seen, call) if isinstance(call, str) else None
    if found is not None:
        found.events.append(seen)
    if seen.name.startswith("Provider"):
        newest = turn.passes[-1] if turn.passes and turn.kind != "group" else None
        path = turn.path(seen.stage) or newest
        if path is not None and path.request is not None:
            path.request.events.append(seen)


def _run_moved(state: Knowledge, seen: RunMoved) -> None:
    turn = state.turn_of(seen)
    if turn is not None:
        turn.statuses.append(seen.to)


def _call_moved(state: Knowledge, seen: CallMoved) -> None:
    call = state.call_of(seen)
    if call is not None:
        call.statuses.append(seen.to)


FILED: Final[Mapping[str, Callable[[Knowledge, ObservedGate, ObservedPass], None]]] = {
    "model": _file_model,
    "context": _file_context,
    "hook": _file_hook,
    "prompt": _file_prompt,
    "tool": _file_tool,
    "sm": _file_verdict,
    "assert": _file_assert,
}

SHOWN: Final[Mapping[type[Observation], Callable[[Knowledge, Any], None]]] = {
    GateOpened: _opened,
    GateClosed: _closed,
    TurnEnded: _finished,
    MessageAppended: _message,
    Checkpointed: _checkpoint,
    Published: _event,
    RunMoved: _run_moved,
    CallMoved: _call_moved,
}
