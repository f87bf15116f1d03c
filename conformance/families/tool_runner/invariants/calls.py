"""RUNNER and ONCE: which bodies of tools are entered, when, and how often."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.families.tool_runner.invariants.looks import (
    acts_of,
    entering,
    is_changed,
    some,
    turn_of,
)
from runlock.conformance.families.tool_runner.messages import RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.facts import is_cut_off, is_paused
from runlock.conformance.families.tool_runner.state.plan import plans
from runlock.conformance.families.tool_runner.state.records import Iteration, ObservedGate
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import ToolCall


def _handled(state: ObservedRunner, seen: RunnerGate) -> tuple[Iteration, str] | None:
    """The iteration and the call of an entry after the resume, in the normal course of the run."""
    found = entering(state, seen)
    if found is None or found[1] != "handling" or state.is_cancelled or found[0].turn is None:
        return None
    return found[0], found[2]


@check("RUNNER-3", at=("tool",), rank=Rank.OTHER)
def no_tool_starts_while_the_user_has_the_turn(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Between a yield and its resume only `runner.respond` starts a tool, or the stream."""
    iteration = state.iteration
    if iteration is None or state.is_cancelled:
        return
    phase, _ = state.phase(iteration)
    if phase not in ("yield", "request") or _may_stream(state, iteration):
        return
    when = "the turn was with the user" if phase == "yield" else f"request {iteration.number} was under way"
    yield broken(f"call {seen.call} was entered while {when}")


def _may_stream(state: ObservedRunner, iteration: Iteration) -> bool:
    return "streaming" in state.values("tools.start") and state.scenario.runner.stream


