"""HOOK: when hooks are asked, in which order, and that bodies wait for them."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.message_loop.invariants.authority import approval_of, rewrites, token_uses
from runlock.conformance.families.message_loop.invariants.entry import entering
from runlock.conformance.families.message_loop.invariants.occasions import (
    before,
    chunk_number,
    gates_of_occasion,
    request_of,
)
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResult,
    CheckResults,
    broken,
    listed,
    named,
)
from runlock.conformance.families.message_loop.messages import GateOpened, HookSpec
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedCall, ObservedGate, ObservedPass
from runlock.conformance.family.invariant import check, held_or
from runlock.conformance.family.rank import Rank

BEFORE_A_REQUEST: Final = (
    ("RECEIVE_INPUT", "pre"),
    ("COMPOSE_REQUEST", "pre"),
    ("COMPOSE_REQUEST", "post"),
    ("SEND_REQUEST", "pre"),
)


def slot_of(seen: GateOpened) -> str:
    """How a sentence names where a hook is asked."""
    return f"{seen.at} {seen.point}"


@check("AUTH-9", at=("tool",), rank=Rank.CONSENT)
def an_approved_call_met_its_guards(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Every approved call is shown to every guard before it runs."""
    call = entering(state, seen)
    if call is None:
        return
    for spec in state.scenario.hooks_at("TOOL_CALL", "pre"):
        if spec.kind == "guard":
            asked = any(gate.opened.hook == spec.id for gate in call.hook_gates("pre"))
            yield held_or(asked, f"{named(call)} was entered, and guard {spec.id} was not asked about it")


@check("HOOK-7", rank=Rank.STATUS)
def hooks_in_parallel_are_open_together(state: ObservedState) -> CheckResults:
    """Where hooks are parallel, those of one slot are open together."""
    if state.policy("hook.order") != "parallel" or state.run is None:
        return
    for gate in state.run.open_gates():
        shown = gate.opened
        if gate.on != "hook" or shown.at is None or (shown.at, shown.point) == ("TOOL_CALL", "pre"):
            continue
        specs = [s for s in state.scenario.hooks_at(shown.at, shown.point or "pre") if s.id != shown.hook]
        asked = {other.opened.hook for other in gates_of_occasion(state, shown)}
        missing = [spec.id for spec in specs if spec.id not in asked]
        if specs and (shown.at, shown.point) != ("STREAM_RESPONSE", "pre"):
            yield held_or(not missing, f"hook {shown.hook} is at {slot_of(shown)} without {listed(missing)}")


@check("HOOK-6", at=("hook",), rank=Rank.STATUS)
def render_asks_no_guard(state: ObservedState, seen: GateOpened) -> CheckResults:
    """RENDER asks no guard."""
    if seen.at == "RENDER":
        yield held_or(seen.role != "guard", f"guard {seen.hook} was asked at RENDER, which has no guards")


