"""STORE: what a checkpoint holds is what has happened, and all that a recovery needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from runlock.conformance.families.lifecycle.messages import (
    Checkpointed,
    GateOpened,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank

TakenDown = Checkpointed | GateOpened

Registered = TypeVar("Registered", bound=Callable[..., CheckResults])


def on_storing(clause: str, *, requires: str | None = None) -> Callable[[Registered], Registered]:
    """Register a check of what is being stored: at its gate where the store is held, else when durable."""

    def register(function: Registered) -> Registered:
        for kind, at in ((GateOpened, ("store.put",)), (Checkpointed, ())):
            check(clause, seeing=(kind,), at=at, rank=Rank.CHECKPOINT, requires=requires)(function)
        return function

    return register


def state_of(state: ObservedState, seen: TakenDown) -> Mapping[str, Any] | None:
    """The state that is being stored, where it is taken down: a store that is held has it earlier."""
    held = "store.put" in state.scenario.hold
    if isinstance(seen, GateOpened) != held or (isinstance(seen, GateOpened) and seen.on != "store.put"):
        return None
    return seen.state


def part_of(state: ObservedState, seen: TakenDown, key: str) -> Mapping[str, Any] | None:
    part = (state_of(state, seen) or {}).get(key)
    return part if isinstance(part, dict) else None


@on_storing("STORE-14", requires="a plugin")
def a_checkpoint_holds_the_persistent_keys(state: ObservedState, seen: TakenDown) -> CheckResults:
    """A checkpoint holds the persistent keys that a plugin set, and no other key."""
    run, kept = state.run_of(seen), state_of(state, seen)
    if run is None or kept is None or not state.scenario.keys or run.crashes:
        return
    set_up = next((gate for gate in reversed(run.hooks) if gate.opened.at == "RunStart"), None)
    data = (set_up.outcome or {}).get("data") if set_up is not None else None
    left, held = (data or {}).get("state") or {}, kept.get("keys") or {}
    for key in state.scenario.keys:
        if key.name in left and key.persistent:
            right = held.get(key.name) == left[key.name]
            why = f"a plugin set the persistent key {key.name}, yet a checkpoint does not hold what it set"
            yield held_or(right, why)
        elif key.name in left:
            why = f"the key {key.name} is not persistent, yet a checkpoint holds it"
            yield broken(why) if key.name in held else HELD


@on_storing("STORE-10")
def a_checkpoint_holds_the_status_of_its_run(state: ObservedState, seen: TakenDown) -> CheckResults:
    """A checkpoint holds the status of its run, and the reason once it is over or suspended."""
    if not state_of(state, seen):
        return
    stored = part_of(state, seen, "run") or {}
    status, reason = stored.get("status"), stored.get("reason")
    if status is None:
        yield broken("the checkpoint does not say which status the run has")
    elif status in ("Waiting", "Done"):
        said = isinstance(reason, dict) and reason.get("code")
        yield held_or(said, f"the checkpoint says that the run is {status}, and not for which reason")
    else:
        yield HELD


@check("STORE-10", rank=Rank.CHECKPOINT)
def the_stored_end_is_the_announced_one(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """The newest checkpoint of a segment that is over holds the reason that its end is announced with."""
    run, code = state.run_of(seen), seen.reason.code
    newest = state.durable(run) if run is not None else None
    if run is None or newest is None or newest.run != run.id:
        return
    stored = (newest.state or {}).get("run")
    reason = stored.get("reason") if isinstance(stored, dict) else None
    if isinstance(stored, dict) and isinstance(reason, dict) and stored.get("status") == seen.leaves:
        ended = _named(seen.reason.model_dump())
        why = f"the checkpoint says {_named(reason)}, yet the segment ended as {ended}"
        stop, right = _stop_of(reason), seen.reason.stop
        same_stop = None in (stop, right) or (right is not None and stop == right.code)
        yield held_or(reason.get("code") == code and same_stop, why)


def _stop_of(reason: Mapping[str, Any]) -> str | None:
    """The stop condition that a reason names."""
    stop = reason.get("stop")
    return stop.get("code") if isinstance(stop, dict) else None


def _named(reason: Mapping[str, Any]) -> str:
    stop = _stop_of(reason)
    return f"{reason.get('code')} by {stop}" if stop else str(reason.get("code"))


@on_storing("STORE-11")
def a_checkpoint_holds_the_number_of_steps(state: ObservedState, seen: TakenDown) -> CheckResults:
    """A checkpoint holds the number of steps that its run has taken, those before a crash among them."""
    run, stored = state.run_of(seen), part_of(state, seen, "run")
    if run is None or stored is None or run.disturbed_by(CANCEL, FAULT):
        return
    asked = state.last_model_gate
    under_way = asked is not None and asked.outcome is None
    # begun, and a plugin keeps the model from being asked
    begun = any(one.on == "hook" and one.opened.at == "BeforeInference" for one in state.gates_of(run))
    taken = range(run.steps_at_least - under_way, run.steps_at_most + begun + 1)
    steps = run.steps if not run.crashes else run.steps_at_least
    yield (
        HELD
        if stored.get("step") in taken
        else broken(f"the run is at step {steps}, yet the checkpoint says {json.dumps(stored.get('step'))}")
    )


@on_storing("STORE-13", requires="a decision")
def a_checkpoint_holds_what_was_decided(state: ObservedState, seen: TakenDown) -> CheckResults:
    """A decision that was taken and has not acted is in the checkpoint."""
    run, calls = state.run_of(seen), part_of(state, seen, "calls")
    kept = part_of(state, seen, "decisions") or {}
    if run is None or calls is None or run.is_done or run.disturbed_by(CANCEL, CRASH):
        return
    for call in run.calls.values():
        stored, taken = calls.get(call.id), _waiting_to_act(state, call)
        rests = isinstance(stored, dict) and stored.get("status") == "Suspended"
        written = kept.get(call.id)
        named = written.get("id") if isinstance(written, dict) else None
        if rests and taken is None and any(named == decided.id for decided in call.decisions):
            yield HELD  # whether it was taken is said later, or not at all
        if taken is None or not rests or call.is_unclear:
            continue
        right = named == taken.id
        if right or taken.disposition != "buffered":  # what is buffered may still be ignored
            yield held_or(
                right,
                f"call {call.id} took decision {taken.id}, which has not acted, yet the checkpoint lacks it",
            )


@on_storing("STORE-13", requires="a decision")
def a_checkpoint_holds_decisions_as_they_were_sent(state: ObservedState, seen: TakenDown) -> CheckResults:
    """What a checkpoint holds of a decision is what was decided, be the payload false, 0 or null."""
    run = state.run_of(seen)
    for call_id, kept in (part_of(state, seen, "decisions") or {}).items():
        call = run.calls.get(call_id) if run is not None else None
        named = kept.get("id") if isinstance(kept, dict) else None
        sent = [one for one in call.decisions if one.id == named] if call is not None else []
        if sent:
            whys = [_what_was_changed(one, kept) for one in sent]
            right = not all(whys)
            yield HELD if right else broken(f"decision {named} for call {call_id} {whys[-1]}")


def _what_was_changed(sent: Decided, kept: Mapping[str, Any]) -> str:
    """What a checkpoint says of a decision that was not sent so."""
    if kept.get("action") not in (None, sent.action):
        return f"was a {sent.action}, yet the checkpoint holds it as {kept['action']}"
    if sent.action == "resume" and "payload" in kept:
        given, right = (json.dumps(payload, sort_keys=True) for payload in (kept["payload"], sent.payload))
        if given != right:
            return f"has payload {right}, yet the checkpoint holds {given}"
    if sent.edit and kept.get("edit") != sent.edit:
        kept_as = json.dumps(kept.get("edit"), sort_keys=True)
        return f"has the edit {json.dumps(sent.edit, sort_keys=True)}, yet the checkpoint holds {kept_as}"
    return ""


def _waiting_to_act(state: ObservedState, call: ObservedCall) -> Decided | None:
    """The decision that the call certainly took in the suspension that is open."""
    for decided in reversed(call.decisions):
        told = decided.disposition in ("accepted", "buffered")
        settled = not state.observes("decision") and decided.at <= state.last_settled
        open_still = decided.in_suspension == call.suspensions and call.claimed == "Suspended"
        if (told or settled) and decided.answers is call and open_still and not decided.turned_down:
            return decided
    return None


@on_storing("RESUME-10")
def a_checkpoint_holds_nothing_cleared(state: ObservedState, seen: TakenDown) -> CheckResults:
    """A decision that a replay which is over has cleared is in no checkpoint."""
    yield from _cleared(state, seen, waits_again=False)


@on_storing("RESUME-12")
def a_checkpoint_holds_nothing_cleared_for_a_new_wait(state: ObservedState, seen: TakenDown) -> CheckResults:
    """A decision that was cleared since its call waits anew is in no checkpoint."""
    yield from _cleared(state, seen, waits_again=True)


def _cleared(state: ObservedState, seen: TakenDown, *, waits_again: bool) -> CheckResults:
    """Judge whether a checkpoint holds what was cleared, once its call waited again or was over."""
    run, kept = state.run_of(seen), part_of(state, seen, "decisions")
    if run is None or kept is None or run.disturbed_by(CRASH):
        return
    stations = [station.entered for station in run.stations]
    for at, one in enumerate(stations):
        own = [other for other in stations[:at] if other.decision == one.decision]
        before = own[-1] if own else one
        if one.state != "ClearResolved" or (before.state == "SetNextSuspended") != waits_again:
            continue
        written = kept.get(one.call or "")
        stays = isinstance(written, dict) and written.get("id") == one.decision
        if not (stays and _was_sent_again(run, one.decision)):
            why = f"decision {one.decision} for call {one.call} was cleared, yet the checkpoint holds it"
            yield held_or(not stays, why)


def _was_sent_again(run: Run, decision: str | None) -> bool:
    return sum(one.id == decision for call in run.every_call for one in call.decisions) > 1
