"""ROUND, LOOP: how the calls of one response run."""

from __future__ import annotations

from runlock.conformance.families.message_loop.invariants.authority import passes_unasked, prompt_verdict
from runlock.conformance.families.message_loop.invariants.denials import people_may_stop_others
from runlock.conformance.families.message_loop.invariants.entry import entering
from runlock.conformance.families.message_loop.invariants.occasions import is_odd
from runlock.conformance.families.message_loop.invariants.reading import is_doubled
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResults,
    broken,
    listed,
    named,
)
from runlock.conformance.families.message_loop.messages import GateOpened, TurnEnded
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedCall, ObservedTurn
from runlock.conformance.family.invariant import check, held_or
from runlock.conformance.family.rank import Rank


@check("LOOP-17", at=("tool", "prompt", "sm", "hook"), rank=Rank.LOST)
def nothing_is_settled_before_the_response_is_complete(
    state: ObservedState, seen: GateOpened
) -> CheckResults:
    """No call runs, and none is settled, before its response is complete."""
    path = state.path_of(seen)
    if path is None or (seen.on == "hook" and (seen.at, seen.point) != ("TOOL_CALL", "pre")):
        return
    request = path.request
    if request is not None and request.is_streaming:
        yield broken(
            f"response {request.number} is not complete, yet a {seen.on} gate opened for call {seen.call}"
        )
    elif request is not None and request.gate is not None and request.gate.deltas:
        yield HELD


@check("ROUND-4", at=("tool",), rank=Rank.LOST)
def calls_run_one_after_the_other(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A sequential executor runs the calls of a round one after the other."""
    call = entering(state, seen)
    if call is None or len(call.request.calls) < 2:
        return
    running = [one.id for one in call.request.calls if any(gate.is_open for gate in one.entries)]
    yield held_or(not running, f"{named(call)} was entered while call {listed(running)} runs")


@check("ROUND-5", rank=Rank.LOST)
def approved_calls_run_at_the_same_time(state: ObservedState) -> CheckResults:
    """A parallel executor runs all approved calls of a round at the same time."""
    turn = state.run
    if turn is None or turn.cancelled_at or state.scenario.hooks_at("TOOL_CALL", "pre"):
        return
    for path in turn.passes:
        calls = path.sent[-1].calls if path.sent else []
        running = [call for call in calls if any(gate.is_open for gate in call.entries)]
        if not running or any(prompt.is_open for call in calls for prompt in call.prompts):
            continue
        waiting = [call for call in calls if _is_due(state, call)]
        if len(calls) > 1:
            why = f"call {listed(one.id for one in waiting)} is approved, yet waits for {named(running[0])}"
            yield held_or(not waiting, why)


def _is_due(state: ObservedState, call: ObservedCall) -> bool:
    if not call.is_usable or call.entries or any(gate.is_open for gate in call.judged):
        return False
    earlier = [one for one in call.request.calls if one.index < call.index]
    if people_may_stop_others(state, call.request):
        return False
    if any(not _is_judged(state, one) for one in earlier):
        return False  # where approvals stand with their calls, it is not judged yet
    return prompt_verdict(state, call) == "allow" or (passes_unasked(state, call) and not call.prompts)


def _is_judged(state: ObservedState, call: ObservedCall) -> bool:
    return bool(call.entries) or prompt_verdict(state, call) != "" or not call.is_usable


@check("ROUND-8", at=("model",), rank=Rank.LOST)
def a_tool_that_throws_costs_what_was_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """An exception in the body of a tool costs its call where that is declared, and not the turn."""
    policy, path = state.policy("tool.raises"), state.path_of(seen)
    calls = path.sent[-1].calls if path is not None and path.sent else []
    for call in calls:
        if call.answered_with == "raise" and policy is not None:
            yield held_or(
                policy == "failed_call", f"the tool of {named(call)} threw, yet the model is asked again"
            )


@check("ROUND-8", rank=Rank.LOST)
def a_tool_that_throws_ends_the_turn_as_declared(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """An exception in the body of a tool ends the turn in Error only where that is declared."""
    turn, policy = state.turn_of(seen), state.policy("tool.raises")
    thrown = [call for call in turn.every_call() if call.answered_with == "raise"] if turn is not None else []
    if turn is None or not thrown or policy is None or not _is_plain(state, turn) or seen.reason.is_bound:
        return
    malformed = any(call.is_malformed for call in turn.every_call())
    if malformed and state.policy("call.malformed") != "failed_call":
        return  # which ends the turn in Error as well, or may
    if policy == "failed_call":
        why = f"the tool of {named(thrown[-1])} threw, which costs its call, yet the turn ended in Error"
        yield held_or(seen.reason.code != "Error", why)
    elif turn.kind == "chat":
        why = f"the tool of {named(thrown[-1])} threw, which ends in Error; it ended as {seen.reason.code}"
        yield held_or(seen.reason.code == "Error", why)


@check("ROUND-12", at=("model",), rank=Rank.LOST)
def a_malformed_call_costs_what_was_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call with arguments that are no JSON costs its call where that is declared, and not the turn."""
    policy, path = state.policy("call.malformed"), state.path_of(seen)
    for call in path.sent[-1].calls if path is not None and path.sent else []:
        if call.is_malformed and policy is not None:
            yield held_or(
                policy == "failed_call", f"{named(call)} is malformed, yet the model is asked again"
            )


@check("ROUND-12", rank=Rank.LOST)
def a_malformed_call_ends_the_turn_as_declared(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A malformed call ends the turn in Error only where that is declared."""
    turn, policy = state.turn_of(seen), state.policy("call.malformed")
    bad = [call for call in turn.every_call() if call.is_malformed] if turn is not None else []
    raised = turn is not None and any(call.answered_with == "raise" for call in turn.every_call())
    if turn is None or not bad or raised or policy is None or seen.reason.is_bound:
        return
    if not _is_plain(state, turn):
        return
    if policy == "failed_call":
        why = f"{named(bad[-1])} is malformed, which costs the call, yet the turn ended in Error"
        yield held_or(seen.reason.code != "Error", why)
    elif turn.kind == "chat":
        why = f"{named(bad[-1])} is malformed, which ends the turn in Error; it ended as {seen.reason.code}"
        yield held_or(seen.reason.code == "Error", why)


def _is_plain(state: ObservedState, turn: ObservedTurn) -> bool:
    """Whether neither a cancel, a fault, a hook, people nor an assertion explains how the turn ended."""
    if is_doubled(turn) or any(gate.on == "hook" and is_odd(gate) for gate in turn.gates):
        return False
    if any(people_may_stop_others(state, request) for path in turn.passes for request in path.requests):
        return False
    hooks = any(gate.on == "hook" and gate.answered_with not in ("", "continue") for gate in turn.gates)
    failed = any(execution.verdict in ("fail", "fault") for execution in turn.executions.values())
    return not turn.cancelled_at and not turn.faults() and not hooks and not failed
