"""CANCEL: after the abort signal nothing new begins, and the run ends."""

from __future__ import annotations

from runlock.conformance.families.tool_runner.invariants.looks import ends_by_fault, surely_cancelled
from runlock.conformance.families.tool_runner.messages import Responded, RunFinished, RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.plan import plans
from runlock.conformance.families.tool_runner.state.records import Iteration, ObservedGate, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank

CANCEL = "cancel"


def _cancelled(state: ObservedRunner) -> Run | None:
    """The run at hand, if a cancel has surely reached it."""
    run = state.run
    if run is None or run.cancel_at is None or not surely_cancelled(state):
        return None
    return run


@check("CANCEL-1", at=("model",), rank=Rank.CONSENT, requires=CANCEL)
def no_request_is_sent_after_a_cancel(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """After a cancel no request is sent."""
    if _cancelled(state) is not None:
        yield broken(f"the run was cancelled, and request {len(state.iterations) + 1} was sent")


@check("CANCEL-4", rank=Rank.STATUS, requires=CANCEL)
def calls_of_a_turn_with_the_user_have_run_as_declared(
    state: ObservedRunner, seen: RunFinished
) -> CheckResults:
    """Where the policy says so, the calls of a turn that was with the user at the cancel run."""
    iteration = _handed_over(state)
    if iteration is None or iteration.resumed_at is None or iteration.touched or iteration.has_doubled_ids:
        return
    if iteration.responses or iteration.changes_tools or ends_by_fault(state, iteration):
        return
    wanted = [set(plan.must_enter()) for plan in plans(state, iteration)]
    together = set.intersection(*wanted) if wanted else set()
    if together and state.policy("cancel.handed_over") == "run":
        lost = [call for call in sorted(together) if not iteration.entries_of(call)]
        yield held_or(
            not lost,
            f"the user had the turn at the cancel and resumed, and call {' '.join(lost[:1])} did not run",
        )
    elif together:
        yield HELD


@check("CANCEL-2", rank=Rank.STATUS, requires=CANCEL)
def a_cancelled_run_has_its_reason(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run whose cancel met no race ends with reason Cancelled."""
    run, iteration = state.run_of(seen), state.iteration
    if run is None or run.cancel_at is None or state.met_a_race(run.cancelled_in) or run.finished:
        return
    if run.left_at is not None or (
        iteration is not None and (iteration.fault or _faulted_after(iteration, run))
    ):
        return
    code, stop = seen.reason.code, seen.reason.stop
    is_at_limit = stop is not None and stop.code == "max_iterations"
    if is_at_limit and iteration is not None and iteration.with_user_at_cancel:
        return  # the user resumed, and the limit was reached with that turn
    yield held_or(code == "Cancelled", f"the run was cancelled, and ended with reason {code}")


def _faulted_after(iteration: Iteration, run: Run) -> bool:
    return any(gate.kind in ("fault", "raise") for gate in iteration.entries)


@check("CANCEL-6", rank=Rank.STATUS, requires=CANCEL)
def a_response_after_a_cancel_is_what_is_kept(state: ObservedRunner, seen: Responded) -> CheckResults:
    """After a cancel a response is null, or one that was made before."""
    iteration = state.iteration
    pending = iteration.pending_response if iteration is not None else None
    if _cancelled(state) is None or iteration is None or pending is None or not pending.after_cancel:
        return
    made = any(one.seen is not None and one.seen.messages is not None for one in iteration.responses)
    nothing_to_run = not any(call.name in state.tools for call in iteration.calls)
    allowed = seen.messages is None or made or nothing_to_run
    yield held_or(allowed, "a response was asked for after the cancel, and one was given that was not kept")


def _handed_over(state: ObservedRunner) -> Iteration | None:
    run, iteration = _cancelled(state), state.iteration
    if run is None or iteration is None or not iteration.with_user_at_cancel:
        return None
    raced = iteration.cancelled_in is not None and state.met_a_race(iteration.cancelled_in)
    return None if raced else iteration


@check("CANCEL-3", rank=Rank.STATUS)
def a_late_cancel_changes_nothing(state: ObservedRunner) -> CheckResults:
    """A cancel of a run that is Done shows nothing."""
    if state.late_cancel:
        yield held_or(state.shown == 0, "a run that is Done was cancelled, and something happened")


@check("CANCEL-5", rank=Rank.STATUS, requires=CANCEL)
def a_running_tool_is_given_up_as_declared(state: ObservedRunner) -> CheckResults:
    """A tool that runs at the cancel is given up, or ends by itself, as declared."""
    run, iteration = state.run, state.iteration
    if run is None or iteration is None or run.cancel_at != state.stimuli or not state.alone:
        return
    inflight = [gate for gate in iteration.entries if _ran_at(gate, state.stimuli)]
    for gate in inflight:
        if state.policy("cancel.inflight") == "abort":
            yield held_or(gate.gone, f"the run was cancelled, and {gate.ref} was not given up")
        elif state.policy("cancel.inflight") == "drain":
            yield held_or(
                not gate.gone, f"the run was cancelled, and {gate.ref} was given up though it is to end"
            )


def _ran_at(gate: ObservedGate, stimulus: int) -> bool:
    return (
        gate.phase == "handling"
        and gate.at < stimulus
        and gate.outcome is None
        and (gate.is_open or bool(gate.gone))
    )


@counts("CANCEL-1", requires=CANCEL)
def a_cancelled_run_is_at_rest_without_a_request(state: ObservedRunner) -> CheckResults:
    """After a cancel no request was sent."""
    run = _cancelled(state)
    if run is not None:
        yield HELD


@check("CANCEL-7", at=("tool",), rank=Rank.CONSENT, requires=CANCEL)
def no_call_is_entered_twice_around_a_cancel(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """After a cancel no call is entered a second time."""
    iteration = state.iteration
    if _cancelled(state) is not None and iteration is not None and not iteration.has_doubled_ids:
        again = bool(iteration.entries_of(seen.call or ""))
        yield held_or(not again, f"the run was cancelled, and call {seen.call} was entered a second time")


@check("CANCEL-6", at=("tool",), rank=Rank.CONSENT, requires=CANCEL)
def a_response_after_a_cancel_enters_nothing(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """After a cancel, asking for a response enters no body."""
    iteration = state.iteration
    pending = iteration.pending_response if iteration is not None else None
    if _cancelled(state) is not None and pending is not None and pending.after_cancel:
        yield broken(f"a response was asked for after the cancel, and call {seen.call} was entered")


@check("CANCEL-8", at=("tool",), rank=Rank.CONSENT, requires=CANCEL)
def a_round_goes_no_further_after_a_cancel(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A call that was not entered before the cancel of its round is not entered after it."""
    run, iteration = _cancelled(state), state.iteration
    if run is None or iteration is None or run.cancel_at is None:
        return
    phase, response = state.phase(iteration)
    handed_over = run.cancel_met_a_race and "run" in state.values("cancel.handed_over")
    resumed_at = iteration.resumed_at if not handed_over else None
    if phase == "handling" and resumed_at is not None and resumed_at < run.cancel_at:
        yield broken(f"the run was cancelled during its round, and call {seen.call} was entered after it")
    if phase == "response" and response is not None and not iteration.responses[response].after_cancel:
        yield broken(
            f"the run was cancelled while a response was made, and call {seen.call} was entered after it"
        )


# -- tools


@check("CANCEL-4", at=("tool",), rank=Rank.CONSENT, requires=CANCEL)
def calls_of_a_turn_with_the_user_run_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The calls of a turn that was with the user at the cancel run only where the policy says so."""
    iteration = _handed_over(state)
    if iteration is not None and state.phase(iteration)[0] == "handling":
        allowed = "run" in state.values("cancel.handed_over")
        yield held_or(
            allowed, f"the run was cancelled while the user had the turn, and call {seen.call} was entered"
        )


@counts("CANCEL-7", requires=CANCEL)
def no_call_was_entered_twice_around_a_cancel(state: ObservedRunner) -> CheckResults:
    """A cancelled run has entered no call of its round again."""
    iteration = state.iteration
    if _cancelled(state) is not None and iteration is not None and iteration.entries:
        yield HELD


@counts("CANCEL-8", requires=CANCEL)
def a_round_stopped_at_the_cancel(state: ObservedRunner) -> CheckResults:
    """A round that was cancelled has entered no call since."""
    run, iteration = _cancelled(state), state.iteration
    if run is None or iteration is None or run.cancel_at is None or iteration.resumed_at is None:
        return
    if iteration.resumed_at < run.cancel_at and iteration.entries:
        yield HELD


@check("CANCEL-2", rank=Rank.STATUS, requires=CANCEL)
def a_cancelled_run_is_done(state: ObservedRunner) -> CheckResults:
    """A cancelled run is Done once nothing of it is under way and no yield is open."""
    run = _cancelled(state)
    if run is not None and not state.open_gates and state.shows_ends:
        yield held_or(run.is_done, "the run was cancelled and nothing of it is under way, and it did not end")
