"""Adapts moves to a runner: its own gate ids, and only stimuli that it offers and that are valid now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.conformance.families.tool_runner.actions.model import pieces_of
from runlock.conformance.families.tool_runner.messages import USER_VERBS, VOCABULARY
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.records import Iteration, same, stands
from runlock.conformance.family.grounding import Part, ground_by_name, with_parts
from runlock.conformance.family.state import OpenGate
from runlock.conformance.protocol import Message
from runlock.conformance.trace.moves import Move


def ground(move: Move, state: ObservedRunner) -> dict[str, Any] | None:
    """The move's params with the gate ids of this runner; None if a gate that it names is not open."""
    return ground_by_name(move, state, _whole)


def _whole(gate: OpenGate, outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    """A turn with all its fields; those that a schedule left out get their defaults."""
    if gate.on != "model" or outcome.get("kind") != "turn":
        return outcome
    return {"text": "", "tool_calls": [], **outcome}


def admit(move: Move, state: ObservedRunner) -> Move | None:
    """The move without the parts that the runner does not accept, or not now; None if nothing is left."""
    kept: list[Part] = []
    for part in move.parts():
        if _may_follow(part, kept, state) and _is_offered(state, *part):
            kept.append(part)
    if move.method == "deliver" and "deliver" not in state.handshake.stimuli:
        kept = kept[:1]
    return with_parts(move, kept)


def _may_follow(part: Part, earlier: list[Part], state: ObservedRunner) -> bool:
    """Whether a stimulus may follow the earlier ones of its race: the user acts sequentially."""
    method, params = part
    methods = [name for name, _ in earlier]
    if "runner.again" in methods or (method == "runner.again" and earlier):
        return False
    if "run.start" in methods and method != "cancel":
        return False
    if any(stands(turn, _given(other)) for turn in _turns(params) for _, other in earlier):
        return False  # the user gives no turn twice
    left = any(name == "gate.release" and _on(state, given) == "yield" for name, given in earlier)
    if method in USER_VERBS and left:
        return False
    goes_on = method == "gate.release" and _on(state, params) == "yield"
    return not ((goes_on or method == "runner.respond") and "runner.respond" in methods)


def _on(state: ObservedRunner, params: Mapping[str, Any]) -> str:
    gate = state.gate(params["gate"])
    return gate.on if gate is not None else ""


def _is_offered(state: ObservedRunner, method: str, params: Mapping[str, Any]) -> bool:
    check = _OFFERS.get(method)
    if check is not None:
        return VOCABULARY.is_taken(method, state.handshake) and check(state, params)
    if method in USER_VERBS:
        return state.iteration is not None and state.yielded is not None and _may_act(state, method, params)
    return True


def _may_act(state: ObservedRunner, method: str, params: Mapping[str, Any]) -> bool:
    iteration, offered = state.iteration, state.handshake.stimuli
    assert iteration is not None
    if method == "runner.respond":
        return method in offered and iteration.turn is not None and iteration.pending_response is None
    if method == "runner.set":
        wanted = [f"runner.set.{part}" for part in ("messages", "params") if params.get(part) is not None]
        return set(wanted) <= set(offered) and not _is_put_by_the_runner(state, iteration, method, params)
    return method in offered and not _is_put_by_the_runner(state, iteration, method, params)


def _is_put_by_the_runner(
    state: ObservedRunner, iteration: Iteration, method: str, params: Mapping[str, Any]
) -> bool:
    """Whether the user would add a turn that is already in the state, or that the runner will append."""
    turns = _turns(params)
    standing = [*iteration.before_pushes(), *iteration.pushes()] if method == "runner.push" else []
    if any(stands(turn, standing) for turn in turns):
        return True
    own = [turn for turn in turns if same(turn, iteration.message)]
    if not own:
        return False
    append = state.policy("runner.append")
    if append is None or append == "on_receipt" or (append == "unless_pushed" and method == "runner.set"):
        return True
    paused = iteration.turn is not None and iteration.turn.stop == "pause_turn"
    return paused and state.policy("pause.changed") != "dropped"


def _given(params: Mapping[str, Any]) -> list[Message]:
    return [Message.model_validate(one) for one in params.get("messages") or ()]


def _turns(params: Mapping[str, Any]) -> list[Message]:
    return [message for message in _given(params) if message.role == "assistant"]


def _may_take_up(state: ObservedRunner, params: Mapping[str, Any]) -> bool:
    """Whether the runner may be continued: after a break at a whole turn, or a fault, but no cancel."""
    run, iteration = state.run, state.iteration
    if run is None or not run.is_done or iteration is None:
        return False
    if state.is_cancelled or params["run"] in state.runs or not state.quiescent:
        return False
    if run.left_at is not None:
        whole = iteration.turn is not None and iteration.whole_at_resume
        if state.scenario.runner.stream and "streaming" in state.values("tools.start"):
            whole = whole and bool(iteration.end_events)  # its reader may be waiting for a tool
        return whole and not iteration.may_have_lost_its_turn
    if iteration.fault:
        return True
    return run.ended is not None and run.ended.code == "Error" and bool(iteration.entries)


def _may_cancel(state: ObservedRunner, params: Mapping[str, Any]) -> bool:
    offered, run = state.handshake.stimuli, state.runs.get(params["run"])
    if run is None or run is not state.run or run.cancel_at is not None:
        return False
    if state.yielded is not None or not state.quiescent:
        return "cancel.yield" in offered
    return True


def _may_release(state: ObservedRunner, params: Mapping[str, Any]) -> bool:
    gate, outcome = state.gate(params["gate"]), params["outcome"]
    if gate is None:
        return False
    if outcome["kind"] not in state.handshake.outcomes.at(gate.on):
        return False
    if gate.on == "yield":
        iteration = state.iteration
        return state.early_yield is None and (iteration is None or iteration.pending_response is None)
    if gate.on == "model":
        return _may_say(state, outcome)
    return True


def _may_say(state: ObservedRunner, outcome: Mapping[str, Any]) -> bool:
    """Whether the model may answer this: an offered stop reason, beginning with the streamed pieces."""
    if outcome["kind"] == "delta":
        return state.scenario.runner.stream
    if outcome["kind"] != "turn":
        return True
    stop = outcome.get("stop_reason")
    text, calls = pieces_of(state.iteration)
    begun = outcome.get("tool_calls") or []
    fits = str(outcome.get("text") or "").startswith(text) and [c["id"] for c in begun][: len(calls)] == [
        call["id"] for call in calls
    ]
    return fits and (stop is None or stop in state.handshake.stops)


_OFFERS: Final[Mapping[str, Callable[[ObservedRunner, Mapping[str, Any]], bool]]] = {
    "run.start": lambda state, params: not state.runs,
    "runner.again": _may_take_up,
    "cancel": _may_cancel,
    "gate.release": _may_release,
    "clock.advance": lambda state, params: state.handshake.control.clock == "virtual",
}


def drain(state: ObservedRunner) -> Move | None:
    """The next move that gives the run what it waits for: tools first, then the model, then the user."""
    order = {"tool": 0, "model": 1, "yield": 2}
    waiting = sorted(state.open_gates, key=lambda gate: order.get(gate.on, 3))
    if not waiting:
        return None
    gate = waiting[0]
    return Move("gate.release", {"gate": gate.ref, "outcome": _easy_outcome(state, gate.on, gate.ref)})


def _easy_outcome(state: ObservedRunner, on: str, ref: str) -> dict[str, Any]:
    if on == "tool":
        return {"kind": "ok", "content": f"<{ref} at the end>"}
    if on == "yield":
        return {"kind": "resume"}
    text, calls = pieces_of(state.iteration)
    return {"kind": "turn", "text": f"{text}done {len(state.iterations)}", "tool_calls": calls}
