"""RUN: the end of a run, its reason, its status, and what `inspect` shows."""

from __future__ import annotations

from runlock.conformance.families.tool_runner.invariants.looks import (
    ends_by_fault,
    every,
    follows,
    named,
    turn_of,
)
from runlock.conformance.families.tool_runner.messages import (
    RunFinished,
    RunnerGate,
)
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.records import (
    Iteration,
    Run,
    same,
)
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import GateClosed, Message


@check("RUN-1", rank=Rank.STATUS)
def a_run_ends_once(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run announces its end once."""
    run = state.run_of(seen)
    if run is not None:
        yield held_or(not run.finished, f"run {run.id} announced its end a second time")


@check("RUN-9", rank=Rank.CONSENT)
def a_run_that_is_done_opens_no_gate(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A run that is Done opens no gate."""
    run = state.run_of(seen)
    if run is not None and (run.finished or "Done" in run.claims):
        yield broken(f"run {run.id} is Done, and opened a {seen.on} gate")


@check("RUN-9", rank=Rank.STATUS)
def a_run_that_is_done_is_quiet(state: ObservedRunner) -> CheckResults:
    """A run that is Done waits at no gate."""
    run = state.run
    if run is not None and run.finished:
        waiting = [gate.ref for gate in state.open_gates if gate.run == run.id]
        yield held_or(not waiting, f"run {run.id} is Done, and waits at {' '.join(waiting[:1])}")


@check("RUN-3", rank=Rank.STATUS)
def a_user_who_leaves_ends_the_run(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run that its user leaves has reason BehaviorRequested, or Cancelled after a cancel."""
    run, last = state.run_of(seen), state.iteration
    if run is None or run.finished or run.left_at is None:
        return
    if last is not None and (last.fault or ends_by_fault(state, last)):
        return  # what broke may have come first
    allowed = ("BehaviorRequested", "Cancelled") if run.cancel_at is not None else ("BehaviorRequested",)
    yield held_or(
        seen.reason.code in allowed, f"the user left the loop, and the run ended as {seen.reason.code}"
    )


@check("RUN-5", rank=Rank.STATUS)
def a_fault_of_the_model_ends_in_error(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run that a fault of the model ends has reason Error."""
    run, last = state.run_of(seen), state.iteration
    if run is None or run.finished or state.is_cancelled or last is None or not last.fault:
        return
    if last.run == run.id and last.left_at is None:
        yield held_or(
            seen.reason.code == "Error", f"the model broke, and the run ended as {seen.reason.code}"
        )


@check("RUN-6", rank=Rank.STATUS)
def a_broken_tool_ends_in_error(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run that a broken tool ends has reason Error."""
    run, last = state.run_of(seen), state.iteration
    if run is None or run.finished or state.is_cancelled or last is None or not last.faulted_tools:
        return
    if _broken_by(last, run):
        yield held_or(seen.reason.code == "Error", f"a tool broke, and the run ended as {seen.reason.code}")


def _broken_by(last: Iteration, run: Run) -> bool:
    handled = [gate for gate in last.faulted_tools if gate.phase == "handling" and gate.run == run.id]
    return bool(handled) and last.retried_at is None


@check("RUN-4", rank=Rank.STATUS)
def the_limit_ends_with_its_code(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run that its limit ends has reason Stopped with the code, or NaturalEnd."""
    last = _ended_by_itself(state, seen)
    first = state.iteration is None and state.limit == 0 and not state.is_cancelled
    if first or (last is not None and every(state, last, lambda plan: plan.next == frozenset({"stop"}))):
        code = seen.reason.stop.code if seen.reason.stop is not None else None
        stopped = seen.reason.code == "Stopped" and code == "max_iterations"
        right = stopped or seen.reason.code == "NaturalEnd"
        yield held_or(
            right, f"the limit of {state.limit} ended the run, whose reason is {seen.reason.code} ({code})"
        )


def _at_the_limit(state: ObservedRunner) -> bool:
    return state.limit is not None and len(state.iterations) >= state.limit


def _ended_by_itself(state: ObservedRunner, seen: RunFinished) -> Iteration | None:
    """The iteration after which the run ended, if no cancel, break or fault did it."""
    run, last = state.run_of(seen), state.iteration
    if run is None or run.finished or state.is_cancelled or last is None or follows(state) != "iteration":
        return None
    left = last.left_at is not None and last.taken_up_at is None
    over = run.is_again and last.run != run.id and "over" in state.values("again.break")
    return None if left or over or ends_by_fault(state, last) else last


# -- the reason


@check("RUN-2", rank=Rank.STATUS)
def a_final_turn_ends_naturally(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run that a final turn ends has reason NaturalEnd."""
    last = _ended_by_itself(state, seen)
    if last is not None and every(state, last, lambda plan: plan.next == frozenset({"end"})):
        stopped = seen.reason.code == "Stopped" and _at_the_limit(state)
        right = seen.reason.code == "NaturalEnd" or stopped
        yield held_or(right, f"{turn_of(last)} ends the run, whose reason is {seen.reason.code}")


@check("RUN-6", at=("model",), rank=Rank.CONSENT)
def a_broken_tool_sends_no_request(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """After a tool broke, the run sends no request."""
    last = state.iteration
    if last is None or state.is_cancelled or last.retried_at is not None:
        return
    faulted = [gate for gate in last.faulted_tools if gate.phase == "handling"]
    if faulted:
        yield broken(
            f"{faulted[0].ref} broke, which ends the run, and request {len(state.iterations) + 1} was sent"
        )


@check("RUN-2", rank=Rank.STATUS)
def a_run_that_ends_was_done_with(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run does not end by itself while its user has the turn, or before its first request."""
    run, last = state.run_of(seen), state.iteration
    if run is None or run.finished or state.is_cancelled or run.is_again or state.limit == 0:
        return
    if last is None:
        yield broken(f"the run ended as {seen.reason.code} before its first request")
    elif last.yielded is not None and last.turn is not None and not ends_by_fault(state, last):
        yield broken(f"the run ended as {seen.reason.code} while {turn_of(last)} was with the user")


@check("RUN-7", rank=Rank.STATUS)
def the_end_names_the_last_turn(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """The end names the last turn that was received, or none."""
    run = state.run_of(seen)
    if run is None or run.finished or state.is_cancelled:
        return
    turns = [one.message for one in state.iterations if one.message is not None]
    last = state.iteration
    unsure = last is None or last.turn is None or last.run != run.id
    right = same(seen.message, turns[-1] if turns else None) or (unsure and seen.message is None)
    if last is not None and (last.may_have_lost_its_turn or _left_unread(state, last)):
        right = right or same(seen.message, turns[-2] if len(turns) > 1 else None)
    wanted = named(turns[-1]) if turns else "nothing"
    yield held_or(right, f"the last turn is {wanted}, and the end names {_name(seen.message)}")


def _left_unread(state: ObservedRunner, last: Iteration) -> bool:
    """Whether the user left a stream that was not read to its end: its turn may not have been received."""
    runner = state.scenario.runner
    if not runner.stream or last.is_yielded_whole or last.left_at is None or last.end_events:
        return False
    return runner.read == "none" or "streaming" in state.values("tools.start")  # a reader may wait for a tool


def _name(message: Message | None) -> str:
    return named(message) if message is not None else "nothing"


@check("RUNNER-35", rank=Rank.LOST)
def a_tool_that_runs_is_not_interrupted(state: ObservedRunner, seen: GateClosed) -> CheckResults:
    """A change of the tools does not interrupt a call that runs."""
    gate = state.gates.get(seen.gate)
    if gate is None or gate.on != "tool" or state.is_cancelled:
        return
    if any(method == "runner.tools" for method, _ in state.parts) and len(state.parts) == 1:
        yield broken(f"the tools were changed, and {gate.ref}, which was running, was given up")


@counts("RUNNER-35")
def a_change_of_tools_leaves_calls_running(state: ObservedRunner) -> CheckResults:
    """Calls that ran when the tools were changed are still running."""
    if state.parts and state.parts[0][0] == "runner.tools" and state.alone:
        running = [gate for gate in state.open_gates if gate.on == "tool" and gate.at < state.stimuli]
        if running:
            yield HELD