@check("HOOK-1", at=("hook",), rank=Rank.STATUS)
def a_hook_is_asked_at_its_slot(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A hook of the scenario is asked at the slot that it has."""
    spec = state.scenario.hook(seen.hook or "")
    if spec is None:
        yield broken(f"hook {seen.hook} was asked at {slot_of(seen)}, and the scenario has no such hook")
        return
    place = (seen.at, seen.point or "pre", seen.role or spec.kind)
    right = (spec.at, spec.point, spec.kind)
    yield held_or(
        place == right,
        f"hook {spec.id} is {' '.join(right)}, yet it was asked as {' '.join(map(str, place))}",
    )


@check("HOOK-1", at=("hook",), rank=Rank.STATUS)
def a_hook_of_a_call_has_a_call(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A hook at TOOL_CALL is asked about a call of a complete response."""
    path = state.path_of(seen)
    if path is None or seen.at != "TOOL_CALL" or any(call.doubled for call in path.every_call()):
        return
    call = state.call_of(seen)
    yield held_or(call is not None, f"hook {seen.hook} was asked about {seen.call}, which is no call")


@check("AUTH-2", at=("hook", "prompt", "sm"), rank=Rank.LOST)
def guards_stand_where_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Guards come after the approval of a call, or before it."""
    call, place = state.call_of(seen), state.policy("guard.place")
    if call is None or not call.is_usable or place is None:
        return
    if seen.on == "hook" and (seen.at, seen.point, seen.role) == ("TOOL_CALL", "pre", "guard"):
        if place == "after_approval" and not token_uses(call):
            approved = bool(approval_of(state, call))
            yield held_or(approved, f"guard {seen.hook} was asked about {named(call)} before it was approved")
        elif place == "before_approval" and not call.prompts:
            yield HELD
    elif seen.on in ("prompt", "sm"):
        yield from _asked_around_guards(state, call, place, seen)


def _asked_around_guards(
    state: ObservedState, call: ObservedCall, place: str, seen: GateOpened
) -> CheckResults:
    who = "people are" if seen.on == "prompt" else "the state machine is"
    guards = [gate for gate in call.hook_gates("pre") if gate.opened.role == "guard"]
    asked = {gate.opened.hook for gate in guards if not gate.is_open}
    if place == "after_approval" and not rewrites(call):
        yield held_or(not guards, f"{who} asked about {named(call)} after its guards were")
    elif place == "before_approval" and seen.on == "prompt":
        specs = [s for s in state.scenario.hooks_at("TOOL_CALL", "pre") if s.kind == "guard"]
        missing = [spec.id for spec in specs if spec.id not in asked]
        yield held_or(not missing, f"{who} asked about {named(call)} before guard {listed(missing)} answered")


@check("HOOK-1", at=("hook",), rank=Rank.STATUS)
def a_hook_is_asked_once(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A hook fires once for each occasion of its slot."""
    path = state.path_of(seen)
    if path is None or seen.at is None:
        return
    if (seen.at, seen.point) == ("STREAM_RESPONSE", "pre"):
        yield from _asked_for_each_chunk(path, seen)
        return
    call = state.call_of(seen)
    if seen.at == "TOOL_CALL" and (call is None or call.doubled or rewrites(call)):
        return
    asked = [gate for gate in gates_of_occasion(state, seen) if gate.opened.hook == seen.hook]
    about = f" for {named(call)}" if call is not None else f" in {path.label}"
    yield held_or(not asked, f"hook {seen.hook} was asked twice at {slot_of(seen)}{about}")


def _asked_for_each_chunk(path: ObservedPass, seen: GateOpened) -> CheckResults:
    request = path.request
    if request is None:
        yield broken(f"hook {seen.hook} was asked about streamed text before any request was sent")
        return
    asked = chunk_number(request.hook_gates("STREAM_RESPONSE", "pre"), seen.hook)
    yield held_or(
        asked < len(request.chunks),
        f"hook {seen.hook} was asked about {asked + 1} pieces of text of request {request.number}, "
        f"of which {len(request.chunks)} came",
    )


@check("HOOK-2", at=("model", "tool"), rank=Rank.STATUS)
def a_body_waits_for_its_hooks(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No request is sent and no tool entered while a hook before it has not answered."""
    path = state.path_of(seen)
    call = entering(state, seen) if seen.on == "tool" else None
    if path is None or (seen.on == "tool" and call is None):
        return
    what = f"{named(call)} was entered" if call is not None else "the request was sent"
    places = [("TOOL_CALL", "pre")] if call is not None else BEFORE_A_REQUEST
    for at, point in places:
        gates = call.hook_gates("pre") if call is not None else _before_request(state, path, at, point)
        for spec in state.scenario.hooks_at(at, point):
            if any(gate.opened.hook == spec.id for gate in gates):
                yield _answered_only(spec, gates, what)


@check("HOOK-1", at=("model",), rank=Rank.STATUS)
def the_hooks_before_a_request_were_asked(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Before a request is sent, each hook of the stages before it was asked, and has answered."""
    path = state.path_of(seen)
    if path is None or (path.request is not None and path.request.may_be_sent_again):
        return
    for at, point in BEFORE_A_REQUEST:
        gates = _before_request(state, path, at, point)
        for spec in state.scenario.hooks_at(at, point):
            yield _was_answered(spec, gates, "the request was sent")


def _before_request(state: ObservedState, path: ObservedPass, at: str, point: str) -> list[ObservedGate]:
    if at == "RECEIVE_INPUT":
        return [g for g in path.hooks if (g.opened.at, g.opened.point) == (at, point)]
    request = request_of(state, path, at, point)
    return request.hook_gates(at, point) if request is not None else []


def _was_answered(spec: HookSpec, gates: list[ObservedGate], what: str) -> CheckResult:
    mine = [gate for gate in gates if gate.opened.hook == spec.id]
    if not mine:
        return broken(f"{what}, yet hook {spec.id} was not asked at {spec.at} {spec.point}")
    waits = any(gate.is_open for gate in mine)
    return held_or(not waits, f"{what}, yet hook {spec.id} has not answered at {spec.at} {spec.point}")


def _answered_only(spec: HookSpec, gates: list[ObservedGate], what: str) -> CheckResult:
    waits = any(gate.is_open for gate in gates if gate.opened.hook == spec.id)
    return held_or(not waits, f"{what}, yet hook {spec.id} has not answered at {spec.at} {spec.point}")


@check("HOOK-1", at=("tool",), rank=Rank.STATUS)
def a_call_met_its_hooks(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Before a tool is entered, each hook before it was asked about the call, and has answered."""
    call = entering(state, seen)
    if call is None:
        return
    for spec in state.scenario.hooks_at("TOOL_CALL", "pre"):
        yield _was_answered(spec, call.hook_gates("pre"), f"{named(call)} was entered")


@check("HOOK-2", at=("hook",), rank=Rank.STATUS)
def a_post_hook_comes_after_the_body(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A post hook is asked after the body of its stage."""
    path = state.path_of(seen)
    if path is None or seen.point != "post":
        return
    if seen.at == "TOOL_CALL":
        call = state.call_of(seen)
        if call is not None and call.is_usable:
            executing = any(gate.is_open for gate in call.entries)
            yield held_or(
                not executing, f"hook {seen.hook} was asked at {slot_of(seen)} while {named(call)} runs"
            )
        return
    request = path.request
    if seen.at == "SEND_REQUEST":
        sent = request is not None and bool(request.model_gates)
        yield held_or(sent, f"hook {seen.hook} was asked at {slot_of(seen)} before the request was sent")
    elif seen.at == "STREAM_RESPONSE":
        over = request is not None and not request.is_streaming and bool(request.model_gates)
        yield held_or(over, f"hook {seen.hook} was asked at {slot_of(seen)} before the response was complete")


@check("HOOK-7", at=("hook",), rank=Rank.STATUS)
def hooks_are_asked_in_order(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The hooks of one slot are asked in the declared order."""
    spec, order = state.scenario.hook(seen.hook or ""), state.policy("hook.order")
    if spec is None or order not in ("listed", "by_kind"):
        return
    call = state.call_of(seen) if seen.at == "TOOL_CALL" else None
    if call is not None and rewrites(call) and state.policy("rewrite.place") in (None, "asked_again"):
        return
    specs = state.scenario.hooks_at(spec.at, spec.point)
    for gate in gates_of_occasion(state, seen):
        other = state.scenario.hook(gate.opened.hook or "")
        if other is None or other is spec or not _same_side(state, spec, other):
            continue
        if gate.is_open:
            yield broken(f"hook {spec.id} was asked at {slot_of(seen)} while hook {other.id} is open")
        else:
            right = before(other, spec, specs, order)
            yield held_or(right, f"hook {other.id} was asked before hook {spec.id} at {slot_of(seen)}")


def _same_side(state: ObservedState, one: HookSpec, other: HookSpec) -> bool:
    """Whether the order says something of two hooks: at TOOL_CALL pre an approval may lie between them."""
    if (one.at, one.point) != ("TOOL_CALL", "pre") or one.kind == other.kind:
        return True
    if "observer" in (one.kind, other.kind):
        return False
    guards, transforms = state.policy("guard.place"), state.policy("rewrite.place")
    after = guards == "after_approval" and transforms in ("after_approval", "asked_again")
    return after or (guards == transforms == "before_approval")


@check("HOOK-8", at=("hook",), rank=Rank.STATUS)
def no_transform_comes_after_a_denial(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After a denial no transform of that occasion is asked."""
    if seen.role != "transform" or state.policy("hook.order") in (None, "parallel"):
        return
    for gate in gates_of_occasion(state, seen):
        if gate.opened.role == "guard":
            why = f"guard {gate.opened.hook} denied at {slot_of(seen)}, yet transform {seen.hook} was asked"
            yield held_or(gate.answered_with != "deny", why)


@check("HOOK-11", at=("hook", "prompt"), rank=Rank.STATUS)
def transforms_stand_where_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Transforms of TOOL_CALL come before the approval, after it, or after it with a second approval."""
    call, place = state.call_of(seen), state.policy("rewrite.place")
    if call is None or not call.is_usable or place is None:
        return
    if seen.on == "hook" and (seen.at, seen.point, seen.role) == ("TOOL_CALL", "pre", "transform"):
        if place == "before_approval":
            why = f"transform {seen.hook} was asked after the approval of {named(call)}"
            yield held_or(not call.prompts, why)
        else:
            approved = bool(approval_of(state, call))
            yield held_or(
                approved, f"transform {seen.hook} was asked about {named(call)} before its approval"
            )
    elif seen.on == "prompt":
        yield from _asked_after_rewrites(state, call, place, seen)


def _asked_after_rewrites(
    state: ObservedState, call: ObservedCall, place: str, seen: GateOpened
) -> CheckResults:
    new = all(prompt.id != seen.prompt for prompt in call.prompts)
    if new and call.prompts and rewrites(call):
        once = place != "after_approval"
        yield held_or(once, f"people are asked about {named(call)} again after a rewrite")
