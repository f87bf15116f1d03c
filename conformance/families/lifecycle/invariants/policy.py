"""What a runtime has declared of itself: it takes the way that its policies name, and no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runlock.conformance.families.lifecycle.invariants.round import is_intercepting
from runlock.conformance.families.lifecycle.invariants.segment_queries import is_cut_short
from runlock.conformance.families.lifecycle.messages import CallMoved, GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT
from runlock.conformance.families.lifecycle.state.limits import left_by
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run
from runlock.conformance.family.invariant import (
    HELD,
    CheckResult,
    CheckResults,
    broken,
    check,
    held_or,
)
from runlock.conformance.family.rank import Rank


def _first_entry(state: ObservedState, seen: GateOpened) -> tuple[Run, ObservedCall] | None:
    run, call = state.run_of(seen), state.call_of(seen)
    new = (
        run is not None and call is not None and seen.on == "tool" and not call.entries and not call.approvals
    )
    return (run, call) if new and run is not None and call is not None and not call.is_unclear else None


@check("ROUND-4", at=("tool",), rank=Rank.LOST)
def a_sequential_round_runs_one_at_a_time(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A sequential executor runs the calls of a round one after the other."""
    found = _first_entry(state, seen)
    if found is None or state.policy("round.executor") != "sequential":
        return
    run, call = found
    left = [gate.call for gate in left_by(state, seen)]
    others = (c for c in run.calls.values() if c is not call and c not in left)
    busy = [c.id for c in others if c.executing and not c.approvals]
    yield (
        HELD
        if not busy
        else broken(f"call {busy[0]} is executing, yet call {call.id} runs concurrently with it")
    )


@check("ROUND-5", rank=Rank.LOST, requires="calls", excuses=(CANCEL, FAULT, CRASH))
def a_parallel_round_runs_all_at_once(state: ObservedState) -> CheckResults:
    """A parallel executor runs all calls of a round that are allowed at the same time."""
    run = state.run
    if run is None or state.policy("round.executor") != "parallel":
        return
    if any(gate.on != "tool" for gate in state.gates_of(run)):
        return
    executing = [c for c in run.calls.values() if c.executing and not c.decisions and c.step == run.steps]
    if not executing or any(call.is_unclear for call in run.calls.values()):
        return
    for call in run.calls.values():
        free = call.tool is not None and call.tool.permission == "allow" and call.step == run.steps
        if free:
            yield (
                HELD
                if call.entries
                else broken(f"call {executing[0].id} is executing, yet call {call.id} has not begun")
            )


