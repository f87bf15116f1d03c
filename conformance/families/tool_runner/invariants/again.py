"""RUNNER: the user iterates over the same runner again, after a break or a fault."""

from __future__ import annotations

from runlock.conformance.families.tool_runner.invariants.looks import every, follows, some, turn_of
from runlock.conformance.families.tool_runner.messages import RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.facts import is_used_up
from runlock.conformance.families.tool_runner.state.records import Run, stands
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank


def _taken_up(state: ObservedRunner, after: str) -> Run | None:
    """The run that the newest stimulus asked for, if it follows a break, or a fault."""
    run = state.taken_up
    if run is None or run.began_at != state.stimuli or run.after != after or state.is_cancelled:
        return None
    return run


def _is_over(state: ObservedRunner, run: Run) -> bool:
    """Whether the runner did nothing when it was taken up."""
    worked = any(gate.is_after_again and gate.at == state.stimuli for gate in state.gates.values())
    return run.refused or (run.is_done and not run.requests and not worked)


@check("RUNNER-24", rank=Rank.LOST, requires="again")
def a_runner_that_is_over_opens_no_gate(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A runner that is over opens no gate when it is taken up."""
    run = state.run_of(seen)
    if _is_of(run, "break", state) and state.policy("again.break") == "over":
        yield broken(f"the runner is over after a break, and opened a {seen.on} gate when it was taken up")


@check("RUNNER-36", rank=Rank.LOST, requires="again")
def a_runner_that_is_over_after_a_fault_opens_no_gate(
    state: ObservedRunner, seen: RunnerGate
) -> CheckResults:
    """A runner that is over after a fault opens no gate when it is taken up."""
    run = state.run_of(seen)
    if _is_of(run, "fault", state) and state.policy("again.fault") == "over":
        yield broken(f"the runner is over after a fault, and opened a {seen.on} gate when it was taken up")


@counts("RUNNER-37", requires="again")
def no_call_with_a_result_ran_again(state: ObservedRunner) -> CheckResults:
    """A runner that was taken up has entered no call that had a result."""
    run, before = state.taken_up, state.iteration
    if run is None or run.began_at != state.stimuli or state.is_cancelled or before is None:
        return
    ended = any(gate.phase == "handling" and gate.kind in ("ok", "error") for gate in before.entries)
    if ended or any(message.role == "tool" for message in before.base):
        yield HELD


@check("RUNNER-25", rank=Rank.LOST)
def nothing_is_sent_after_a_fault(state: ObservedRunner) -> CheckResults:
    """After a fault of the model the runner is at rest without a request."""
    last = state.iteration
    if last is not None and last.fault and last.request.released_at == state.stimuli:
        waiting = [gate for gate in state.open_gates if gate.on == "model"]
        yield held_or(not waiting, f"request {last.number} met a fault of the model, and another was sent")


@check("RUNNER-24", rank=Rank.LOST, requires="again")
def a_runner_taken_up_after_a_break_does_as_declared(state: ObservedRunner) -> CheckResults:
    """After a break the runner is over, or goes on from where it was left."""
    run, iteration = _taken_up(state, "break"), state.iteration
    if run is None or iteration is None:
        return
    over = _is_over(state, run)
    if state.policy("again.break") == "over":
        yield held_or(over, "the runner is over after a break, and went on when it was taken up")
    elif state.policy("again.break") == "goes_on":
        left = iteration if run.requests == 0 else state.iterations[-2]
        ends = left.turn is None or not every(state, left, lambda plan: not plan.may_end)
        if not ends:
            yield held_or(not over, "the user left a turn that asks for more, and the runner did not go on")


def _is_of(run: Run | None, after: str, state: ObservedRunner) -> bool:
    """Whether a run was taken up after a break, or after a fault."""
    return run is not None and run.is_again and run.after == after and not state.is_cancelled


@check("RUNNER-36", rank=Rank.LOST, requires="again")
def a_runner_taken_up_after_a_fault_does_as_declared(state: ObservedRunner) -> CheckResults:
    """After a fault the runner is over, or sends a request with the state that it has."""
    run = _taken_up(state, "fault")
    if run is None or not state.iterations:
        return
    over = _is_over(state, run)
    if state.policy("again.fault") == "over":
        yield held_or(over, "the runner is over after a fault, and went on when it was taken up")
    elif state.policy("again.fault") == "retries":
        broken = state.iterations[-1] if run.requests == 0 else state.iterations[-2]
        stopped = is_used_up(state, broken, _any_limit)
        if not stopped and broken.fault:
            yield held_or(
                run.requests > 0, "the model broke, and no request was sent when the runner was taken up"
            )


def _any_limit(key: str) -> str:
    """The values of the policies of the limit under which it stops a runner soonest."""
    return {"limit.counts": "requests", "limit.zero": "no_request"}[key]


@check("RUNNER-24", rank=Rank.TWICE, requires="again")
def a_runner_goes_on_with_the_turn_that_was_left(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A runner that goes on after a break does with the turn that was left what it would have done."""
    before = state.iteration
    if before is None or before.taken_up_at is None or before.touched or state.is_cancelled:
        return
    if state.policy("again.break") != "goes_on" or seen.messages is None or follows(state) != "iteration":
        return
    ends = not some(state, before, lambda plan: bool(plan.next - {"end"}))
    reason = f"the user left {turn_of(before)}, which ends the run, and a request was sent"
    yield held_or(not ends, reason)
    kept = every(state, before, lambda plan: plan.kept is True)
    reason = f"the user left {turn_of(before)}, and request {before.number + 1} lacks it"
    yield held_or(not kept or stands(before.message, seen.messages), reason)
