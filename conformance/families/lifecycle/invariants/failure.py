"""ROUND: what the failure of a call costs, and what becomes of the calls after it."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.families.lifecycle.messages import GateOpened, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import GateClosed


@check("ROUND-6", rank=Rank.LOST, requires="calls", excuses=(CANCEL, FAULT, CRASH))
def a_block_does_what_was_declared(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A block ends the run with reason Blocked, or only fails its call, as round.block says."""
    run, policy = state.run_of(seen), state.policy("round.block")
    if run is None or policy is None:
        return
    code = seen.reason.code
    if code == "Blocked":
        yield (
            HELD
            if run.is_blocked and policy == "end_run"
            else (
                broken("a block fails its call alone, yet the run ended as Blocked")
                if run.is_blocked
                else broken("nothing was blocked, yet the run ended as Blocked")
            )
        )


@check("ROUND-7", at=("model", "permission", "tool"), rank=Rank.LOST, excuses=(CANCEL, CRASH))
def nothing_runs_after_a_block(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a block ends the run, nothing of the run runs after it."""
    run = state.run_of(seen)
    if run is None or state.policy("round.block") != "end_run":
        return
    if not state.alone:
        return
    blocked = [call.id for call in run.every_call if call.last_verdict == "block"]
    what = f"call {seen.call} opened a {seen.on} gate" if seen.call else f"a {seen.on} gate opened"
    if blocked:
        yield broken(f"call {blocked[0]} was blocked, which ends the run, yet {what}")


@counts("ROUND-7", requires="calls", excuses=(CANCEL, CRASH))
def nothing_has_run_after_a_block(state: ObservedState) -> CheckResults:
    """Counts the quiescent points after a block at which nothing had run since."""
    run = state.run
    if run is None or state.policy("round.block") != "end_run":
        return
    if run.is_blocked:
        yield HELD


def _raised(state: ObservedState, run: Run | None) -> bool:
    """Whether the newest thing that broke in the run is the body of a tool, which threw and met no race."""
    certain = run is not None and run.faulted == "raise" and run.fault_alone
    return certain and run is not None and not (run.disturbed_by(CANCEL, CRASH))


@check("ROUND-8", rank=Rank.LOST, requires="a fault")
def a_raise_ends_the_run_or_not(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """The segment in which a tool threw ends as tool.raises says: that costs its call, or the run."""
    run, policy = state.run_of(seen), state.policy("tool.raises")
    if run is None or not _raised(state, run):
        return
    if any(one is not seen for one in run.finished[run.ended_before_fault :]):
        return  # another segment has ended since, and taken it in
    code = seen.reason.code
    if policy == "failed_call":
        yield held_or(code != "Error", "a tool threw, which costs its call, yet the run ended as Error")
    elif policy == "end_run":
        yield held_or(code == "Error", f"a tool threw, which ends the run, yet it ended as {code}")


@check("ROUND-8", at=("model",), rank=Rank.LOST, requires="a fault")
def a_raise_leads_to_the_model_or_not(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After an exception in a tool that costs the run, the model is not asked again."""
    run, policy = state.run_of(seen), state.policy("tool.raises")
    if _raised(state, run) and policy is not None:
        ends = policy == "end_run"
        yield held_or(not ends, "a tool threw, which ends the run, yet the model is asked")


@check("ROUND-11", at=("model",), rank=Rank.LOST, requires="calls", excuses=(CANCEL, FAULT, CRASH, INPUT))
def a_failure_leaves_no_sibling_out(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where failures are isolated, the model is asked only when each free call of the round was entered."""
    run = state.run_of(seen)
    failed = _failed_first(run, run.steps) if run is not None else None
    if run is None or failed is None or state.policy("round.failure") != "isolated":
        return
    for call in free_calls(run, run.steps):
        why = f"call {failed.id} failed, yet call {call.id}, which nothing holds back, was not entered"
        if call is not failed:
            yield held_or(call.entries, why)


@check("ROUND-11", at=("tool",), rank=Rank.LOST, requires="calls", excuses=(CANCEL, FAULT, CRASH, INPUT))
def nothing_begins_after_a_failure(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a failure ends the round, no call of it is entered for the first time after that."""
    run, call = state.run_of(seen), state.entering(seen)
    if run is None or call is None or call.entries or call.decisions:
        return
    failed = _failed_first(run, call.step)
    if failed is not None and state.policy("round.failure") == "cancels_rest":
        yield broken(f"call {failed.id} failed, which ends its round, yet call {call.id} is entered")


@counts("ROUND-11", at=("model",), requires="calls", excuses=(CANCEL, FAULT, CRASH, INPUT))
def nothing_has_begun_after_a_failure(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the rounds that a failure has ended."""
    run = state.run_of(seen)
    if run is not None and state.policy("round.failure") == "cancels_rest" and _failed_first(run, run.steps):
        yield HELD


@check(
    "ROUND-11",
    rank=Rank.STATUS,
    requires="calls",
    excuses=(CANCEL, FAULT, CRASH, INPUT),
    is_deferred=True,
)
def a_failure_takes_no_sibling_down(state: ObservedState, seen: GateClosed) -> CheckResults:
    """Where failures are isolated, the body of no sibling is given up for one."""
    gate = state.gates.get(seen.gate)
    released = [params for method, params in state.newest if method == "gate.release"]
    failed = [one["gate"] for one in released if one["outcome"]["kind"] == "error"]
    if gate is None or gate.on != "tool" or not failed or len(state.newest) > 1:
        return
    other = state.gates[failed[0]].call if failed[0] in state.gates else None
    if other is not None and gate.call is not other and state.policy("round.failure") == "isolated":
        yield broken(f"call {other.id} failed, and the body of call {gate.opened.call} was given up")


def free_calls(run: Run, step: int) -> Iterator[ObservedCall]:
    """The calls of a round that nothing holds back."""
    for call in run.calls.values():
        is_free = call.tool is not None and call.tool.permission == "allow" and not call.is_unclear
        if call.step == step and is_free and not (call.raced or call.decisions):
            yield call


def _failed_first(run: Run, step: int) -> ObservedCall | None:
    """The free call of a round that answered with an error, where none of it has come to wait."""
    calls = [call for call in run.calls.values() if call.step == step]
    if any(call.may_have_waited or call.is_unclear or call.last_verdict == "block" for call in calls):
        return None
    failed = (c for c in free_calls(run, step) if c.result is not None and c.result["kind"] == "error")
    return next((call for call in failed if call.entries[-1].alone), None)


def _left_behind(state: ObservedState, run: Run, call: ObservedCall) -> ObservedCall | None:
    """The call before it in its round whose body answered pending before this one was reached."""
    if state.policy("round.executor") != "sequential" or call.is_unclear or call.decisions:
        return None
    if call.tool is None or call.tool.permission != "allow" or run.disturbed_by(CANCEL, CRASH, INPUT):
        return None
    for other in run.calls.values():
        if other is call:
            return None
        if other.step == call.step and not other.is_unclear and other.tool is not None and other.entries:
            first = other.entries[0]
            parked = (first.outcome or {}).get("kind") == "pending" and first.alone
            if parked and other.tool.permission == "allow":
                return other
    return None


@check("ROUND-9", at=("tool",), rank=Rank.LOST)
def the_rest_does_not_run(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where the rest of a sequential round fails, no call of it runs."""
    run, call = state.run_of(seen), state.entering(seen)
    if run is None or call is None or call.entries or state.policy("round.rest") != "failed":
        return
    before = _left_behind(state, run, call)
    if before is not None:
        yield broken(f"call {call.id} is to fail after call {before.id}, which was suspended, yet it runs")


@check("ROUND-9", at=("model",), rank=Rank.LOST, requires="calls")
def the_rest_is_dealt_with(state: ObservedState, seen: GateOpened) -> CheckResults:
    """By the next inference the calls after a suspension have failed, or have run, as round.rest says."""
    run, policy = state.run_of(seen), state.policy("round.rest")
    if run is None or seen.messages is None:
        return
    for call in run.calls.values():
        before = _left_behind(state, run, call)
        if before is None or policy is None:
            continue
        requires = f"call {call.id} follows call {before.id}, which was suspended"
        if policy == "failed":
            told = any(m.call == call.id and m.status in ("error", None) for m in seen.messages)
            yield held_or(told, f"{requires}, yet the model is shown no error for it")
        elif call.entries or not _may_end_at_a_failure(state, run, call.step):
            yield held_or(bool(call.entries), f"{requires}, and was to be held back, yet it has not run")


def _may_end_at_a_failure(state: ObservedState, run: Run, step: int) -> bool:
    """Whether a call of the round has failed, and that may have ended the round."""
    ran = [call for call in run.calls.values() if call.step == step and call.entries]
    outcomes = [entry.outcome or {} for call in ran for entry in call.entries[-1:]]
    failed = any(outcome.get("kind") in ("error", "raise") for outcome in outcomes)
    return failed and state.policy("round.failure") != "isolated"


@check("ROUND-10", at=("Error",), rank=Rank.LOST, excuses=(CANCEL, FAULT, CRASH))
def a_failed_call_does_not_end_the_run(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """The failure of a call is no reason for the run to end as Error."""
    run = state.run_of(seen)
    if run is None or state.policy("round.block") != "fail_call":
        return
    failed = [(call, why) for call, why in _failures(run) if call.step == run.steps]
    if failed:
        call, why = failed[-1]
        yield broken(
            f"call {call.id} failed, since {why}, which the model is to be told, yet the run ended as Error"
        )


@check("ROUND-10", at=("model",), rank=Rank.LOST, requires="calls", excuses=(CRASH,))
def a_failed_call_is_shown(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The failure of a call is a result that the model is shown."""
    run = state.run_of(seen)
    if run is None or seen.messages is None:
        return
    if state.policy("round.block") != "fail_call":
        return
    for call, why in _failures(run):
        shown = [m for m in seen.messages if m.call == call.id and m.role == "tool"]
        right = any(m.status in ("error", None) for m in shown)
        yield held_or(right, f"call {call.id} failed, since {why}, yet the model is shown no error for it")


REFUSED = {
    "": "there is no tool {}",
    "not offered": "the tool {} is not offered",
    "unfit": "its arguments do not fit the tool {}",
}


def _failures(run: Run) -> Iterator[tuple[ObservedCall, str]]:
    """The calls that certainly failed as a call may, and how."""
    for call in run.calls.values():
        if call.is_unclear or call.raced or call.decisions:
            continue
        if call.tool is None:
            yield call, REFUSED[call.refused_for].format(call.name)
        elif call.last_verdict == "block":
            yield call, "it was blocked"
        elif call.result is not None and call.result["kind"] == "error":
            yield call, "its tool answered with an error"


def _could_not_be_applied(run: Run | None) -> bool:
    return run is not None and run.faulted == "apply" and run.fault_alone and not run.disturbed_by(CANCEL)


@check("RUN-28", rank=Rank.STATUS, requires="a fault")
def results_that_cannot_be_applied_end_the_run(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run whose results could not be applied to its state ends as Error."""
    if _could_not_be_applied(state.run_of(seen)):
        why = f"results could not be applied to the state, yet the run ended as {seen.reason.code}"
        yield held_or(seen.reason.code == "Error", why)


@check("RUN-28", at=("model", "permission", "tool"), rank=Rank.STATUS, requires="a fault")
def nothing_goes_on_from_half_a_state(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run whose results could not be applied opens no working gate."""
    if _could_not_be_applied(state.run_of(seen)):
        yield broken(f"results could not be applied to the state, yet a {seen.on} gate opens")
