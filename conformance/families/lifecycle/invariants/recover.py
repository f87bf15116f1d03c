"""RECOVER: from a checkpoint a run goes on where that left it: what waits, waits, and nothing is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runlock.conformance.families.lifecycle.messages import CallMoved, DecisionTaken, GateOpened, RunMoved
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import WORKING_GATES, ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank


def _stored(state: ObservedState) -> Mapping[str, Any] | None:
    """The checkpoint, while the answer to the recovery that took it is coming in."""
    recovering = len(state.newest) == 1 and state.newest[0][0] == "recover"
    return state.recovered_from if recovering and isinstance(state.recovered_from, dict) else None


def _part(stored: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = stored.get(key)
    return part if isinstance(part, dict) else {}


@check("RECOVER-1", rank=Rank.LOST, requires="a crash")
def a_run_that_waits_in_the_checkpoint_waits(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run that waits in the checkpoint, with nothing decided, starts nothing when it is recovered."""
    stored = _stored(state)
    if stored is None or _part(stored, "run").get("status") != "Waiting" or _part(stored, "decisions"):
        return
    what = f"call {seen.call} opened a {seen.on} gate" if seen.call else f"a {seen.on} gate opened"
    started = seen.on in WORKING_GATES
    yield held_or(not started, f"the run waits in the checkpoint and nothing is decided, yet {what}")


@counts("RECOVER-1", requires="a crash")
def a_run_that_waits_in_the_checkpoint_has_started_nothing(state: ObservedState) -> CheckResults:
    """Counts the runs that were recovered from a wait and wait at no gate."""
    run, stored = state.run, _stored(state)
    if run is None or stored is None or _part(stored, "decisions") or run.is_done:
        return
    if _part(stored, "run").get("status") == "Waiting" and not state.gates_of(run):
        yield HELD


@check("RECOVER-1", rank=Rank.LOST, requires="a crash")
def a_recovered_status_is_the_stored_one(state: ObservedState, seen: RunMoved) -> CheckResults:
    """The status from which a recovered run starts is the one in the checkpoint."""
    run, stored = state.run_of(seen), state.recovered_from
    if run is None or not run.crashes or run.claimed is not None or not isinstance(stored, dict):
        return
    status, starts = _part(stored, "run").get("status"), seen.origin or seen.to
    if status is not None:  # what a client was told says nothing of a run that has gone on since
        yield held_or(
            starts == status, f"the checkpoint says that the run is {status}, yet it starts as {starts}"
        )


