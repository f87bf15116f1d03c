"""GATE: what needs approval does not execute before it, and what was rejected never executes."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import CallMoved, GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank


@check("GATE-1", at=("tool",), rank=Rank.CONSENT)
def a_call_that_asks_waits_for_approval(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose tool asks is executed only on an approval of its own; on a late one it breaks DECIDE-3."""
    call = state.entering(seen)
    if call is None or call.tool is None or call.tool.permission != "ask":
        return
    if _is_approved_too_late(state, call):
        return
    if not any(not d.stale for d in call.approvals):
        stray = f"only {call.approvals[-1].id} approved it, which met no wait" if call.approvals else ""
        why = stray or "nobody approved it"
        yield broken(f"call {call.id} needs approval and {why}, yet it was executed")
    elif not _has_run_on_each_approval(state, call):
        yield HELD


@check("GATE-1", at=("tool",), rank=Rank.TWICE)
def a_call_that_asks_runs_once_for_each_approval(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose tool asks is not executed more often than it was approved."""
    call = state.entering(seen)
    if call is None or call.tool is None or call.tool.permission != "ask":
        return
    approvals = len([d for d in call.approvals if not d.stale])
    if approvals and _has_run_on_each_approval(state, call):
        executed = len([gate for gate in call.executions if gate.life == state.life]) + 1
        yield broken(
            f"call {call.id} was approved {_times(approvals)}, yet it was executed {_times(executed)}"
        )


def _is_approved_too_late(state: ObservedState, call: ObservedCall) -> bool:
    """Whether the person approves it right now, and no wait is there to be approved."""
    newest = call.approvals[-1] if call.approvals else None
    return newest is not None and newest.stale and newest.at == state.stimuli


def _has_run_on_each_approval(state: ObservedState, call: ObservedCall) -> bool:
    entries = [gate for gate in call.executions if gate.life == state.life]
    approvals = [d for d in call.approvals if not d.stale]
    return call.life == state.life and len(entries) >= len(approvals) and call.result is None


@check("GATE-3", at=("tool",), rank=Rank.CONSENT)
def a_call_behind_the_gate_waits_for_its_verdict(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call after the permission gate is executed only once the gate has allowed it, or a decision has."""
    call = state.entering(seen)
    if call is None or call.tool is None or call.tool.permission != "gate" or call.life != state.life:
        return
    verdict = call.last_verdict
    if verdict == "allow" or (verdict == "suspend" and call.approvals):
        yield HELD
    elif verdict is None:
        yield broken(f"the permission gate of call {call.id} has not answered, yet it was executed")
    elif verdict == "suspend":
        yield broken(
            f"the permission gate suspended call {call.id} and nobody approved it, yet it was executed"
        )
    elif verdict == "set_result":
        yield broken(f"the permission gate set the result of call {call.id}, yet it was executed")
    elif verdict == "fault":
        yield broken(f"the permission gate of call {call.id} broke, yet it was executed")


@check("GATE-4", at=("permission", "tool"), rank=Rank.CONSENT)
def a_tool_that_asks_opens_no_permission_gate(state: ObservedState, seen: GateOpened) -> CheckResults:
    """An approved call is not asked again: a tool that asks opens no permission gate."""
    call = state.call_of(seen)
    if call is None or call.tool is None or call.tool.permission != "ask" or call.is_unclear:
        return
    if seen.on == "permission":
        yield broken(f"call {call.id} asks for its decisions, yet it opened a permission gate")
    elif seen.on == "tool":
        yield HELD


@check("GATE-4", at=("Suspended",), rank=Rank.CONSENT)
def an_approved_call_is_not_asked_again(state: ObservedState, seen: CallMoved) -> CheckResults:
    """An approved call is not suspended again before it has run."""
    call = state.call_of(seen)
    if call is None or call.tool is None or call.tool.permission != "ask" or call.is_unclear:
        return
    if seen.origin != "Resuming":
        return
    approved = [d for d in call.approvals if d.answers is call]
    unused = bool(approved) and approved[-1].entries_before == len(call.entries)
    if unused and call.life == state.life:
        by = approved[-1].id
        yield broken(
            f"call {call.id} was approved by decision {by}, yet it was suspended again before it ran"
        )
    else:
        yield HELD


def _asked_since(call: ObservedCall, decided: Decided) -> bool:
    return any(gate.at >= decided.at for gate in call.judged)


def _replays(state: ObservedState, call: ObservedCall | None) -> Decided | None:
    """The approval on which a call after the permission gate is replayed."""
    if call is None or call.tool is None or call.tool.permission != "gate" or call.is_unclear:
        return None
    approval = call.approvals[-1] if call.approvals else None
    certain = approval is not None and approval.answers is call and call.life == state.life
    unused = approval is not None and len(call.entries) == approval.entries_before
    return approval if certain and unused and call.suspensions else None


@check("GATE-6", at=("permission", "tool"), rank=Rank.CONSENT)
def a_replay_is_judged_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """On a replay the permission check is asked again, or is not, as replay.gate says."""
    call, policy = state.call_of(seen), state.policy("replay.gate")
    decided = _replays(state, call)
    if call is None or decided is None or decided.in_suspension != call.suspensions:
        return
    if seen.on == "permission" and policy == "no":
        yield broken(
            f"a replay is not judged again, yet the permission gate of call {call.id} was asked once more"
        )
    elif seen.on == "tool" and policy == "no":
        yield HELD
    elif seen.on == "tool" and policy == "yes":
        asked = _asked_since(call, decided)
        yield held_or(asked, f"a replay is judged again, yet call {call.id} was executed without that")


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
