"""STOP: the limit of iterations."""

from __future__ import annotations

from runlock.conformance.families.tool_runner.invariants.looks import ends_by_fault, every, follows, some
from runlock.conformance.families.tool_runner.messages import RunFinished, RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.facts import is_paused
from runlock.conformance.families.tool_runner.state.plan import plans
from runlock.conformance.families.tool_runner.state.records import Iteration
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank


def counted(state: ObservedRunner) -> dict[str, int]:
    """What counts for the limit so far, by the values of `limit.counts`."""
    return {"requests": len(state.iterations), "turns": state.turns}


@check("STOP-4", at=("model",), rank=Rank.CONSENT)
def a_limit_of_zero_means_what_is_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A limit of 0 allows every request, or none."""
    if state.limit == 0:
        allowed = "no_limit" in state.values("limit.zero")
        yield held_or(allowed, "the limit is 0, which allows no request, and one was sent")


@check("STOP-4", rank=Rank.STATUS)
def a_limit_of_zero_ends_the_run_as_declared(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A limit of 0 ends the run before its first request only where the policy says so."""
    if state.limit == 0 and not state.is_cancelled and not state.iterations:
        allowed = "no_request" in state.values("limit.zero")
        yield held_or(allowed, "the limit is 0, which is no limit, and the run ended without a request")


@check("STOP-3", at=("model",), rank=Rank.CONSENT)
def the_limit_counts_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """After a request that failed, the limit counts requests or turns, as declared."""
    if not state.limit or not state.faults:
        return
    used = min(counted(state)[value] for value in state.values("limit.counts"))
    if counted(state)["requests"] >= state.limit:
        number = len(state.iterations) + 1
        yield held_or(
            used < state.limit,
            f"the limit of {state.limit} requests is used up, and request {number} was sent",
        )


@check("STOP-6", at=("model",), rank=Rank.CONSENT)
def nothing_sets_the_limit_back(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Nothing that the user does sets the limit back."""
    if state.limit and not state.faults and _was_acted_on(state):
        used = min(counted(state)[value] for value in state.values("limit.counts"))
        if used >= state.limit - 1:
            number = len(state.iterations) + 1
            reason = f"the limit is {state.limit} for the whole runner, and request {number} was sent"
            yield held_or(used < state.limit, reason)


def _was_acted_on(state: ObservedRunner) -> bool:
    again = state.run is not None and state.run.is_again
    acted = (one.touched or one.responses or one.changes_tools for one in state.iterations)
    return again or any(acted) or any(map(is_paused, state.iterations))


@check("STOP-1", at=("model",), rank=Rank.CONSENT)
def no_request_is_sent_beyond_the_limit(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """No request is sent beyond the limit."""
    if not state.limit:
        return
    used = min(counted(state)[value] for value in state.values("limit.counts"))
    number = len(state.iterations) + 1
    if not state.faults and used >= state.limit - 1 and not _was_acted_on(state):
        yield held_or(used < state.limit, f"the limit is {state.limit}, and request {number} was sent")


@check("STOP-3", rank=Rank.STATUS)
def a_retry_is_not_refused_before_the_limit(state: ObservedRunner) -> CheckResults:
    """A runner that counts turns sends a request again though the one that failed was the last."""
    run = state.taken_up
    if not state.limit or run is None or run.began_at != state.stimuli or run.after != "fault":
        return
    if state.is_cancelled or state.policy("again.fault") != "retries" or not state.iterations:
        return
    failed = state.iterations[-1 - (run.requests > 0)]
    used = counted(state)[state.policy("limit.counts") or "requests"] - (run.requests > 0)
    if failed.fault and state.policy("limit.counts") == "turns" and used < state.limit:
        yield held_or(
            run.requests, f"the limit of {state.limit} turns is not used up, and no request was sent"
        )


@check("STOP-2", rank=Rank.OTHER)
def a_run_is_not_stopped_before_its_limit(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run is stopped by its limit only when that is used up."""
    if seen.reason.code != "Stopped" or state.is_cancelled or state.limit == 0:
        return
    if _is_ended_by_its_turn(state):
        return  # the reason of that end is judged elsewhere
    if state.faults and state.limit is not None:
        return
    if state.limit is None:
        yield broken("the run was stopped by a limit, and there is none")
        return
    used = max(counted(state)[value] for value in state.values("limit.counts"))
    yield held_or(used >= state.limit, f"the run was stopped after {used} of {state.limit} iterations")


@counts("STOP-1")
def the_limit_ends_the_run(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run that has used its limit up ends."""
    if state.iteration is not None and follows(state) == "iteration" and state.limit:
        last = _stopped(state)
        if last is not None and not some(state, last, lambda plan: plan.may_request):
            yield HELD


@check("STOP-3", rank=Rank.STATUS)
def a_run_is_stopped_by_what_counts(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """After a request that failed, a run is stopped only when what counts is used up."""
    if seen.reason.code == "Stopped" and state.limit and state.faults and not state.is_cancelled:
        used = max(counted(state)[value] for value in state.values("limit.counts"))
        yield held_or(used >= state.limit, f"the run was stopped after {used} of {state.limit} that count")


@counts("STOP-2")
def an_end_that_only_the_limit_explains_was_due(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A limit that is reported as a natural end: nothing else explains it, and the limit is used up."""
    if seen.reason.code == "NaturalEnd" and state.limit and not state.faults and _stopped(state) is not None:
        yield HELD


@counts("STOP-3")
def an_end_instead_of_a_retry_was_due(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """A run that was to try again ended without a request, and what counts is used up."""
    run = state.run_of(seen)
    if run is None or run.after != "fault" or run.requests or state.is_cancelled:
        return
    if state.limit and min(counted(state)[value] for value in state.values("limit.counts")) >= state.limit:
        yield HELD


def _is_ended_by_its_turn(state: ObservedRunner) -> bool:
    """Whether a final turn may have ended the run, and not its limit."""
    last = state.iteration
    if last is None or last.turn is None or not last.goes_on:
        return False
    may_end = some(state, last, lambda plan: plan.may_end)
    return may_end and not every(state, last, lambda plan: "stop" in plan.next)


@check("STOP-5", rank=Rank.STATUS)
def the_calls_of_the_last_turn_are_drained_as_declared(
    state: ObservedRunner, seen: RunFinished
) -> CheckResults:
    """Where the last turn is drained, its calls have run when the run ends."""
    last = _stopped(state)
    if last is None or last.touched or not last.calls:
        return
    wanted = [set(plan.must_enter()) for plan in plans(state, last)]
    together = set.intersection(*wanted) if wanted else set()
    if together:
        lost = [call for call in sorted(together) if not _ran(last, call)]
        yield held_or(
            not lost, f"call {' '.join(lost[:1])} of the last turn was not run before the run ended"
        )
    elif every(state, last, lambda plan: bool(plan.calls) and not any(plan.enter.values())):
        yield held_or(not any(gate.phase == "handling" for gate in last.entries), "a preempted call was run")


def _ran(iteration: Iteration, call: str) -> bool:
    return any(gate.phase in ("handling", "request", "yield") for gate in iteration.entries_of(call))


def _stopped(state: ObservedRunner) -> Iteration | None:
    """The iteration at whose end the limit stops the run."""
    last = state.iteration
    if last is None or not last.goes_on or last.turn is None or state.is_cancelled or last.has_doubled_ids:
        return None
    if ends_by_fault(state, last) or (last.left_at is not None and last.taken_up_at is None):
        return None
    return last if every(state, last, lambda plan: plan.next == frozenset({"stop"})) else None
