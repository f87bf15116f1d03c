"""How the state takes in what the kit sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from runlock.conformance.families.message_loop.messages import Published
from runlock.conformance.families.message_loop.state.fold.observations import FILED
from runlock.conformance.families.message_loop.state.knowledge import Knowledge
from runlock.conformance.families.message_loop.state.records import (
    Grant,
    ObservedCall,
    ObservedExecution,
    ObservedGate,
    ObservedPass,
    ObservedRequest,
    ObservedTurn,
)

Params = Mapping[str, Any]


def _start(state: Knowledge, params: Params) -> None:
    group, join = params.get("group"), params.get("join")
    first = group if group is not None else [params["stage"]] if params.get("stage") else []
    kind = "group" if group is not None else "stage" if params.get("stage") else "chat"
    executions = {one["id"]: _execution(state, one, is_join=False) for one in first}
    if join:
        executions[join["id"]] = _execution(state, join, is_join=True)
    turn = ObservedTurn(
        params["run"], kind, params.get("input"), executions, state.clock, len(state.turns) + 1
    )
    turn.session_before = tuple(state.session)
    for stage in executions or [None]:
        begin_pass(turn, stage)
    state.turns[turn.id] = state.run = turn


def _execution(state: Knowledge, one: Params, *, is_join: bool) -> ObservedExecution:
    return ObservedExecution(one["id"], one["name"], state.scenario.stage(one["name"]), is_join)


def begin_pass(turn: ObservedTurn, stage: str | None) -> ObservedPass:
    """A pass begins: of a chat turn, or the next attempt of a stage execution."""
    before = turn.path(stage)
    path = ObservedPass(turn, stage, before.attempt + 1 if before is not None else 1)
    turn.passes.append(path)
    if stage in turn.executions:
        turn.executions[stage].passes.append(path)
    return path


def _release(state: Knowledge, params: Params) -> None:
    gate = state.gates.get(params["gate"])
    if gate is None or not gate.is_open:
        return
    outcome = params["outcome"]
    if outcome["kind"] == "activity":
        return
    if outcome["kind"] == "delta":
        gate.deltas.append(outcome)
        return
    if gate.on == "prompt" and _is_second_answer(state, gate):
        gate.closed_at, gate.closed_in = state.clock, state.window
    gate.outcome, gate.released_at, gate.released_in = outcome, state.clock, state.window
    effect = EFFECTS.get(gate.on)
    if effect is not None:
        effect(state, gate, outcome)


def _is_second_answer(state: Knowledge, gate: ObservedGate) -> bool:
    """Whether the prompt has a firm answer in this window already, so that this one is late."""
    prompt = _prompt(gate)
    first = prompt.first_firm if prompt is not None else None
    return first is not None and first.released_in == state.window


def _prompt(gate: ObservedGate) -> Any:
    prompts = gate.call.prompts if gate.call is not None else []
    return next((one for one in prompts if gate in one.gates), None)


def _answered(state: Knowledge, gate: ObservedGate, outcome: Params) -> None:
    """The response is complete: its calls exist from now on."""
    request = gate.request
    if outcome["kind"] != "turn" or request is None:
        return
    asked = outcome.get("tool_calls") or []
    ids = [call["id"] for call in asked]
    for index, call in enumerate(asked):
        doubled = ids.count(call["id"]) > 1
        request.calls.append(_call(state, request, index, call, doubled=doubled))
        request.path.calls[call["id"]] = request.calls[-1]
        _file_early(state, request, request.calls[-1])


def _call(
    state: Knowledge, request: ObservedRequest, index: int, asked: Params, *, doubled: bool
) -> ObservedCall:
    tool = state.scenario.tool(asked["name"])
    call = ObservedCall(asked["id"], asked["name"], asked.get("args", {}), index, request, tool, doubled)
    call.events += _early(request, call.id)
    return call


def _early(request: ObservedRequest, call: str) -> Iterator[Published]:
    """What was published about a call since its first piece, before the response was complete."""
    gate, turn = request.gate, request.path.turn
    if gate is None or not any((delta.get("tool_call") or {}).get("id") == call for delta in gate.deltas):
        return
    for at, event in turn.events:
        if at > gate.at and event.get("call") == call and event.stage == request.path.stage:
            yield event


def _file_early(state: Knowledge, request: ObservedRequest, call: ObservedCall) -> None:
    """File under a call the gates that opened for it before its response was complete (LOOP-17)."""
    asked_at = request.gate.at if request.gate is not None else state.clock
    for gate in request.path.turn.gates:
        is_of_request = gate.path is request.path and gate.at > asked_at
        if is_of_request and gate.call is None and gate.opened.call == call.id:
            gate.call = call
            FILED[gate.on](state, gate, request.path)


def _granted(state: Knowledge, gate: ObservedGate, outcome: Params) -> None:
    """An allow may stand for more than its call."""
    call, shown = gate.call, gate.opened
    if outcome["kind"] != "allow" or call is None or gate.closed_at:
        return
    scope = outcome.get("scope") or "once"
    if scope != "once":
        where = (gate.turn, shown.stage, state.clock, state.window)
        name, args = shown.name or call.name, shown.args
        state.grants.append(Grant(call, name, args, scope, shown.ask, *where))


def _asserted(state: Knowledge, gate: ObservedGate, outcome: Params) -> None:
    if outcome["kind"] == "retry":
        begin_pass(gate.turn, gate.opened.stage)


def _cancel(state: Knowledge, params: Params) -> None:
    turn = state.turns.get(params["run"])
    if turn is None or turn.is_done or turn.cancelled_at:
        return
    turn.cancelled_at, turn.cancelled_in = state.clock, state.window
    turn.cancel_met = frozenset(gate.id for gate in turn.open_gates())
    turn.cancel_is_clean = state.is_clean(state.window) and state.last_method == "cancel"


def _gone(state: Knowledge, params: Params) -> None:
    interactor = params["interactor"]
    if interactor in state.active:
        state.active.remove(interactor)
    state.gone_in[interactor] = state.window


def _watch(state: Knowledge, params: Params) -> None:
    clean = state.is_clean(state.window) and state.last_method == "watch"
    since = state.clock if clean else -1
    state.watchers[params["watcher"]] = (since, bool(params.get("fails")))


def _unwatch(state: Knowledge, params: Params) -> None:
    since, _ = state.watchers.pop(params["watcher"], (-1, False))
    state.unwatched[params["watcher"]] = (since, state.clock)


def _late(state: Knowledge, params: Params) -> None:
    state.late.append((state.stimuli, params))


EFFECTS: Final[Mapping[str, Callable[[Knowledge, ObservedGate, Params], None]]] = {
    "model": _answered,
    "prompt": _granted,
    "assert": _asserted,
}

SENT: Final[Mapping[str, Callable[[Knowledge, Params], None]]] = {
    "run.start": _start,
    "gate.release": _release,
    "cancel": _cancel,
    "interactor.gone": _gone,
    "watch": _watch,
    "unwatch": _unwatch,
    "late": _late,
}
