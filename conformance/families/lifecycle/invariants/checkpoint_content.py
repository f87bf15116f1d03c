"""STORE: what a checkpoint holds is what has happened, and all that a recovery needs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from runlock.conformance.families.lifecycle.messages import (
    FINAL_CALL_STATUSES,
    Checkpointed,
    GateOpened,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import Feature, ObservedState
from runlock.conformance.families.lifecycle.state.records import Call, Decided, Run
from runlock.conformance.family.invariant import HELD, Invariant, Judgements

TakenDown = Checkpointed | GateOpened
Said = tuple[Any, Any, Any]


def _state(state: ObservedState, seen: TakenDown) -> Mapping[str, Any] | None:
    """The state that is being stored, where it is taken down: a store that is held has it earlier."""
    held = "store.put" in state.scenario.hold
    if isinstance(seen, GateOpened) != held or (isinstance(seen, GateOpened) and seen.on != "store.put"):
        return None
    return seen.state


def _part(state: ObservedState, seen: TakenDown, key: str) -> Mapping[str, Any] | None:
    part = (_state(state, seen) or {}).get(key)
    return part if isinstance(part, dict) else None


def a_checkpoint_holds_the_status_of_its_run(state: ObservedState, seen: TakenDown) -> Judgements:
    """A checkpoint holds the status of its run, and the reason once it is over or suspended."""
    if not _state(state, seen):
        return
    stored = _part(state, seen, "run") or {}
    status, reason = stored.get("status"), stored.get("reason")
    if status is None:
        yield "the checkpoint does not say which status the run has"
    elif status in ("Waiting", "Done"):
        said = isinstance(reason, dict) and reason.get("code")
        yield HELD if said else f"the checkpoint says that the run is {status}, and not for which reason"
    else:
        yield HELD


def the_stored_end_is_the_announced_one(state: ObservedState, seen: SegmentEnded) -> Judgements:
    """The newest checkpoint of a segment that is over holds the reason that its end is announced with."""
    run, code = state.run_of(seen), seen.reason.code
    newest = state.durable(run) if run is not None else None
    if run is None or newest is None or newest.run != run.id:
        return
    stored = (newest.state or {}).get("run")
    reason = stored.get("reason") if isinstance(stored, dict) else None
    if isinstance(stored, dict) and isinstance(reason, dict) and stored.get("status") == seen.leaves:
        why = f"the checkpoint says {reason.get('code')}, yet the segment ended as {code}"
        yield HELD if reason.get("code") == code else why


def a_checkpoint_holds_the_number_of_steps(state: ObservedState, seen: TakenDown) -> Judgements:
    """A checkpoint holds the number of steps that its run has taken, those before a crash among them."""
    run, stored = state.run_of(seen), _part(state, seen, "run")
    if run is None or stored is None or run.cancel_at or run.faulted:
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
        else f"the run has taken {steps} steps, yet the checkpoint says {json.dumps(stored.get('step'))}"
    )


def a_checkpoint_holds_what_a_suspended_call_is(state: ObservedState, seen: TakenDown) -> Judgements:
    """A checkpoint holds for each suspended call its tool, its arguments and what a decision will mean."""
    run, calls = state.run_of(seen), _part(state, seen, "calls")
    for call_id, stored in (calls or {}).items():
        call = run.calls.get(call_id) if run is not None else None
        if call is None or call.doubled or not isinstance(stored, dict) or call.tool is None:
            continue
        if stored.get("status") == "Suspended":
            wrong = _what_differs(call, stored)
            yield HELD if not wrong else f"call {call.id} is Suspended, yet the checkpoint {wrong}"


def _what_differs(call: Call, stored: Mapping[str, Any]) -> str:
    """What the checkpoint leaves out of a call, or says otherwise."""
    mode = call.tool.resume_mode if call.tool is not None else None
    for key, right in (("name", call.name), ("args", dict(call.args)), ("resume_mode", mode)):
        if key not in stored:
            return f"does not hold its {key}"
        given = [decided.payload for decided in call.approvals] if mode == "pass_to_tool" else []
        if key == "args" and stored[key] in given:
            continue  # what was decided in an earlier wait has taken their place
        if json.dumps(stored[key], sort_keys=True) != json.dumps(right, sort_keys=True):
            return f"says {key} {json.dumps(stored[key])}, not {json.dumps(right)}"
    counted = stored.get("suspension")
    if counted is not None and call.claimed == "Suspended" and counted != call.suspensions:
        return f"says that this is its suspension {counted}, not {call.suspensions}"
    return ""


def a_checkpoint_holds_what_was_decided(state: ObservedState, seen: TakenDown) -> Judgements:
    """A decision that was taken and has not acted is in the checkpoint."""
    run, calls = state.run_of(seen), _part(state, seen, "calls")
    kept = _part(state, seen, "decisions") or {}
    if run is None or calls is None or run.is_done or run.cancel_at or run.crashes:
        return
    for call in run.calls.values():
        stored, taken = calls.get(call.id), _waiting_to_act(state, call)
        rests = isinstance(stored, dict) and stored.get("status") == "Suspended"
        written = kept.get(call.id)
        named = written.get("id") if isinstance(written, dict) else None
        if rests and taken is None and any(named == decided.id for decided in call.decisions):
            yield HELD  # whether it was taken is said later, or not at all
        if taken is None or not rests or call.doubled:
            continue
        right = named == taken.id
        if right or taken.disposition != "buffered":  # what is buffered may still be ignored
            yield (
                HELD
                if right
                else f"call {call.id} took decision {taken.id}, which has not acted, yet the checkpoint "
                "lacks it"
            )


def a_checkpoint_holds_decisions_as_they_were_sent(state: ObservedState, seen: TakenDown) -> Judgements:
    """What a checkpoint holds of a decision is what was decided, be the payload false, 0 or null."""
    run = state.run_of(seen)
    for call_id, kept in (_part(state, seen, "decisions") or {}).items():
        call = run.calls.get(call_id) if run is not None else None
        named = kept.get("id") if isinstance(kept, dict) else None
        sent = [one for one in call.decisions if one.id == named] if call is not None else []
        if sent:
            whys = [_what_was_changed(one, kept) for one in sent]
            right = not all(whys)
            yield HELD if right else f"decision {named} for call {call_id} {whys[-1]}"


def _what_was_changed(sent: Decided, kept: Mapping[str, Any]) -> str:
    """What a checkpoint says of a decision that was not sent so."""
    if kept.get("action") not in (None, sent.action):
        return f"was a {sent.action}, yet the checkpoint holds it as {kept['action']}"
    if sent.action == "resume" and "payload" in kept:
        given, right = (json.dumps(payload, sort_keys=True) for payload in (kept["payload"], sent.payload))
        if given != right:
            return f"has payload {right}, yet the checkpoint holds {given}"
    return ""


def _waiting_to_act(state: ObservedState, call: Call) -> Decided | None:
    """The decision that the call certainly took in the suspension that is open."""
    for decided in reversed(call.decisions):
        told = decided.disposition in ("accepted", "buffered")
        settled = not state.observes("decision") and decided.at <= state.last_settled
        open_still = decided.in_suspension == call.suspensions and call.claimed == "Suspended"
        if (told or settled) and decided.answers is call and open_still and not decided.turned_down:
            return decided
    return None


def a_checkpoint_holds_nothing_cleared(state: ObservedState, seen: TakenDown) -> Judgements:
    """A decision that a replay which is over has cleared is in no checkpoint."""
    yield from _cleared(state, seen, waits_again=False)


def a_checkpoint_holds_nothing_cleared_for_a_new_wait(state: ObservedState, seen: TakenDown) -> Judgements:
    """A decision that was cleared since its call waits anew is in no checkpoint."""
    yield from _cleared(state, seen, waits_again=True)


def _cleared(state: ObservedState, seen: TakenDown, *, waits_again: bool) -> Judgements:
    """Judge whether a checkpoint holds what was cleared, once its call waited again or was over."""
    run, kept = state.run_of(seen), _part(state, seen, "decisions")
    if run is None or kept is None or run.crashes:
        return
    stations = [station.entered for station in run.stations]
    for before, one in pairwise(stations):
        if one.state != "ClearResolved" or (before.state == "SetNextSuspended") != waits_again:
            continue
        written = kept.get(one.call or "")
        stays = isinstance(written, dict) and written.get("id") == one.decision
        if not (stays and _was_sent_again(run, one.decision)):
            why = f"decision {one.decision} for call {one.call} was cleared, yet the checkpoint holds it"
            yield why if stays else HELD


def _was_sent_again(run: Run, decision: str | None) -> bool:
    return sum(one.id == decision for call in run.every_call for one in call.decisions) > 1


def a_checkpoint_holds_the_thread(state: ObservedState, seen: TakenDown) -> Judgements:
    """A checkpoint holds the messages of the thread up to then."""
    run, durable = state.run_of(seen), _state(state, seen)
    if run is None or not durable or state.life > 1:
        return
    messages = durable.get("messages")
    stored = [m for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
    kept: Counter[Said] = Counter((m.get("role"), m.get("call"), m.get("text")) for m in stored)
    joined: Counter[Said] = Counter((m.role, m.call, m.text) for m in state.messages)
    for message in _standing(state):
        key = (message.role, message.call, message.text)
        why = _misses(kept[key], joined[key])
        yield HELD if not why else f"{_words(*key)}{why}"
    for (role, call, text), times in kept.items():
        if times > joined[role, call, text] and role in ("user", "assistant", "tool"):
            said = _words(role, call, text)
            yield f"the checkpoint holds that {said}, which has not joined the thread"


def _words(role: str | None, call: str | None, text: Any) -> str:
    """What was said by whom; the result of a call need not come from its tool."""
    speaker = f"the result of call {call}" if role == "tool" else f"the {role}"
    return f"{speaker} said {str(text)[:40]!r}"


def _misses(kept: int, joined: int) -> str:
    """What is wrong with a message that joined the thread so often, and is kept so often."""
    if not kept:
        return ", yet the checkpoint does not hold that message"
    if kept < joined:
        return f", which joined the thread {joined} times, yet the checkpoint holds it {kept} times"
    return ""


def _standing(state: ObservedState) -> list[Any]:
    """The messages that were shown to join the thread, less the placeholders that may be replaced."""
    return [m for m in state.messages if m.status != "pending" and m.role != "system"]


def a_checkpoint_holds_every_live_call(state: ObservedState, seen: TakenDown) -> Judgements:
    """A checkpoint holds every call of the run that is not over."""
    run, calls = state.run_of(seen), _part(state, seen, "calls")
    if run is None or calls is None:
        return
    for call in run.calls.values():
        known_live = call.claimed is not None and call.claimed not in FINAL_CALL_STATUSES
        # at the end of a step, sources ask for the calls that wait and leave open what was held back
        unnamed = state.policy("checkpoint.at") != "triggers" and call.claimed == "New"
        if known_live and not (call.doubled or unnamed):
            stored = call.id in calls
            yield HELD if stored else f"call {call.id} is {call.claimed}, yet the checkpoint does not hold it"


def a_checkpoint_says_what_happened(state: ObservedState, seen: TakenDown) -> Judgements:
    """The status that a checkpoint gives a call follows from what was seen of that call."""
    run, calls = state.run_of(seen), _part(state, seen, "calls")
    if run is None or calls is None or run.cancel_at or run.crashes:
        return
    for call_id, stored in calls.items():
        call = run.calls.get(call_id)
        if call is None or call.doubled or not isinstance(stored, dict):
            continue
        status = str(stored.get("status"))
        why = _contradiction(call, status)
        yield HELD if not why else f"the checkpoint says that call {call_id} {_is(status)}, yet {why}"


def _is(status: str) -> str:
    return status if status in ("Succeeded", "Failed") else f"is {status}"


def _contradiction(call: Call, status: str) -> str:
    answer = call.last_answer
    if status in FINAL_CALL_STATUSES and call.executing:
        return "its body is executing"
    if status == "Succeeded" and answer is not None and answer["kind"] == "error":
        return "its tool answered with an error"
    if status == "Failed" and answer is not None and answer["kind"] in ("ok", "warning"):
        return f"its tool answered {answer['kind']}"
    if status == "Suspended" and call.result is not None:
        return f"its tool answered {call.result['kind']}"
    return ""


CHECKS: tuple[tuple[str, Callable[..., Judgements], Feature | None], ...] = (
    ("STORE-9", a_checkpoint_holds_every_live_call, "calls"),
    ("STORE-8", a_checkpoint_says_what_happened, "calls"),
    ("STORE-10", a_checkpoint_holds_the_status_of_its_run, None),
    ("STORE-11", a_checkpoint_holds_the_number_of_steps, None),
    ("STORE-12", a_checkpoint_holds_what_a_suspended_call_is, "calls"),
    ("STORE-13", a_checkpoint_holds_what_was_decided, "a decision"),
    ("STORE-13", a_checkpoint_holds_decisions_as_they_were_sent, "a decision"),
    ("STORE-17", a_checkpoint_holds_the_thread, None),
    ("RESUME-10", a_checkpoint_holds_nothing_cleared, None),
    ("RESUME-12", a_checkpoint_holds_nothing_cleared_for_a_new_wait, None),
)

INVARIANTS = (
    Invariant("STORE-10", the_stored_end_is_the_announced_one, SegmentEnded),
    *(
        Invariant(clause, check, kind, at=at, requires=requires)
        for clause, check, requires in CHECKS
        for kind, at in ((Checkpointed, ()), (GateOpened, ("store.put",)))
    ),
)
