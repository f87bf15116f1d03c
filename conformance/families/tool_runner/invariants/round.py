"""ROUND: the order in which the calls of a turn start, and in which their results stand."""

from __future__ import annotations

from collections.abc import Sequence

from runlock.conformance.families.tool_runner.invariants.looks import reading
from runlock.conformance.families.tool_runner.messages import Responded, RunFinished, RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.plan import plans
from runlock.conformance.families.tool_runner.state.records import Iteration
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import GateClosed, Message, ToolCall


def _calls(state: ObservedRunner, iteration: Iteration, phase: str) -> Sequence[ToolCall]:
    """The calls of the round that is under way."""
    if phase == "response":
        return iteration.calls
    every_plan = plans(state, iteration) if iteration.turn is not None else []
    first = every_plan[0].calls if every_plan else ()
    return first if all(plan.calls == first for plan in every_plan) else ()


@check("ROUND-5", at=("tool",), rank=Rank.LOST)
def a_call_of_a_parallel_round_starts_with_the_others(
    state: ObservedRunner, seen: RunnerGate
) -> CheckResults:
    """In a parallel round no call starts after the runner has been at rest with another one."""
    iteration = state.iteration
    if iteration is None or iteration.has_doubled_ids or state.is_cancelled or not state.settled_before:
        return
    if state.policy("round.executor") != "parallel" or iteration.retried_at is not None:
        return
    if iteration.deltas and "streaming" in state.values("tools.start"):
        return
    phase, response = state.phase(iteration)
    in_round = [gate for gate in iteration.entries if (gate.phase, gate.response) == (phase, response)]
    earlier = [gate for gate in in_round if gate.at < state.stimuli]
    known = seen.call in {call.id for call in iteration.calls} and not iteration.changes_tools
    if phase in ("handling", "response") and earlier and known:
        yield broken(
            f"all calls of a round start together, and {seen.call} was entered after {earlier[0].seen.call}"
        )


@check("ROUND-4", at=("tool",), rank=Rank.LOST)
def a_sequential_round_runs_one_call_at_a_time(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A sequential executor has one tool open at a time, in the order of the calls."""
    iteration = state.iteration
    if iteration is None or iteration.has_doubled_ids or state.policy("round.executor") != "sequential":
        return
    running = [gate for gate in iteration.entries if gate.is_open]
    if running:
        yield broken(
            f"calls run one after the other, and {seen.call} was entered while {running[0].seen.call} ran"
        )
        return
    phase, response = state.phase(iteration)
    if phase not in ("handling", "response"):
        return
    in_round = [gate for gate in iteration.entries if (gate.phase, gate.response) == (phase, response)]
    order = [call.id for call in _calls(state, iteration, phase)]
    if seen.call in order:
        earlier = [gate.seen.call for gate in in_round if gate.seen.call in order]
        right = all(order.index(str(one)) < order.index(str(seen.call)) for one in earlier)
        yield held_or(
            right, f"calls run in the order of the turn, and {seen.call} was entered after {earlier}"
        )


@counts("ROUND-5")
def a_parallel_round_starts_all_calls_together(state: ObservedRunner) -> CheckResults:
    """A parallel round has entered all its calls."""
    iteration = state.iteration
    if iteration is None or iteration.has_doubled_ids or state.is_cancelled:
        return
    running = [gate for gate in iteration.entries if gate.is_open]
    if len(running) > 1 and state.policy("round.executor") == "parallel":
        yield HELD


@check("ROUND-6", at=("model",), rank=Rank.SHOWN)
def results_stand_in_the_declared_order(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Results stand in the order of the calls, or of their ends, as declared."""
    read = reading(state, seen)
    if read is None or read.before.has_doubled_ids or len(read.results) < 2:
        return
    yield from _in_order(state, read.before, [result for _, result in read.results], f"request {read.number}")


@check("ROUND-6", rank=Rank.SHOWN)
def a_response_is_in_the_declared_order(state: ObservedRunner, seen: Responded) -> CheckResults:
    """The results of a response stand in the declared order."""
    iteration = state.iteration
    if iteration is not None and not iteration.has_doubled_ids and len(seen.messages or ()) > 1:
        yield from _in_order(state, iteration, seen.messages or [], "the response")


def _in_order(
    state: ObservedRunner, iteration: Iteration, results: Sequence[Message], what: str
) -> CheckResults:
    order = state.policy("results.order")
    shown = [str(result.call) for result in results]
    if order == "call":
        asked = [call.id for call in _owner(state, iteration, shown)]
        wanted = [call for call in asked if call in shown]
        if set(wanted) == set(shown):
            yield held_or(
                shown == wanted, f"{what} holds results in the order {shown}; the calls stand as {wanted}"
            )
    elif order == "finish":
        ends = {call: _end_of(iteration, call) for call in shown}
        known = [end for call in shown if (end := ends[call]) is not None]
        if len(known) > 1 and not _ran_twice(iteration, shown):
            yield held_or(
                known == sorted(known), f"{what} holds results in the order {shown}, not as they finished"
            )


def _owner(state: ObservedRunner, iteration: Iteration, shown: Sequence[str]) -> Sequence[ToolCall]:
    if set(shown) <= {call.id for call in iteration.calls}:
        return iteration.calls
    return _calls(state, iteration, "handling") if iteration.turn is not None else ()


def _end_of(iteration: Iteration, call: str) -> int | None:
    """The window in which a call finished: those of one window may have finished in any order."""
    ends = [gate.released_in for gate in iteration.entries_of(call) if gate.released_in is not None]
    return ends[-1] if ends else None


def _ran_twice(iteration: Iteration, calls: Sequence[str]) -> bool:
    return any(len(iteration.entries_of(call)) > 1 for call in calls)


@check("ROUND-7", rank=Rank.LOST)
def a_raise_ends_the_run_as_declared(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """An exception in a tool ends the run only where the policy says so."""
    iteration, run = state.iteration, state.run_of(seen)
    if iteration is None or run is None or run.finished or state.is_cancelled or iteration.faulted_tools:
        return
    raised = [gate for gate in iteration.entries if gate.kind == "raise" and gate.phase == "handling"]
    if raised and seen.reason.code == "Error" and not iteration.fault:
        allowed = "end_run" in state.values("tool.raises")
        yield held_or(
            allowed, f"call {raised[0].seen.call} threw, which fails the call, yet the run ended in Error"
        )


@check("ROUND-1", rank=Rank.LOST)
def a_failure_gives_no_sibling_up(state: ObservedRunner, seen: GateClosed) -> CheckResults:
    """A call that runs is not given up because another one failed."""
    gate, iteration = state.gates.get(seen.gate), state.iteration
    if gate is None or iteration is None or gate.on != "tool" or state.is_cancelled or not state.alone:
        return
    fails = ("error",) if "end_run" in state.values("tool.raises") else ("error", "raise")
    released = [one for one in iteration.entries if one.released_at == state.stimuli]
    failed = [one for one in released if one.kind in fails and one.phase == gate.phase]
    if failed and gate.phase in ("handling", "response"):
        yield broken(
            f"call {failed[0].seen.call} failed, and call {gate.seen.call}, which was running, was given up"
        )
