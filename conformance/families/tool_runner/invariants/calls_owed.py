"""RUNNER: the calls that have run before the next request is sent."""

from __future__ import annotations

from runlock.conformance.families.tool_runner.invariants.looks import (
    acts_of,
    ends_by_fault,
    every,
    follows,
    is_changed,
    some,
    turn_of,
)
from runlock.conformance.families.tool_runner.messages import RunFinished, RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.facts import is_cut_off, is_paused
from runlock.conformance.families.tool_runner.state.plan import plans
from runlock.conformance.families.tool_runner.state.records import Iteration, answered_calls
from runlock.conformance.family.invariant import HELD, CheckResults, check, held_or
from runlock.conformance.family.rank import Rank


@check("RUNNER-32", seeing=(RunnerGate,), at=("model",), rank=Rank.LOST)
@check("RUNNER-32", seeing=(RunFinished,), rank=Rank.OTHER)
def a_paused_turn_has_run_no_call(state: ObservedRunner, seen: RunnerGate | RunFinished) -> CheckResults:
    """When a paused turn goes back or ends the run, none of its calls has run after the resume."""
    before = state.iteration
    if before is not None and is_paused(before) and before.calls and not before.touched and before.goes_on:
        late = [gate for gate in before.entries if gate.phase == "handling"]
        yield held_or(not late, f"{turn_of(before)} is paused, and one of its calls was entered")


@check("RUNNER-21", at=("model",), rank=Rank.LOST)
def calls_of_a_cut_off_turn_are_entered_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Where the policy says so, the calls of a turn that was cut off run."""
    iteration = _complete(state)
    if iteration is not None and is_cut_off(iteration) and not iteration.touched:
        skipped = [call for call in _wanted(state, iteration) if not _ran(iteration, call)]
        yield held_or(not skipped, f"{turn_of(iteration)} was cut off, and its calls were not run")


@check("RUNNER-21", rank=Rank.OTHER)
def a_cut_off_turn_ends_the_run_as_declared(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """Where the calls of a turn that was cut off run, the run does not end with it."""
    iteration = state.iteration
    if iteration is None or not is_cut_off(iteration) or iteration.touched or not iteration.goes_on:
        return
    if not state.is_cancelled and not ends_by_fault(state, iteration):
        allowed = some(state, iteration, lambda plan: plan.may_end)
        yield held_or(allowed, f"{turn_of(iteration)} was cut off, its calls are to run, and the run ended")


@check("RUNNER-22", at=("model",), rank=Rank.LOST)
def an_added_tool_is_entered_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Where an added tool counts at once, the calls of the received turn that name it run."""
    iteration = _complete(state)
    if iteration is None or not iteration.changes_tools or iteration.touched:
        return
    added = {
        call.id for call in iteration.calls if call.name in state.tools and call.name not in iteration.tools
    }
    wanted = [call for call in _wanted(state, iteration) if call in added]
    if wanted:
        skipped = [call for call in wanted if not _ran(iteration, call)]
        yield held_or(
            not skipped, f"the tool of call {' '.join(skipped[:1])} was added, and the call did not run"
        )