@check("DECIDE-9", at=("tool",), rank=Rank.LOST)
def decisions_keep_to_their_window(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where decisions wait for the round, no decided call runs while a call of the round still executes."""
    run, call = state.run_of(seen), state.call_of(seen)
    if run is None or call is None or not call.approvals or call.is_unclear:
        return
    if not call.suspensions:  # it was decided before anything held it, and nothing did
        return
    if state.policy("decision.window") not in ("after_round", "waiting", "between_segments"):
        return
    busy = [c.id for c in run.calls.values() if c.executing and not c.decisions and c is not call]
    yield (
        HELD
        if not busy
        else broken(f"call {busy[0]} is still executing, yet call {call.id} runs on its decision already")
    )


@check("DECIDE-9", at=("Resuming",), rank=Rank.LOST)
def decided_calls_keep_to_their_window(state: ObservedState, seen: CallMoved) -> CheckResults:
    """Where decisions wait for the round, no decided call is resuming while a call of it executes."""
    run, call = state.run_of(seen), state.call_of(seen)
    waits = state.policy("decision.window") in ("after_round", "waiting", "between_segments")
    if run is None or call is None or call.is_unclear or not waits:
        return
    if (call.claimed, seen.to) != ("Suspended", "Resuming"):
        return
    busy = [c.id for c in run.calls.values() if c.executing and not c.decisions and c is not call]
    why = f"call {busy[0] if busy else ''} is still executing, yet call {call.id} is Resuming already"
    yield held_or(not busy, why)


@check("DECIDE-10", rank=Rank.LOST, requires="a decision", excuses=(CANCEL,))
def decisions_act_at_once(state: ObservedState) -> CheckResults:
    """Where decisions act at once, a waiting call that was decided has moved by the next quiescent point."""
    run = state.run
    if run is None or state.policy("decision.window") != "immediate" or run.is_done:
        return
    storing = state.is_committing(run) or state.policy("replay.commit") == "yes"
    if storing or is_intercepting(state, run):
        return
    for call in run.calls.values():
        for decided in call.decisions if not may_await_others(state, run, call) else ():
            if decided.answers is call and not (decided.turned_down or decided.unsure or call.is_unclear):
                yield _acted(call, decided)


def may_await_others(state: ObservedState, run: Run, call: ObservedCall) -> bool:
    """Whether a decision for this call may have to wait until other calls are decided too."""
    policy = state.policy("resume")
    if policy is not None:
        return bool(policy != "partial")
    others = (one for one in run.calls.values() if one is not call)
    return any(one.claimed in ("Suspended", None) and not one.is_final for one in others)


def _acted(call: ObservedCall, decided: Decided) -> CheckResult:
    idle = call.claimed == "Suspended" and call.suspensions == decided.in_suspension
    still = idle and len(call.entries) == decided.entries_before
    why = f"decision {decided.id} acts at once, yet call {call.id} is still Suspended"
    return broken(why) if still else HELD


@check("DECIDE-11", rank=Rank.LOST, requires="a decision", excuses=(CANCEL, FAULT, CRASH))
def early_decisions_are_treated_as_declared(state: ObservedState) -> CheckResults:
    """A decision before its call is suspended is kept, refused or ignored, as decision.early says."""
    run, policy = state.run, state.policy("decision.early")
    if run is None or policy not in ("buffer", "refuse") or not state.alone:
        return
    if state.newest[0][0] != "decide" or state.observes("call.status") is False:
        return
    sent = [d for call in run.calls.values() for d in call.decisions if d.at == state.stimuli]
    if len(sent) != 1 or len(state.newest[0][1]["decisions"]) != 1 or sent[0].stale or sent[0].repeats:
        return
    call = run.calls[sent[0].call]
    early = sent[0].answers is None and call.claimed in ("New", "Running") and len(call.decisions) == 1
    early = early and not call.is_unclear
    if early and sent[0].suspension is None:
        wanted, was = ("kept" if policy == "buffer" else "refused"), _came_to(sent[0])
        due = f"an early decision is to be {wanted}, yet decision {sent[0].id} for call {call.id}"
        yield held_or(was == wanted, f"{due}, which is {call.claimed}, was {was}")


def _came_to(decided: Decided) -> str:
    if decided.disposition == "ignored":
        return "ignored"
    return "refused" if decided.turned_down else "kept"


def _takes_while_at_work(state: ObservedState) -> bool:
    """Whether a run takes a good decision though it does not wait as a whole."""
    taken = {"decision.window": "immediate", "decision.early": "buffer"}
    return any(state.policy(key) == value for key, value in taken.items())


@check("DECIDE-12", rank=Rank.LOST, requires="a decision")
def batches_are_taken_as_declared(state: ObservedState) -> CheckResults:
    """Of a batch with a bad decision the good ones are applied, or none is, as decision.batch says."""
    run, policy = state.run, state.policy("decision.batch")
    if run is None or policy is None or not state.alone or state.newest[0][0] != "decide":
        return
    if is_cut_short(state, run):
        return  # its calls may be over, with nothing but the last commit to come
    raws = state.newest[0][1]["decisions"]
    good = [
        d for call in run.calls.values() for d in call.decisions
        if d.at == state.stimuli and d.answers is not None and len(call.decisions) == 1
    ]  # fmt: skip
    bad = [raw for raw in raws if _is_bad(state, run, raw)]
    if not good or not bad or len(good) + len(bad) != len(raws):
        return
    named = {raw["call"] for raw in raws}
    left = any(call.waits and call.id not in named for call in run.calls.values())
    if left and state.policy("resume") == "all_or_nothing":
        return
    is_busy = bool(state.gates_of(run)) and not _takes_while_at_work(state)
    for decided in good:
        if decided.turned_down and is_busy:
            continue  # it would have been so without the bad one
        right = decided.turned_down != (policy == "each")
        was = "refused" if decided.turned_down else "taken"
        what = "a wait that is over" if bad[0]["call"] in run.calls else "an unknown call"
        said = f"decision {decided.id} is good and came with decision {bad[0]['id']} for {what}"
        yield HELD if right else broken(f"{said}: it was {was}, yet batches are {_batches(policy)}")


def _is_bad(state: ObservedState, run: Run, raw: Mapping[str, Any]) -> bool:
    """Whether a decision that has just come cannot be taken: its call is unknown, or its wait over."""
    call = run.calls.get(raw["call"])
    if call is None:
        return raw["call"] not in _former(run)
    return any(
        d.id == raw["id"] and d.at == state.stimuli and d.stale and not d.repeats for d in call.decisions
    )


def _former(run: Run) -> set[str]:
    return {call.id for call in run.former_calls}


def _batches(policy: str) -> str:
    return "taken one by one" if policy == "each" else "taken whole or not at all"


@check("DECIDE-13", at=("Cancelled",), rank=Rank.LOST, excuses=(CANCEL, FAULT, CRASH))
def a_rejection_takes_the_declared_way(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A rejected call is Cancelled directly, or by way of Resuming, as decision.cancel_path says."""
    run, call = state.run_of(seen), state.call_of(seen)
    way = state.policy("decision.cancel_path")
    if run is None or call is None or way is None or call.rejection is None:
        return
    if (
        seen.to == call.claimed
        or call.suspensions != call.rejection.in_suspension
        or run.hooks
        or is_cut_short(state, run)
    ):
        return
    right = "Suspended" if way == "direct" else "Resuming"
    yield held_or(
        call.claimed == right,
        f"a rejection goes {'straight to Cancelled' if way == 'direct' else 'by way of Resuming'}, "
        f"yet call {call.id} came to it from {call.claimed}",
    )