@counts("RUNNER-3", at=("tool",))
def a_tool_waits_for_the_resume(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A tool that starts after the resume has waited for it."""
    found = entering(state, seen)
    if found is not None and found[1] == "handling":
        yield HELD


@check("RUNNER-4", at=("tool",), rank=Rank.CONSENT)
def no_tool_starts_after_the_user_left(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """After a break no tool starts, unless the runner is taken up again."""
    iteration = state.iteration
    if iteration is not None and state.phase(iteration)[0] == "left":
        yield broken(f"call {seen.call} was entered after the user left the loop")


@check("RUNNER-4", rank=Rank.LOST)
def nothing_started_after_the_user_left(state: ObservedRunner) -> CheckResults:
    """A run that the user left is at rest without a tool."""
    iteration = state.iteration
    if iteration is not None and iteration.left_at == state.stimuli:
        late = [gate for gate in state.open_gates if gate.on == "tool"]
        yield held_or(not late, f"{late[0].ref if late else ''} is open, but the user has left the loop")


@check("RUNNER-32", at=("tool",), rank=Rank.OTHER)
def a_paused_turn_runs_no_call(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The calls of a paused turn do not run after the resume, unless the user pushed the turn."""
    found = _handled(state, seen)
    if found is not None and is_paused(found[0]):
        iteration, call = found
        own = call in {one.id for one in iteration.calls}
        allowed = some(state, iteration, lambda plan: plan.may_enter(call))
        yield held_or(allowed or not own, f"{turn_of(iteration)} is paused, and its call {call} was entered")


@check("RUNNER-21", at=("tool",), rank=Rank.OTHER)
def a_cut_off_turn_runs_calls_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The calls of a turn that was cut off run only where the policy says so."""
    found = _handled(state, seen)
    if found is not None and is_cut_off(found[0]) and not found[0].touched:
        iteration, call = found
        allowed = some(state, iteration, lambda plan: plan.may_enter(call))
        yield held_or(allowed, f"{turn_of(iteration)} was cut off, and its call {call} was entered")


@check("RUNNER-15", at=("tool",), rank=Rank.OTHER)
def an_answered_call_does_not_run(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A call that the user answered does not run."""
    for iteration, call in _forbidden(state, seen, "RUNNER-15"):
        yield broken(f"the user answered call {call} of request {iteration.number}, and it was entered again")


@check("RUNNER-18", at=("tool",), rank=Rank.OTHER)
def a_kept_response_is_used_by_the_runner(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """While a response is kept, the runner uses it and enters no body."""
    for iteration, call in _forbidden(state, seen, "RUNNER-18"):
        yield broken(
            f"the response of request {iteration.number} is kept, and its call {call} was entered again"
        )


@check("STOP-5", at=("tool",), rank=Rank.CONSENT)
def the_last_turn_runs_calls_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The calls of the last turn that the limit allows run only where the policy says so."""
    for iteration, call in _forbidden(state, seen, "STOP-5"):
        yield broken(
            f"the limit preempts the calls of request {iteration.number}, and call {call} was entered"
        )


@check("RUNNER-13", at=("tool",), rank=Rank.OTHER)
def the_calls_that_count_are_handled(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """In a changed iteration only the calls run that the policies say."""
    found = _handled(state, seen)
    if found is None or follows_fault(found[0]):
        return
    iteration, call = found
    if is_changed(state, iteration) is True and not is_paused(iteration):
        allowed = some(state, iteration, lambda plan: plan.may_enter(call))
        yield held_or(
            allowed, f"{acts_of(iteration)}, and call {call} was entered, which is not to be handled"
        )


@check("RUNNER-5", at=("tool",), rank=Rank.OTHER)
def only_calls_of_the_turn_are_entered(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """In an unchanged iteration only calls of the received turn run."""
    found = _handled(state, seen)
    if found is None or found[0].touched or follows_fault(found[0]):
        return
    iteration, call = found
    allowed = some(state, iteration, lambda plan: plan.may_enter(call))
    yield held_or(allowed, f"call {call} was entered, which is none of {turn_of(iteration)} to handle")


def follows_fault(iteration: Iteration) -> bool:
    """Whether the runner was taken up after a tool broke."""
    return iteration.retried_at is not None


@check("RUNNER-5", at=("tool",), rank=Rank.OTHER)
def a_call_is_entered_as_the_model_asked(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A call runs the tool that the model named, with the arguments that it gave."""
    found = entering(state, seen)
    call = _call(state, found[0], found[2]) if found is not None else None
    if call is None or seen.args is None:
        return
    right = call.name == (seen.name or call.name) and call.args == seen.args
    yield held_or(
        right, f"call {call.id} asks for {call.name} {call.args}, and {seen.name} {seen.args} was entered"
    )


def _call(state: ObservedRunner, iteration: Iteration, wanted: str) -> ToolCall | None:
    own = next((call for call in iteration.calls if call.id == wanted), None)
    if own is not None or iteration.turn is None:
        return own
    handled = (call for plan in plans(state, iteration) for call in plan.calls)
    return next((call for call in handled if call.id == wanted), None)


@check("ONCE-2", at=("tool",), rank=Rank.TWICE)
def a_body_is_not_entered_while_it_runs(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A call is not entered while its body is running."""
    found = entering(state, seen)
    if found is not None:
        running = any(gate.is_open for gate in found[0].entries_of(found[2]))
        yield held_or(not running, f"call {found[2]} was entered while its body was still running")


def _forbidden(state: ObservedRunner, seen: RunnerGate, why: str) -> Iterator[tuple[Iteration, str]]:
    """An entry that every reading forbids, the first of them for this reason."""
    found = _handled(state, seen)
    if found is None or follows_fault(found[0]):
        return
    iteration, call = found
    every_plan = plans(state, iteration)
    if not any(plan.may_enter(call) for plan in every_plan) and every_plan[0].why.get(call) == why:
        yield found


# -- which calls


@check("RUNNER-37", at=("tool",), rank=Rank.TWICE)
def a_call_that_has_a_result_is_not_run_when_taken_up(
    state: ObservedRunner, seen: RunnerGate
) -> CheckResults:
    """A call that has a result does not run again when the runner is taken up."""
    found = entering(state, seen)
    run = state.run_of(seen)
    if found is None or run is None or not run.is_again or found[0].run == run.id:
        return
    iteration, _, call = found
    answered = [
        gate
        for gate in iteration.entries_of(call)
        if gate.phase == "handling" and gate.kind in ("ok", "error")
    ]
    in_state = call in _answered_before(iteration)
    yield held_or(
        not answered and not in_state,
        f"call {call} had a result when the runner was taken up again, and was entered once more",
    )


def _answered_before(iteration: Iteration) -> set[str]:
    own = {call.id for call in iteration.calls}
    return {message.call for message in iteration.base if message.role == "tool" and message.call} - own


# -- how often


@check("ONCE-1", at=("tool",), rank=Rank.TWICE)
def a_body_is_entered_once_in_an_iteration(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The body of a call is entered once for each response, and once after the resume."""
    found = entering(state, seen)
    if found is None:
        return
    iteration, _, call = found
    phase, response = state.phase(iteration)
    first = response == 0 or not iteration.responses
    earlier = [gate for gate in iteration.entries_of(call) if _in_one_go(gate, phase, response, first)]
    yield held_or(
        not earlier, f"call {call} was entered a second time in the iteration of request {iteration.number}"
    )


def _in_one_go(gate: ObservedGate, phase: str, response: int | None, first: bool) -> bool:
    """Whether an entry serves the same purpose; one from the stream serves the first that comes after it."""
    streamed = gate.phase in ("request", "yield") and (first or phase in ("request", "yield"))
    return streamed or (gate.phase == phase and gate.response == response)