@check("RUNNER-33", at=("model",), rank=Rank.LOST)
def a_removed_tool_is_entered_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Where a removed tool is gone only from the next request on, the calls that name it run."""
    iteration = _complete(state)
    if iteration is None or not iteration.changes_tools or iteration.touched:
        return
    gone = {
        call.id for call in iteration.calls if call.name in iteration.tools and call.name not in state.tools
    }
    wanted = [call for call in _wanted(state, iteration) if call in gone]
    if wanted:
        skipped = [call for call in wanted if not _ran(iteration, call)]
        yield held_or(not skipped, f"the tool of call {' '.join(skipped[:1])} counts until the next request")
    elif gone and every(
        state, iteration, lambda plan: not plan.must_enter() or not gone & set(plan.must_enter())
    ):
        yield HELD


def _complete(state: ObservedRunner) -> Iteration | None:
    """The iteration whose calls have all been handled when a request is sent."""
    before = state.iteration
    if before is None or state.is_cancelled or follows(state) != "iteration" or before.has_doubled_ids:
        return None
    return None if ends_by_fault(state, before) else before


def _wanted(state: ObservedRunner, iteration: Iteration) -> list[str]:
    """The calls that every reading of the policies wants to run."""
    wanted = [set(plan.must_enter()) for plan in plans(state, iteration)]
    return sorted(set.intersection(*wanted)) if wanted else []


def _ran(iteration: Iteration, call: str) -> bool:
    return any(gate.phase in ("handling", "request", "yield") for gate in iteration.entries_of(call))


@check("RUNNER-47", at=("model",), rank=Rank.LOST)
def calls_that_the_user_answered_run_all_the_same(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Where the policy says so, a call that the user answered runs."""
    iteration = _complete(state)
    if iteration is None or not iteration.pushed or iteration.message is None:
        return
    given = [*iteration.before_pushes(), *iteration.pushes()]
    wanted = [call for call in _wanted(state, iteration) if call in answered_calls(iteration.message, given)]
    if wanted:
        skipped = [call for call in wanted if not _ran(iteration, call)]
        yield held_or(not skipped, f"call {' '.join(skipped[:1])}, which the user answered, did not run")
    elif iteration.message is not None and not iteration.sets_messages:
        standing = [*iteration.before_pushes(), iteration.message, *iteration.pushes()]
        answered = answered_calls(iteration.message, standing)
        if any(_ran(iteration, call) for call in answered):
            yield HELD


@check("RUNNER-30", at=("model",), rank=Rank.LOST)
def tools_run_anew_where_no_response_is_kept(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Where the response of the user is not kept, the runner runs the tools anew."""
    iteration = _complete(state)
    if iteration is None or not iteration.responses:
        return
    wanted = _wanted(state, iteration)
    if wanted and iteration.responses[-1].seen is not None and iteration.responses[-1].seen.messages:
        skipped = [call for call in wanted if not _ran(iteration, call)]
        yield held_or(not skipped, f"no response is kept, and call {' '.join(skipped[:1])} was not run anew")


@check("RUNNER-18", at=("model",), rank=Rank.LOST)
def a_kept_response_saves_the_runner_the_calls(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A kept response was used by the runner: no body was entered after the resume."""
    iteration = _complete(state)
    if iteration is None or not iteration.responses:
        return
    kept = every(state, iteration, lambda plan: plan.why and set(plan.why.values()) == {"RUNNER-18"})
    if kept and every(state, iteration, lambda plan: set(plan.enter.values()) == {False}):
        again = [gate for gate in iteration.entries if gate.phase == "handling"]
        yield held_or(not again, "a kept response was made again")


@check("RUNNER-13", at=("model",), rank=Rank.LOST)
def calls_of_a_changed_iteration_are_entered(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Before the next request of a changed iteration the calls have run that the policies say."""
    iteration = _complete(state)
    if iteration is None or is_changed(state, iteration) is not True:
        return
    wanted = _wanted(state, iteration)
    if wanted:
        skipped = [call for call in wanted if not _ran(iteration, call)]
        reason = f"{acts_of(iteration)}: call {' '.join(skipped[:1])} is to be handled, and did not run"
        yield held_or(not skipped, reason)


@check("RUNNER-5", at=("model",), rank=Rank.LOST)
def handled_calls_are_entered(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Before the next request the calls of an unchanged turn have run, each once."""
    iteration = _complete(state)
    if iteration is None or iteration.touched or not iteration.calls or is_paused(iteration):
        return
    wanted = _wanted(state, iteration)
    if wanted:
        skipped = [call for call in wanted if not _ran(iteration, call)]
        lost = " ".join(skipped[:1])
        reason = f"{turn_of(iteration)} was not handled: call {lost} did not run before the request"
        yield held_or(not skipped, reason)