@check("RECOVER-2", rank=Rank.LOST, requires="a crash")
def a_call_that_waits_in_the_checkpoint_waits(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that waits in the checkpoint, or is final in it, starts as just that."""
    run, call, stored = state.run_of(seen), state.call_of(seen), state.recovered_from
    if run is None or call is None or not run.crashes or not isinstance(stored, dict):
        return
    if asked_since_the_crash(state, run):
        return  # it may be another call of that id
    found = _part(stored, "calls").get(seen.call)
    kept = found if isinstance(found, dict) else {}
    status, starts = kept.get("status"), seen.origin or seen.to
    if call.claimed is None and status in ("Suspended", "Succeeded", "Failed", "Cancelled"):
        why = _begins_otherwise(kept, seen) if starts == status else f"it starts as {starts}"
        yield held_or(not why, f"the checkpoint says that call {seen.call} is {status}, yet {why}")


def _begins_otherwise(kept: Mapping[str, Any], seen: CallMoved) -> str:
    """In which suspension a call says that it waits still, if that is not the one in its checkpoint."""
    told = (kept.get("suspension"), seen.suspension)
    waits_still = seen.origin is None and seen.to == "Suspended" and None not in told
    return f"it starts in suspension {told[1]}, not {told[0]}" if waits_still and told[0] != told[1] else ""


@check("DECIDE-4", rank=Rank.LOST, requires="a crash", excuses=(CANCEL, INPUT))
def a_stored_decision_acts(state: ObservedState) -> CheckResults:
    """A decision in the checkpoint, for a call that waits in it, acts in the life that begins there."""
    run, stored = state.run, state.recovered_from
    if run is None or not run.crashes or not isinstance(stored, dict):
        return
    if run.is_done or state.gates_of(run) or state.handshake.control.store != "kit":
        return
    calls, kept = _part(stored, "calls"), _part(stored, "decisions")
    waiting = [name for name, call in calls.items() if _part(calls, name).get("status") == "Suspended"]
    decided = [name for name in waiting if name in kept]
    if state.policy("resume") != "partial" and decided != waiting:
        return
    for name in decided:
        call, named = run.calls.get(name), _part(kept, name)
        if call is None or call.is_unclear or any(one.turned_down for one in call.decisions):
            continue
        if call.has_moved_since_the_crash:
            yield HELD
        elif state.observes("call.status"):
            held = f"the checkpoint holds decision {named.get('id')} for call {name}"
            yield broken(f"{held}, which waits in it, yet the call waits still")


@check("RECOVER-3", at=("model",), rank=Rank.HISTORY, requires="a crash")
def the_thread_survives(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The first inference after a recovery sees the thread of the checkpoint."""
    run, stored = state.run_of(seen), state.recovered_from
    if run is None or seen.messages is None or not isinstance(stored, dict):
        return
    kept = stored.get("messages")
    if not isinstance(kept, list) or state.life == 1 or asked_since_the_crash(state, run):
        return
    shown = [message.text for message in seen.messages if message.role == "user"]
    lost = [
        m.get("text")
        for m in kept
        if isinstance(m, dict) and m.get("role") == "user" and m.get("text") not in shown
    ]
    yield (
        HELD
        if not lost
        else broken(f"the checkpoint holds the message {str(lost[0])!r}, yet the model was not shown it")
    )


def asked_since_the_crash(state: ObservedState, run: Run) -> bool:
    return any(g.on == "model" and g.life == state.life and g.run == run.id for g in state.gates.values())


@check("RECOVER-4", rank=Rank.LOST, requires="a crash")
def a_stored_call_can_still_be_decided(state: ObservedState, seen: DecisionTaken) -> CheckResults:
    """A call that waits in the checkpoint can be decided after the recovery."""
    run, stored, raw = state.run, state.recovered_from, _plain_decision(state, seen)
    if run is None or not isinstance(stored, dict) or raw is None:
        return
    call, kept = run.calls.get(raw["call"]), _part(stored, "calls").get(raw["call"])
    if call is None or not isinstance(kept, dict) or kept.get("status") != "Suspended":
        return
    if call.id in _part(stored, "decisions") or not _still_waits(state, run, call):
        return
    if state.policy("resume") in ("all_or_nothing", None) and len(_part(stored, "calls")) > 1:
        return  # where it is open, a part may be what it turns down
    refused = seen.disposition in ("refused", "ignored")
    yield held_or(
        not refused, f"call {call.id} waits in the checkpoint, yet a decision for it was {seen.disposition}"
    )


def _plain_decision(state: ObservedState, seen: DecisionTaken) -> Mapping[str, Any] | None:
    """The decision that came alone to a runtime at rest, is new to it, and edits and numbers nothing."""
    method, params = state.newest[0]
    if method != "decide" or not (state.alone and state.settled_before):
        return None
    if len(params["decisions"]) != 1 or seen.decision in state.forgotten:
        return None
    raw: Mapping[str, Any] = params["decisions"][0]
    is_plain = raw.get("suspension") is None and not raw.get("edit")
    return raw if raw["id"] == seen.decision and is_plain else None


def _still_waits(state: ObservedState, run: Run, call: ObservedCall) -> bool:
    """Whether nothing since the crash can have taken the call out of its wait: no other decision either."""
    goes_on = not (run.disturbed_by(CANCEL, FAULT, INPUT) or run.is_done)
    anew = [d for d in call.decisions if d.id not in state.forgotten or state.handed_over[d.id] > 1]
    return call.claimed in (None, "Suspended") and goes_on and len(anew) <= 1


@check("RECOVER-5", at=("model",), rank=Rank.LOST, requires="a crash")
def a_crash_costs_no_more_than_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A crash costs no more than durability says: what was whole before it, the model is shown after it."""
    run, unit = state.run_of(seen), state.policy("durability")
    if run is None or seen.messages is None or run.crashes != 1:
        return
    for call in run.paid_for.get(unit or "", ()) if not asked_since_the_crash(state, run) else ():
        before = [gate.outcome for gate in call.entries if gate.life < state.life and gate.outcome]
        said = before[-1].get("content") if before else None
        if isinstance(said, str) and said:
            shown = any(said in m.text for m in seen.messages if m.role == "tool" and m.call == call.id)
            why = f"call {call.id} had answered {said!r}, and its {unit} was over before the crash"
            yield held_or(shown, f"{why}, yet the model is not shown that any more")
