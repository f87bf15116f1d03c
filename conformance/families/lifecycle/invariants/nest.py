"""NEST: a run within a call: its waits surface, a cancel reaches it, its results stand in its own history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from runlock.conformance.families.lifecycle.invariants import pair
from runlock.conformance.families.lifecycle.messages import GateOpened, Nested, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.nesting import (
    begins_anew,
    calls_within,
    leaves,
    runs_within,
)
from runlock.conformance.families.lifecycle.state.records import WORKING_GATES, ObservedCall, Run
from runlock.conformance.family.invariant import (
    HELD,
    CheckResult,
    CheckResults,
    broken,
    check,
    counts,
    held_or,
)
from runlock.conformance.family.rank import Rank

Opened = tuple[ObservedState, Run, GateOpened]

A_RUN_WITHIN: Final = "a run within a call"


def _opened(state: ObservedState, seen: Nested, *on: str) -> Iterator[Opened]:
    """The gate that a run within a call opens, with its run and state, if it is one of these."""
    inner, outer = state.nested.get(str(seen.run)), _outer(state, seen)
    if inner is None or inner.run is None or (outer is not None and outer.duplicate_id):
        return
    if isinstance(seen.seen, GateOpened) and seen.seen.on in on:
        yield inner.under(state.policies), inner.run, seen.seen


def _outer(state: ObservedState, seen: Nested) -> ObservedCall | None:
    """The call that a run is within; two calls of one id have runs of one id."""
    run = _around(state, seen)
    return run.calls.get(str(seen.run).rpartition("/")[2]) if run is not None else None


def _around(state: ObservedState, seen: Nested) -> Run | None:
    return state.runs.get(str(seen.run).rpartition("/")[0])


# --- waits --------------------------------------------------------------------------------------


@check("NEST-1", rank=Rank.LOST, requires=A_RUN_WITHIN)
def a_wait_within_is_a_wait_around(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run that comes to wait names the calls that wait in the runs within its calls."""
    run = state.run_of(seen)
    if run is None or seen.reason.code != "Suspended":
        return
    for _, inner, within in runs_within(state, run):
        waiting = _waiting(inner, within)
        told = [call for call in waiting if call.claimed is not None]
        for call in told:
            yield _names(seen, [call], within)
        if waiting and not told:
            yield _names(seen, waiting, within)


def _names(seen: SegmentEnded, waiting: list[ObservedCall], within: Run) -> CheckResult:
    named = any(call.id in seen.pending for call in waiting)
    return held_or(
        named, f"call {waiting[0].id} of run {within.id} waits, yet the run around it names it not"
    )


