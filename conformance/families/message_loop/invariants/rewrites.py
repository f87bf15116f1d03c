"""HOOK: what guards, transforms and observers change, and what a broken hook counts as."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from runlock.conformance.families.message_loop.invariants.authority import (
    passes_unasked,
    prompt_verdict,
    rewritten_arguments,
)
from runlock.conformance.families.message_loop.invariants.denials import people_may_stop_others
from runlock.conformance.families.message_loop.invariants.entry import entering
from runlock.conformance.families.message_loop.invariants.occasions import (
    gates_of_occasion,
    is_odd,
    request_of,
    rewrite_of,
    rewritten_by,
)
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResults,
    broken,
    named,
    quoted,
)
from runlock.conformance.families.message_loop.messages import SLOTS, GateOpened, Published, TurnEnded
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import (
    ObservedCall,
    ObservedGate,
    ObservedPass,
    ObservedRequest,
    ObservedTurn,
)
from runlock.conformance.family.invariant import check, held_or
from runlock.conformance.family.rank import Rank

REQUEST_KEYS: Final = ("system", "messages", "tools")
WITH_GUARDS: Final = frozenset(slot.removesuffix(".guard") for slot in SLOTS if slot.endswith(".guard"))

BODIES: Final = ("model", "tool", "prompt", "sm")

OUTPUT: Final = ("ProviderTokensStreamed", "Rendered")


def certain(state: ObservedState, gate: ObservedGate) -> bool:
    """Whether the answer of a gate certainly reached the runtime, and met no race."""
    return state.is_clean(gate.released_in) and not state.may_be_lost(gate)


def stage_denials(state: ObservedState, path: ObservedPass) -> list[ObservedGate]:
    """The guards outside TOOL_CALL that certainly denied in a pass."""
    return [gate for gate in path.turn.stage_denials() if gate.path is path and certain(state, gate)]


@check("HOOK-3", at=BODIES, rank=Rank.STATUS)
def a_denial_keeps_the_body_from_running(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After a guard's denial outside TOOL_CALL no request is sent, and no call is settled or runs."""
    path = state.path_of(seen)
    for gate in stage_denials(state, path) if path is not None else ():
        yield broken(
            f"guard {gate.opened.hook} denied at {gate.opened.at} {gate.opened.point}, "
            f"yet {_deed(seen)} after it"
        )


def _deed(seen: GateOpened) -> str:
    deeds = {"model": "a request was sent", "tool": f"call {seen.call} ran", "prompt": "people were asked"}
    return deeds.get(seen.on, f"a {seen.on} gate opened")


@check("HOOK-3", at=OUTPUT, rank=Rank.STATUS)
def nothing_is_published_after_a_denial(state: ObservedState, seen: Published) -> CheckResults:
    """After a guard's denial no more text is published, and nothing is rendered."""
    turn = state.turn_of(seen)
    if seen.watcher is not None or turn is None or len(turn.passes) > 1:
        return
    for gate in stage_denials(state, turn.passes[0]):
        yield broken(
            f"guard {gate.opened.hook} denied at {gate.opened.at}, yet {seen.name} was published after it"
        )


