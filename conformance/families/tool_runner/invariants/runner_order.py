"""RUNNER: a request, its turn, the yield of that turn, the resume, and then the next request or the end."""

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
from runlock.conformance.families.tool_runner.state.facts import is_paused
from runlock.conformance.families.tool_runner.state.records import Iteration, same, stands
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message

YIELD = ("yield",)


@check("RUNNER-1", rank=Rank.LOST)
def a_turn_is_yielded_before_the_end(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run does not end with a turn that the user has not seen."""
    iteration = state.iteration
    if iteration is None or iteration.turn is None or state.is_cancelled or iteration.left_at is not None:
        return
    yield held_or(iteration.yields, f"the run ended, but {turn_of(iteration)} was never yielded")


@check("RUNNER-39", at=("model",), rank=Rank.LOST)
def no_request_is_sent_while_a_yield_is_open(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Between a yield and its resume no request is sent."""
    iteration = state.iteration
    if iteration is None or not iteration.yields or state.is_cancelled:
        return
    number = len(state.iterations) + 1
    reason = f"request {number} was sent while the turn of request {iteration.number} was with the user"
    yield held_or(iteration.yielded is None, reason)


@check("RUNNER-4", at=("model",), rank=Rank.CONSENT)
def no_request_is_sent_after_the_user_left(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """After a break the runner sends nothing, unless it is taken up again."""
    iteration = state.iteration
    if iteration is None or iteration.left_at is None:
        return
    taken_up = iteration.taken_up_at is not None
    yield held_or(taken_up, f"the user left the loop, and request {len(state.iterations) + 1} was sent")


@check("RUNNER-25", at=("model",), rank=Rank.LOST)
def a_fault_of_the_model_sends_no_request(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """After a fault of the model the runner does not try again by itself."""
    iteration = state.iteration
    if iteration is None or not iteration.fault:
        return
    taken_up = iteration.retried_at is not None
    number = len(state.iterations) + 1
    yield held_or(
        taken_up, f"request {iteration.number} met a fault of the model, and request {number} was sent"
    )


@check("RUNNER-1", at=("model",), rank=Rank.LOST)
def each_turn_is_yielded_before_the_next_request(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """No request is sent while a turn has not been yielded."""
    before = state.iteration
    if before is None or state.is_cancelled or before.fault or before.left_at is not None:
        return
    if before.request.gone:  # the server refused it
        return
    number = len(state.iterations) + 1
    if before.turn is None:
        yield broken(f"request {number} was sent while request {before.number} had no answer yet")
    else:
        yield held_or(before.yields, f"request {number} was sent, but {turn_of(before)} was never yielded")


@check("RUNNER-1", at=YIELD, rank=Rank.LOST)
def a_turn_is_yielded_once(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Each turn is yielded once, and only after its request."""
    iteration = state.iteration
    if state.is_early(seen):
        return
    if iteration is None:
        yield broken("a yield opened before any request was sent")
        return
    early = iteration.turn is None and not state.scenario.runner.stream
    if early:
        yield broken(f"a yield opened before request {iteration.number} was answered")
    elif not (state.is_cancelled and seen.message is None):  # that stream's request may not have been sent
        yield held_or(not iteration.yields, f"{turn_of(iteration)} was yielded a second time")


@check("RUNNER-2", at=YIELD, rank=Rank.LOST)
def the_yielded_message_is_the_turn(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The yield shows the turn as the model gave it."""
    iteration = state.iteration
    if iteration is None or state.is_early(seen) or (seen.message is None and state.scenario.runner.stream):
        return
    if iteration.turn is None:
        if seen.message is not None:
            yield broken(
                f"the yield of request {iteration.number} shows a message, but its turn is not whole yet"
            )
        return
    right = same(seen.message, iteration.message)
    yield held_or(right, f"{turn_of(iteration)} was yielded as {_shown(seen.message)}")


def _shown(message: Message | None) -> str:
    if message is None:
        return "null"
    calls = ", ".join(f"{call.id}:{call.name}" for call in message.tool_calls)
    return f"“{message.text[:60]}” with {f'calls {calls}' if calls else 'no calls'}"


# -- whether a request or the end comes next


@check("RUNNER-6", at=("model",), rank=Rank.LOST)
def an_unchanged_final_turn_sends_no_request(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A final turn of an unchanged iteration is not followed by a request."""
    before = _before_request(state)
    if (
        before is None
        or before.touched
        or is_paused(before)
        or some(state, before, lambda plan: plan.may_request)
    ):
        return
    if every(state, before, lambda plan: "stop" not in plan.next):
        yield broken(
            f"{turn_of(before)} is final and {acts_of(before)}, yet request {before.number + 1} was sent"
        )


@counts("RUNNER-6")
def an_unchanged_final_turn_ends_the_run(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A final turn of an unchanged iteration ends the run."""
    before = _before_end(state, seen)
    if before is not None and not before.touched and not is_paused(before):
        ends = every(state, before, lambda plan: plan.next == frozenset({"end"}))
        if ends:
            yield HELD


@check("RUNNER-6", rank=Rank.LOST)
def an_unchanged_final_turn_is_followed_by_nothing(state: ObservedRunner) -> CheckResults:
    """A final turn that was resumed leaves the runner at rest without a request."""
    last = state.iteration
    if last is None or state.is_cancelled or last.touched or last.resumed_at != state.stimuli:
        return
    final = last.turn is not None and every(state, last, lambda plan: plan.next == frozenset({"end"}))
    if final and not is_paused(last):
        late = [gate for gate in state.open_gates if gate.phase != "yield"]  # not one of the stream
        yield held_or(not late, f"{turn_of(last)} is final, and the runner goes on after it")


@check("RUNNER-1", rank=Rank.LOST)
def a_received_turn_is_with_the_user(state: ObservedRunner) -> CheckResults:
    """Once a turn has come, it is yielded."""
    iteration = state.iteration
    if iteration is None or iteration.turn is None or state.is_cancelled:
        return
    if iteration.left_at is None:
        yield held_or(iteration.yields, f"{turn_of(iteration)} was not yielded")


@check("RUNNER-4", rank=Rank.LOST)
def nothing_more_happens_after_the_user_left(state: ObservedRunner) -> CheckResults:
    """A run that its user left opens no gate."""
    iteration = state.iteration
    if iteration is None or iteration.left_at is None or iteration.taken_up_at is not None:
        return
    late = [gate for gate in iteration.entries if gate.phase == "left"]
    yield held_or(not late, "a tool was entered after the user left the loop")


@check("RUNNER-7", at=("model",), rank=Rank.LOST)
def a_changed_final_turn_sends_a_request_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A changed final turn is followed by a request only where the policy says so."""
    before = _before_request(state)
    if before is None or not _is_changed_final(state, before):
        return
    allowed = some(state, before, lambda plan: plan.may_request)
    if allowed or every(state, before, lambda plan: "stop" not in plan.next):
        reason = f"{turn_of(before)} is final and {acts_of(before)}: the run ends, yet a request was sent"
        yield held_or(allowed, reason)


@check("RUNNER-7", rank=Rank.LOST)
def a_changed_final_turn_ends_the_run_as_declared(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A changed final turn ends the run only where the policy says so."""
    before = _before_end(state, seen)
    if before is not None and _is_changed_final(state, before):
        allowed = some(state, before, lambda plan: plan.may_end)
        reason = f"{turn_of(before)} is final and {acts_of(before)}: the state is sent, yet the run ended"
        yield held_or(allowed, reason)


def _is_changed_final(state: ObservedRunner, iteration: Iteration) -> bool:
    asks = iteration.turn is not None and iteration.turn.stop == "tool_use" and bool(iteration.calls)
    return is_changed(state, iteration) is True and not is_paused(iteration) and not asks


@check("RUNNER-20", at=("model",), rank=Rank.LOST)
def a_paused_turn_goes_back_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """An unchanged paused turn is sent back where the policy says so."""
    before = _before_request(state)
    if before is None or not is_paused(before) or before.touched:
        return
    allowed = some(state, before, lambda plan: plan.may_request)
    if allowed or every(state, before, lambda plan: "stop" not in plan.next):
        yield held_or(allowed, f"{turn_of(before)} is paused and ends the run, yet a request was sent")


@check("RUNNER-20", rank=Rank.LOST)
def a_paused_turn_ends_the_run_as_declared(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """An unchanged paused turn ends the run where the policy says so."""
    before = _before_end(state, seen)
    if before is not None and is_paused(before) and not before.touched:
        allowed = some(state, before, lambda plan: plan.may_end)
        yield held_or(allowed, f"{turn_of(before)} is paused and goes back to the model, yet the run ended")


@check("RUNNER-16", rank=Rank.LOST)
def the_next_thing_is_the_next_request(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """When the user has pushed the turn and its response, the run does not end."""
    before = _before_end(state, seen)
    if before is not None and pushed_turn_and_response(before):
        allowed = some(state, before, lambda plan: plan.may_end)
        yield held_or(
            allowed, "the user pushed the turn and its response, and the run ended without a request"
        )


@check("RUNNER-41", rank=Rank.LOST)
def handled_calls_do_not_end_the_run(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """After the calls of an unchanged turn the run does not end, also when every tool failed."""
    before = _before_end(state, seen)
    if before is None or not _is_unchanged_and_asks(state, before):
        return
    allowed = some(state, before, lambda plan: plan.may_end)
    yield held_or(allowed, f"{turn_of(before)} asks for tools: the next request follows, yet the run ended")


@check("RUNNER-13", rank=Rank.LOST)
def a_changed_turn_that_asks_for_tools_is_followed_by_a_request(
    state: ObservedRunner, seen: RunFinished
) -> CheckResults:
    """A changed turn that asks for tools, or is paused, does not end the run."""
    before = _before_end(state, seen)
    if before is None or not before.touched or _is_changed_final(state, before):
        return
    allowed = some(state, before, lambda plan: plan.may_end)
    if not allowed:
        yield broken(
            f"{turn_of(before)} is not final and {acts_of(before)}: a request follows, yet the run ended"
        )


@counts("RUNNER-16", at=("model",))
def the_next_thing_is_the_request(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """When the user has pushed the turn and its response, the next request is sent."""
    before = _before_request(state)
    if before is not None and pushed_turn_and_response(before):
        yield HELD


def pushed_turn_and_response(iteration: Iteration) -> bool:
    """Whether the user gave the turn and a result for each of its calls, and nothing after them."""
    given = iteration.pushes()
    answered = {message.call for message in given if message.role == "tool"}
    ids = {call.id for call in iteration.calls}
    last = bool(given) and given[-1].role == "tool"
    return last and bool(ids) and ids <= answered and stands(iteration.message, given)


def _is_unchanged_and_asks(state: ObservedRunner, iteration: Iteration) -> bool:
    return every(state, iteration, lambda plan: not plan.changed and plan.handled is not None)


def _before_request(state: ObservedRunner) -> Iteration | None:
    """The iteration on which a request follows in the normal course."""
    before = state.iteration
    if before is None or state.is_cancelled or follows(state) != "iteration":
        return None
    return None if ends_by_fault(state, before) else before


def _before_end(state: ObservedRunner, seen: RunFinished) -> Iteration | None:
    """The iteration after which the run ended in the normal course."""
    before, run = state.iteration, state.run_of(seen)
    if before is None or run is None or state.is_cancelled or run.finished:
        return None
    if before.fault or before.turn is None or not before.goes_on or ends_by_fault(state, before):
        return None
    left = before.left_at is not None and before.taken_up_at is None
    idle = run.is_again and before.run != run.id and not run.requests
    worked = any(gate.is_after_again and gate.run == run.id for gate in before.entries)
    return None if left or (idle and not worked) else before


@counts("RUNNER-41", at=("model",))
def handled_calls_are_followed_by_a_request(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """After the calls of an unchanged turn the next request is sent."""
    before = _before_request(state)
    if before is not None and _is_unchanged_and_asks(state, before):
        yield HELD