@check("NEST-1", at=("model",), rank=Rank.LOST, requires=A_RUN_WITHIN)
def a_wait_within_keeps_its_call_open(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The model is not shown a result of a call within which a call waits."""
    run = state.run_of(seen)
    if run is None or seen.messages is None or state.policy("round.mixed") != "wait":
        return
    for outer, inner, within in runs_within(state, run):
        waiting = _waiting(inner, within)
        if waiting and not run.disturbed_by(CANCEL, FAULT, CRASH, INPUT):
            shown = any(one.role == "tool" and one.call == outer.id for one in seen.messages)
            why = f"call {waiting[0].id} of run {within.id} waits, yet the model is shown a result of it"
            yield held_or(not shown, why)


def _waiting(inner: ObservedState, within: Run) -> list[ObservedCall]:
    """The calls that certainly wait: they say so, or nothing was decided about them and nothing runs."""
    if within.is_done or inner.gates_of(within) or within.disturbed_by(CANCEL, FAULT, CRASH, INPUT):
        return []
    told = [call for call in within.calls.values() if call.claimed == "Suspended" and not call.is_unclear]
    asking = [call for call in within.calls.values() if call.claimed is None and _asks(call)]
    return [call for call in told or asking if not call.decisions]


def _asks(call: ObservedCall) -> bool:
    asks = call.tool is not None and call.tool.permission == "ask"
    return asks and not (call.entries or call.is_unclear or call.raced)


# --- decisions ----------------------------------------------------------------------------------


@check("NEST-2", rank=Rank.CONSENT)
def a_call_within_runs_as_decided(state: ObservedState, seen: Nested) -> CheckResults:
    """A call within is executed if it needs no approval or has one, and once."""
    for inner, run, opened in _opened(state, seen, "tool"):
        call = inner.entering(opened)
        if call is not None:
            why = _why_not_to_run(call, inner)
            yield held_or(not why, f"call {call.id} of run {run.id} {why}, yet it was executed")


def _why_not_to_run(call: ObservedCall, inner: ObservedState) -> str:
    answered = [gate for gate in call.entries if gate.outcome is not None and gate.life == inner.life]
    kinds = [gate.outcome["kind"] for gate in answered if gate.outcome is not None]
    if call.rejection is not None:
        return "was rejected"
    if call.tool is not None and call.tool.permission == "ask" and not call.approvals:
        return "needs an approval, which no one gave"
    if call.executing:
        return "was executing"
    return f"had answered {kinds[-1]}" if kinds and kinds[-1] != "pending" else ""


@check("NEST-2", rank=Rank.CONSENT)
def nothing_within_is_begun_anew(state: ObservedState, seen: Nested) -> CheckResults:
    """A run within a call is begun once, while the runtime lives."""
    for inner, run, opened in _opened(state, seen, "model"):
        if run.steps and not run.crashes:
            anew = begins_anew(inner, opened)
            yield held_or(not anew, f"run {run.id} was under way, yet it began anew")


@check("NEST-2", rank=Rank.CONSENT, requires=A_RUN_WITHIN, excuses=(CANCEL, FAULT, CRASH, INPUT))
def a_decision_reaches_its_call_within(state: ObservedState) -> CheckResults:
    """Once all that waits is decided, what was approved within a call has been executed."""
    run = state.run
    if run is None or run.is_done or state.gates_of(run):
        return
    if any(call.waits and not call.decisions for call in leaves(state, run)):
        return
    for inner, within, call in calls_within(state, run):
        newest = call.decisions[-1] if call.decisions else None
        if newest is None or newest.answers is not call or newest.at != inner.stimuli or not newest.alone:
            continue
        if newest.turned_down:
            continue
        if newest.action == "resume" and call.waits and len(call.entries) == newest.entries_before:
            yield broken(f"decision {newest.id} for call {call.id} of run {within.id} had no effect")


# --- ends ---------------------------------------------------------------------------------------


@check("NEST-3", rank=Rank.CONSENT)
def nothing_begins_within_a_run_that_is_over(state: ObservedState, seen: Nested) -> CheckResults:
    """Once a run was cancelled, or is over, no run within a call of it opens a gate."""
    run = _around(state, seen)
    for _ in _opened(state, seen, *WORKING_GATES):
        if run is not None and run.is_done:
            yield broken(f"run {run.id} is over, yet run {seen.run} within it opened a gate")
        elif run is not None and run.cancel_settled and not run.disturbed_by(CRASH):
            yield broken(f"run {run.id} was cancelled, yet run {seen.run} within it opened a gate")


@check("NEST-3", rank=Rank.CONSENT, requires=A_RUN_WITHIN, excuses=(CRASH,))
def a_cancel_reaches_what_is_within(state: ObservedState) -> CheckResults:
    """A run that was cancelled, or is over, leaves nothing open within its calls."""
    run = state.run
    if run is None or not (run.is_done or run.cancel_settled):
        return
    drains = state.policy("cancel.inflight") != "abort" and not run.is_done
    for outer, _, within in runs_within(state, run):
        left = [gate for gate in state.gates_of(run) if gate.run == within.id and not gate.ignores_aborts]
        still = [gate for gate in left if gate.on != "tool" or not drains]
        how = "is over" if run.is_done else "was cancelled"
        if outer.step == run.steps:
            yield held_or(not still, f"run {run.id} {how}, yet a gate of run {within.id} within it is open")


# --- histories ----------------------------------------------------------------------------------

PAIRED: Final = (
    pair.every_call_has_its_result,
    pair.no_result_is_orphaned,
    pair.no_call_has_two_results,
    pair.no_finished_result_is_lost,
    pair.results_carry_their_own_ids,
)


@check("NEST-4", rank=Rank.HISTORY)
def a_history_within_is_whole(state: ObservedState, seen: Nested) -> CheckResults:
    """In the history of a run within a call, each call of it has its one result, and that is its own."""
    for inner, run, opened in _opened(state, seen, "model"):
        if not begins_anew(inner, opened):
            for check in PAIRED:
                for found in check(inner, opened):
                    yield found if found.ok else broken(f"in run {run.id}, {found.reason}")


@check("NEST-4", at=("model",), rank=Rank.LOST, requires=A_RUN_WITHIN)
def a_history_around_has_no_call_within(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The history of a run holds no call of a run within its calls."""
    run = state.run_of(seen)
    if run is None or seen.messages is None or not state.nested:
        return
    own = {call.id for one in state.runs.values() for call in one.every_call}
    within = {call.id: inner.id for _, inner, call in calls_within(state, run) if call.id not in own}
    shown = [one.id for message in seen.messages for one in message.tool_calls]
    shown += [message.call for message in seen.messages if message.call is not None]
    strays = [call for call in shown if call in within]
    for call in strays[:1]:
        yield broken(f"the model of run {run.id} was shown call {call} of run {within[call]}")
    if within and not strays:
        yield HELD


# --- results ------------------------------------------------------------------------------------


@check("NEST-5", at=("model",), rank=Rank.LOST, requires=A_RUN_WITHIN, excuses=(CANCEL, FAULT, CRASH, INPUT))
def a_run_within_gives_one_result(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What a run within a call said at its end is the one result of that call."""
    run = state.run_of(seen)
    if run is None or seen.messages is None or run.hooks:
        return
    ids = Counter(call.id for one in state.runs.values() for call in one.every_call)
    for outer, _, within in runs_within(state, run):
        said = _said_at_the_end(within)
        if not said or ids[outer.id] > 1 or outer.duplicate_id or outer.step != run.steps:
            continue
        shown = [one.text for one in seen.messages if one.role == "tool" and one.call == outer.id]
        if len(shown) > 1:
            yield broken(f"the run within call {outer.id} ended, and the call has {len(shown)} results")
        else:
            given = any(said in text for text in shown)
            yield held_or(given, f"the run within call {outer.id} said {said!r}, yet its result is {shown!r}")


def _said_at_the_end(within: Run) -> str:
    """What the model said in the turn that asked for no call."""
    last = within.last_turn
    if last is None or last["kind"] != "turn" or last.get("tool_calls") or not within.turn_alone:
        return ""
    if any(call.may_wait or (_asks(call) and not call.decisions) for call in within.calls.values()):
        return ""  # so that the run is not at its end
    return str(last.get("text", ""))


@check("NEST-5", rank=Rank.LOST, requires=A_RUN_WITHIN, excuses=(CANCEL, CRASH))
def a_failure_within_is_one_of_the_call(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Where a call that throws has failed, a run that fails within a call does not end the run around it."""
    run = state.run_of(seen)
    if run is None or run.faulted != A_RUN_WITHIN or state.policy("tool.raises") != "failed_call":
        return
    failed = any(within.faulted and outer.step == run.steps for outer, _, within in runs_within(state, run))
    if not failed:
        return
    ended = seen.reason.code == "Error"
    yield held_or(not ended, f"a run within a call failed, and with it run {run.id}: {seen.reason.detail}")


@counts("NEST-5", at=("model",), requires=A_RUN_WITHIN)
def a_failure_within_leads_to_the_model(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the failures of a run within a call after which the run around it went on."""
    run = state.run_of(seen)
    if run is not None and run.faulted == A_RUN_WITHIN and state.policy("tool.raises") == "failed_call":
        yield HELD


# --- recovery -----------------------------------------------------------------------------------


@check("NEST-6", rank=Rank.LOST)
def a_wait_within_outlives_a_crash(state: ObservedState, seen: Nested) -> CheckResults:
    """A run that waited within a call when the runtime was lost goes on on a decision, where it was."""
    if seen.run not in state.waited_at_crash:
        return
    for inner, run, opened in _opened(state, seen, *WORKING_GATES):
        decided = any(one.at > state.crashed_at for call in run.calls.values() for one in call.decisions)
        around = _around(state, seen)
        if around is None or around.disturbed_by(CANCEL, FAULT, INPUT):
            continue
        what = f"run {run.id} waited when the runtime was lost"
        if not decided:
            yield broken(f"{what}, yet without a decision its {opened.on} gate opened")
        elif begins_anew(inner, opened):
            yield broken(f"{what}, yet it began anew")
        else:
            yield held_or(not _had_answered(run, opened), f"{what}, yet what had answered was executed again")


def _had_answered(run: Run, opened: GateOpened) -> bool:
    call = run.calls.get(opened.call or "") if opened.on == "tool" else None
    answered = [gate for gate in call.entries if gate.outcome is not None] if call is not None else []
    return any((gate.outcome or {}).get("kind") in ("ok", "warning", "error") for gate in answered)


@check("NEST-6", rank=Rank.LOST, requires=A_RUN_WITHIN, excuses=(CANCEL, FAULT, INPUT))
def a_wait_within_can_be_decided_after_a_crash(state: ObservedState) -> CheckResults:
    """A decision for a call that waited within a call when the runtime was lost is not turned down."""
    run = state.run
    if run is None or not state.waited_at_crash or run.crashes != 1:
        return
    for inner, within, call in calls_within(state, run):
        since = [one for one in call.decisions if one.at > state.crashed_at]
        if call.id in state.waited_at_crash.get(within.id, ()) and len(since) == 1:
            one = since[0]
            if one.alone and one.at == inner.stimuli and one.batch == 1 and not one.repeats:
                why = f"call {call.id} of run {within.id} waited when the runtime was lost"
                alone = len(state.waited_at_crash) == 1 and len(state.waited_at_crash[within.id]) == 1
                if alone:
                    yield held_or(not one.turned_down, f"{why}, yet decision {one.id} was turned down")