@check("HOOK-3", rank=Rank.STATUS)
def a_denial_ends_the_turn_as_blocked(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A guard's denial outside TOOL_CALL ends the turn as Blocked."""
    turn = state.turn_of(seen)
    if turn is None or turn.cancelled_at or turn.faults() or _odd(turn):
        return
    denials = [gate for gate in turn.stage_denials() if certain(state, gate)]
    allowed = ("Blocked", "Error") if turn.kind == "group" else ("Blocked",)
    if denials:
        guard, at = denials[0].opened.hook, denials[0].opened.at
        why = f"guard {guard} denied at {at}, which ends the turn as Blocked; it ended as {seen.reason.code}"
        yield held_or(seen.reason.code in allowed, why)


@check("HOOK-3", rank=Rank.STATUS)
def a_denied_turn_is_over(state: ObservedState) -> CheckResults:
    """After a guard's denial outside TOOL_CALL nothing of the pass waits any more, except a commit."""
    turn = state.run
    if turn is None:
        return
    for gate in turn.stage_denials():
        if gate.path is None or not certain(state, gate):
            continue
        mine = [one for one in turn.open_gates() if one.path is gate.path]
        if any(one.on == "hook" for one in mine):
            continue  # hooks that are asked at once are waited for
        waits = [one.ref for one in mine if one.on != "store.put"]
        yield held_or(not waits, f"guard {gate.opened.hook} denied at {gate.opened.at}, yet {waits} wait on")


def _odd(turn: ObservedTurn) -> bool:
    """Whether a guard or a transform answered what its kind does not have."""
    return any(gate.on == "hook" and is_odd(gate) for gate in turn.gates)


@check("HOOK-5", at=("model", "tool"), rank=Rank.OTHER)
def an_observer_rewrites_nothing(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What an observer answers is not what goes on."""
    gates, shown = _observed(state, seen)
    for gate in gates:
        if gate.opened.role != "observer" or gate.answered_with != "rewrite":
            continue
        for key, value in ((gate.answer or {}).get("data") or {}).items():
            before = (gate.opened.data or {}).get(key)
            taken = key in shown and alike(shown[key], value) and not alike(before, value)
            mine = any(alike(rewritten_by(other).get(key), value) for other in gates)
            yield held_or(
                not taken or mine,
                f"observer {gate.opened.hook} answered {key} {quoted(value)}, and that went on",
            )


def _observed(state: ObservedState, seen: GateOpened) -> tuple[list[ObservedGate], dict[str, Any]]:
    """The hook gates before a body, and what the body gets."""
    if seen.on == "tool":
        call = entering(state, seen)
        return (call.hook_gates("pre") if call is not None else []), {"args": seen.args}
    path = state.path_of(seen)
    request = request_of(state, path, "SEND_REQUEST", "pre") if path is not None else None
    gates = (
        [*request.hook_gates("COMPOSE_REQUEST", "post"), *request.hook_gates("SEND_REQUEST", "pre")]
        if request
        else []
    )
    return gates, {key: getattr(seen, key) for key in REQUEST_KEYS if getattr(seen, key) is not None}


def _before_sending(request: ObservedRequest | None) -> list[ObservedGate]:
    """The hook gates that are shown a composed request."""
    if request is None:
        return []
    return [*request.hook_gates("COMPOSE_REQUEST", "post"), *request.hook_gates("SEND_REQUEST", "pre")]


@check("HOOK-5", at=("model",), rank=Rank.OTHER)
def an_observer_denies_nothing(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose observer answered deny runs all the same."""
    for call in round_is_settled_but_for_observers(state, seen):
        observers = [gate for gate in call.hook_gates("pre") if gate.opened.role == "observer"]
        odd = [gate for gate in observers if gate.answered_with in ("deny", "fault")]
        unasked = passes_unasked(state, call) and not call.prompts
        approved = unasked or prompt_verdict(state, call) == "allow"
        if odd and approved and call.guard_denial is None:
            what = f"observer {odd[0].opened.hook} answered {odd[0].answered_with}"
            why = f"{what}, and {named(call)} did not run"
            yield held_or(bool(call.entries), why)


def round_is_settled_but_for_observers(state: ObservedState, seen: GateOpened) -> list[ObservedCall]:
    """The calls of a settled round, where no guard or transform broke or misbehaved."""
    path = state.path_of(seen)
    request = path.sent[-1] if path is not None and path.sent else None
    if request is None or request.path.turn.cancelled_at or state.gone_in:
        return []
    odd = any(is_odd(gate) for call in request.calls for gate in call.hooks)
    return [] if odd or people_may_stop_others(state, request) else request.calls


@check("HOOK-4", at=("hook",), rank=Rank.OTHER)
def a_rewrite_reaches_later_hooks(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A hook is shown what the transforms before it made of the data."""
    gates = _earlier(state, seen)
    together = _may_be_asked_together(state, seen, gates)
    gates = [gate for gate in gates if gate not in together]
    data = seen.data or {}
    for key in sorted({key for gate in gates for key in rewritten_by(gate)} - {"name"}):
        if _is_contested(state, gates, key):
            continue
        _, value = rewrite_of(gates, key)
        same = alike(data.get(key), value)
        yield held_or(
            same,
            f"{key} was rewritten to {quoted(value)}, yet hook {seen.hook} is shown {quoted(data.get(key))}",
        )


@check("HOOK-4", at=("hook",), rank=Rank.OTHER)
def a_rewrite_leaves_the_name_of_a_tool(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A hook before a call is shown the tool that the model asked for, whatever a transform answered."""
    call, shown = state.call_of(seen), (seen.data or {}).get("name")
    is_before = seen.at == "TOOL_CALL" and seen.point == "pre"
    if is_before and call is not None and not call.doubled and shown is not None:
        why = f"hook {seen.hook} is shown tool {shown} for {named(call)}, and no rewrite changes a name"
        yield held_or(shown == call.name, why)


def _earlier(state: ObservedState, seen: GateOpened) -> list[ObservedGate]:
    """The gates whose rewrites this hook must see, oldest first."""
    gates = gates_of_occasion(state, seen)
    path = state.path_of(seen)
    if seen.at == "SEND_REQUEST" and seen.point == "pre" and path is not None:
        request = request_of(state, path, "SEND_REQUEST", "pre")
        gates = [*(request.hook_gates("COMPOSE_REQUEST", "post") if request is not None else ()), *gates]
    return gates


def _is_contested(state: ObservedState, gates: Iterable[ObservedGate], key: str) -> bool:
    """Whether hooks that may run in parallel rewrote the same key, or were open with each other."""
    rewriters = [gate for gate in gates if key in rewritten_by(gate)]
    return len(rewriters) > 1 and state.policy("hook.order") in (None, "parallel")


def _may_be_asked_together(
    state: ObservedState, seen: GateOpened, gates: Iterable[ObservedGate]
) -> list[ObservedGate]:
    """Of the gates before a hook on its occasion, those that hooks in parallel may have been asked with."""
    if state.policy("hook.order") not in (None, "parallel"):
        return []
    return [gate for gate in gates if gate.opened.at == seen.at and gate.released_in == state.window]


def alike(shown: Any, wanted: Any) -> bool:
    """Whether two values say the same; messages by what they say."""
    if isinstance(wanted, list) and wanted and all(isinstance(one, dict) and "role" in one for one in wanted):
        return isinstance(shown, list) and [_said(one) for one in shown] == [_said(one) for one in wanted]
    return bool(shown == wanted)


def _said(message: Any) -> tuple[Any, ...]:
    raw = message if isinstance(message, dict) else message.to_wire()
    calls = tuple(call.get("id") for call in raw.get("tool_calls") or ())
    return raw.get("role"), raw.get("text") or "", raw.get("call"), calls


@check("HOOK-4", at=("model",), rank=Rank.OTHER)
def a_rewritten_request_is_what_is_sent(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What transforms made of a request is what the model gets."""
    path = state.path_of(seen)
    request = request_of(state, path, "SEND_REQUEST", "pre") if path is not None else None
    if request is None:
        return
    gates = _before_sending(request)
    for key in REQUEST_KEYS:
        was_rewritten, value = rewrite_of(gates, key)
        shown = getattr(seen, key)
        if was_rewritten and shown is not None and not _is_contested(state, gates, key):
            yield held_or(
                alike(shown, value), f"{key} was rewritten to {quoted(value)}, yet {quoted(shown)} was sent"
            )


@check("HOOK-4", at=("tool",), rank=Rank.OTHER)
def rewritten_arguments_run(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The arguments that the transforms gave a call are those that its tool gets."""
    call = entering(state, seen)
    gates = call.hook_gates("pre") if call is not None else []
    given = list(rewritten_arguments(call)) if call is not None else []
    if call is None or not given or _is_contested(state, gates, "args"):
        return
    why = f"a transform gave {named(call)} {quoted(given[-1])}, yet it runs with {quoted(seen.args)}"
    yield held_or(seen.args == given[-1], why)


@check("HOOK-5", rank=Rank.STATUS)
def an_observer_ends_no_turn(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A turn does not end for what an observer answered."""
    turn = state.turn_of(seen)
    if turn is None or turn.cancelled_at:
        return
    observers = [g for g in turn.gates if g.on == "hook" and g.opened.role == "observer"]
    odd = [gate for gate in observers if gate.answered_with in ("deny", "rewrite", "fault")]
    others = [gate for gate in turn.faults() if gate not in observers]
    if not odd or others or turn.stage_denials() or _odd(turn) or seen.reason.is_bound:
        return
    if state.raced(odd[-1]) or _may_end_otherwise(state, turn):
        return
    if seen.reason.code == "NaturalEnd":
        yield HELD
    elif seen.reason.code in ("Blocked", "Error") and odd[-1] is _last_answered(turn):
        what = f"observer {odd[-1].opened.hook} answered {odd[-1].answered_with}"
        yield broken(f"{what}, and the turn ended as {seen.reason.code}")


def _may_end_otherwise(state: ObservedState, turn: ObservedTurn) -> bool:
    """Whether a call, people or an assertion may have ended the turn, whatever the hooks answered."""
    calls = any(
        call.is_malformed or call.doubled or call.answered_with == "raise" for call in turn.every_call()
    )
    failed = any(execution.verdict in ("fail", "fault") for execution in turn.executions.values())
    requests = (request for path in turn.passes for request in path.requests)
    return calls or failed or any(people_may_stop_others(state, request) for request in requests)


def _last_answered(turn: ObservedTurn) -> ObservedGate | None:
    answered = [gate for gate in turn.gates if gate.answer is not None]
    return max(answered, key=lambda gate: gate.released_at, default=None)


def broken_hooks(state: ObservedState, gates: Iterable[ObservedGate]) -> list[ObservedGate]:
    """The guards and transforms that certainly broke."""
    asked = (gate for gate in gates if gate.on == "hook" and gate.opened.role != "observer")
    return [gate for gate in asked if gate.answered_with == "fault" and certain(state, gate)]


def _counts_as(state: ObservedState, gate: ObservedGate) -> str | None:
    """What a broken hook counts as: a denial in a slot without guards is continue."""
    policy = state.policy("hook.fault")
    has_guards = f"{gate.opened.at}.{gate.opened.point}" in WITH_GUARDS
    return "continue" if policy == "deny" and not has_guards else policy


@check("HOOK-9", at=("model", "tool"), rank=Rank.STATUS)
def a_broken_hook_lets_go_on_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A body runs after a hook that broke only where that counts as continue."""
    if seen.on == "tool":
        call = entering(state, seen)
        gates = call.hook_gates("pre") if call is not None else []
    else:
        path = state.path_of(seen)
        gates = [*path.hooks, *_request_hooks(path.request)] if path is not None else []
    for gate in broken_hooks(state, gates):
        counts = _counts_as(state, gate)
        if counts is not None:
            what = f"hook {gate.opened.hook} broke at {gate.opened.at}, which counts as {counts}"
            why = f"{what}, yet {_deed(seen)}"
            yield held_or(counts == "continue", why)


@check("HOOK-9", at=("model",), rank=Rank.STATUS)
def a_broken_hook_denies_its_call_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose hook broke is denied only where that counts as a denial."""
    path, policy = state.path_of(seen), state.policy("hook.fault")
    request = path.sent[-1] if path is not None and path.sent else None
    if request is None or policy is None or request.path.turn.cancelled_at:
        return
    stopped = people_may_stop_others(state, request)
    for call in request.calls:
        gates = broken_hooks(state, call.hook_gates("pre"))
        asked = prompt_verdict(state, call)
        if not gates or not call.is_usable or call.guard_denial is not None or asked in ("deny", "unclear"):
            continue
        what = f"hook {gates[0].opened.hook} broke for {named(call)}, which counts as {policy}"
        if policy == "deny":
            yield held_or(not call.entries, f"{what}, yet the call ran")
        elif policy == "end_run":
            yield broken(f"{what}, yet the model is asked again")
        elif passes_unasked(state, call) and not stopped:
            yield held_or(bool(call.entries), f"{what}, yet the call did not run")


def _request_hooks(request: ObservedRequest | None) -> list[ObservedGate]:
    return request.hooks if request is not None else []


def _is_denied_next_to_it(turn: ObservedTurn, gate: ObservedGate) -> bool:
    """Whether a guard that was asked together with a broken hook denied the same thing."""
    at, asked = gate.opened, [one for one in turn.gates if one.on == "hook" and one is not gate]
    alike = [one for one in asked if (one.opened.at, one.opened.call) == (at.at, at.call)]
    return any(one.answered_with == "deny" and one.window == gate.window for one in alike)


@check("HOOK-9", rank=Rank.STATUS)
def a_broken_hook_ends_as_declared(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A hook that breaks ends the turn in Error only where that is declared, and then always."""
    turn = state.turn_of(seen)
    gates = broken_hooks(state, turn.gates) if turn is not None else []
    gates = [gate for gate in gates if turn is None or not _is_denied_next_to_it(turn, gate)]
    others = [gate for gate in turn.faults() if gate not in gates] if turn is not None else []
    if (
        turn is None
        or not gates
        or others
        or turn.cancelled_at
        or turn.stage_denials()
        or turn.kind == "group"
    ):
        return
    counts = {_counts_as(state, gate) for gate in gates}
    if None in counts or len(counts) > 1 or seen.reason.is_bound:
        return
    what, code = f"hook {gates[-1].opened.hook} broke", seen.reason.code
    if counts == {"end_run"}:
        yield held_or(code == "Error", f"{what}, which ends the turn in Error, yet it ended as {code}")
    elif gates[-1] is _last_answered(turn) and not _may_end_otherwise(state, turn):
        wrong = code == "Error" or (code == "Blocked" and counts == {"continue"})
        yield held_or(not wrong, f"{what}, which counts as {counts.pop()}, yet the turn ended as {code}")
