"""CANCEL: after a cancel nothing new begins, and the run ends as Cancelled."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    GateOpened,
    MessageAppended,
    RunMoved,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CRASH, FAULT
from runlock.conformance.families.lifecycle.state.records import (
    WORKING_GATES,
    ObservedCall,
    ObservedGate,
    Run,
)
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import GateClosed, Observation


@check(
    "CANCEL-1", at=("model", "permission", "tool"), rank=Rank.CONSENT, requires="a cancel", excuses=(CRASH,)
)
def nothing_new_begins_after_a_cancel(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Once the answer to the cancel is complete, no new model, permission or tool gate opens."""
    run = state.run_of(seen)
    if run is None or run.cancel_at is None or seen.on not in WORKING_GATES or run.is_done:
        return
    if run.cancel_settled:
        what = f"call {seen.call} opened a {seen.on} gate" if seen.call else f"a {seen.on} gate opened"
        yield broken(f"the run was cancelled, yet {what}")


@check("CANCEL-1", rank=Rank.CONSENT, requires="a cancel", excuses=(CRASH,))
def nothing_new_has_begun_after_a_cancel(state: ObservedState) -> CheckResults:
    """What opened in the answer to a cancel that met no race has been given up by its end."""
    run = state.run
    if run is None or not run.cancel_settled or run.cancel_at is None:
        return
    late = [g for g in state.gates_of(run) if g.on in WORKING_GATES and g.at >= run.cancel_at]
    what = (
        f"call {late[0].opened.call} opened a {late[0].on} gate"
        if late and late[0].call
        else "a model gate opened"
    )
    yield held_or(not (late and run.cancel_alone), f"the run was cancelled, yet {what}")


@check("CANCEL-2", rank=Rank.STATUS, requires="a cancel")
def a_cancelled_run_ends_as_Cancelled(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run whose cancel met no race ends with reason Cancelled."""
    run = state.run_of(seen)
    if run is None or not _certain(run):
        return
    code = seen.reason.code
    yield held_or(code == "Cancelled", f"the run was cancelled, yet it ended as {code}")


@check("CANCEL-3", rank=Rank.STATUS, requires="a cancel", excuses=(CRASH,))
def a_cancelled_wait_is_over(state: ObservedState) -> CheckResults:
    """A cancel ends a run that waits."""
    run = state.run
    if run is None or run.cancel_at is None or run.cancel_status != "Waiting":
        return
    if not state.gates_of(run):
        yield held_or(run.is_done, "the run was cancelled while it waited, yet it still waits")


@check("CANCEL-2", rank=Rank.STATUS, requires="a cancel", excuses=(CRASH,))
def a_cancelled_run_is_Done(state: ObservedState) -> CheckResults:
    """A cancelled run is Done as soon as nothing of it is under way."""
    run = state.run
    if run is None or run.cancel_at is None or state.gates_of(run):
        return
    yield held_or(run.is_done, "the run was cancelled and nothing of it is under way, yet it is not Done")


@check("CANCEL-4", seeing=(GateOpened,), rank=Rank.CONSENT, requires="a cancel")
@check("CANCEL-4", seeing=(SegmentEnded,), rank=Rank.STATUS)
@check(
    "CANCEL-4",
    seeing=(
        RunMoved,
        CallMoved,
    ),
    rank=Rank.STATUS,
    requires="a cancel",
)
def a_cancel_of_a_done_run_changes_nothing(state: ObservedState, seen: Observation) -> CheckResults:
    """A cancel of a run that is Done changes nothing."""
    run = state.run
    if run is None or not _cancel_of_done(state, run):
        return
    if isinstance(seen, GateOpened | SegmentEnded | RunMoved | CallMoved):
        yield broken(f"the run was Done when it was cancelled, yet it showed {seen.kind}")


@check("CANCEL-4", rank=Rank.STATUS, requires="a cancel", excuses=(FAULT, CRASH))
def a_cancel_is_nothing_to_a_later_run(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A cancel of a run that is Done does not end the next one on its thread."""
    run = state.run_of(seen)
    cancelled = [one.id for one in state.runs.values() if one.was_sent_cancel]
    if run is None or not cancelled or run.id in cancelled:
        return
    if not run.began_alone:
        return
    was = f"a cancel came for run {cancelled[-1]}, which is Done"
    why = f"{was}, yet run {run.id}, which nobody cancelled, ended as Cancelled"
    yield held_or(seen.reason.code != "Cancelled", why)


@counts("CANCEL-4", requires="a cancel")
def a_cancel_of_a_done_run_was_idle(state: ObservedState) -> CheckResults:
    """Counts the cancels of a Done run that changed nothing."""
    run = state.run
    if run is not None and _cancel_of_done(state, run):
        yield HELD


def _cancel_of_done(state: ObservedState, run: Run) -> bool:
    is_cancel = len(state.newest) == 1 and state.newest[0][0] == "cancel" and state.alone
    return is_cancel and run.is_done and run.cancel_at != state.stimuli


@check("CANCEL-5", rank=Rank.STATUS, requires="a cancel", excuses=(CRASH,))
def a_cancel_aborts_what_runs(state: ObservedState) -> CheckResults:
    """Where a cancel aborts, a tool that ran is given up; where it drains, the tool ends by itself."""
    run = state.run
    mode = state.policy("cancel.inflight")
    if run is None or run.cancel_at is None or mode is None:
        return
    if mode == "abort" and run.cancel_settled:
        at_work = [gate for gate in state.gates_of(run) if gate.on == "tool" and not gate.is_left]
        running = [gate for gate in at_work if not gate.ignores_aborts]
        if running:
            yield broken(f"the cancel aborts, yet call {running[0].opened.call} is still executing")
        elif not at_work:
            yield HELD
    elif mode == "drain" and not run.is_done and any(gate.on == "tool" for gate in state.gates_of(run)):
        yield HELD


@check("CANCEL-5", rank=Rank.STATUS)
def a_draining_cancel_gives_nothing_up(state: ObservedState, seen: GateClosed) -> CheckResults:
    """Where a cancel drains, no tool that ran is given up."""
    gate = state.gates.get(seen.gate)
    if gate is None or gate.on != "tool" or state.policy("cancel.inflight") != "drain":
        return
    if state.runs[gate.run].cancel_at is not None and not state.runs[gate.run].disturbed_by(FAULT):
        yield broken(f"the cancel drains, yet the body of call {gate.opened.call} was given up")


@check("CANCEL-6", rank=Rank.STATUS, requires="a cancel")
def a_cancelled_call_is_Cancelled(state: ObservedState) -> CheckResults:
    """When a cancel has ended the run, a call that was suspended is Cancelled, if it was closed at all."""
    run = state.run
    if run is None or run.cancel_at is None or not run.is_done or not state.observes("call.status"):
        return
    for call in run.calls.values():
        gave_up = [gate for gate in call.executions if gate.gone is not None and gate.gone != "crash"]
        if gave_up and call.result is None and not call.is_unclear and call.claimed is not None:
            wrong = call.claimed in ("Succeeded", "Failed")
            yield held_or(not wrong, f"the body of call {call.id} was given up, yet it {call.claimed}")


@check("CALL-6", rank=Rank.STATUS, requires="a cancel")
def an_aborted_call_is_Cancelled(state: ObservedState) -> CheckResults:
    """A call whose body was given up for a cancel is Cancelled, whatever becomes of live calls elsewhere."""
    run = state.run
    ended = run.ended.code if run is not None and run.ended is not None else ""
    if run is None or ended != "Cancelled" or not _certain(run) or state.gates_of(run):
        return
    for call in run.calls.values():
        aborted = bool(call.entries) and call.entries[-1].gone is not None
        if aborted and not call.is_unclear and call.claimed is not None:
            why = f"the body of call {call.id} was given up for the cancel, yet it is {call.claimed}"
            yield broken(why) if call.claimed in ("Running", "Resuming") else HELD


@check("CANCEL-8", rank=Rank.STATUS, requires="a cancel")
def waits_end_alike(state: ObservedState) -> CheckResults:
    """Of the calls that wait when their runs are cancelled, all are Cancelled, or all are left."""
    run = state.run
    if run is None or run.ended is None or run.ended.code != "Cancelled" or state.gates_of(run):
        return
    ways: dict[str, str] = {}
    for one in state.runs.values():
        if one.ended is not None and one.ended.code == "Cancelled" and _certain(one):
            ways |= {call.claimed or "": call.id for call in one.calls.values() if _waited_at_the_end(call)}
    if {"Suspended", "Cancelled"} <= ways.keys():
        closed, left = ways["Cancelled"], ways["Suspended"]
        yield broken(
            f"a cancel of the run left call {left} Suspended, yet call {closed} became Cancelled by one"
        )
    elif ways:
        yield HELD


def _waited_at_the_end(call: ObservedCall) -> bool:
    """Whether nothing but the end of its run can have ended the wait of the call, if anything has."""
    closed = (call.before_claim, call.claimed) == ("Suspended", "Cancelled")
    return (closed or call.claimed == "Suspended") and not (
        call.decisions or call.is_unclear or call.input_at
    )


def _certain(run: Run) -> bool:
    return run.cancel_at is not None and run.cancel_alone and not run.disturbed_by(FAULT, CRASH)


@check("CANCEL-7", at=("model",), rank=Rank.LOST, requires="a cancel")
def results_before_a_cancel_are_treated_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What had finished before a cancel stays in the history, or is dropped, as cancel.results says."""
    policy = state.policy("cancel.results")
    if seen.messages is None or policy is None:
        return
    for run, call, said in _cut_off(state):
        shown = any(said in m.text for m in seen.messages if m.role == "tool" and m.call == call.id)
        why = f"the tool of call {call.id} answered {said!r} before run {run.id} was cancelled"
        if policy == "kept":
            yield held_or(shown, f"{why}, which is kept, yet the model was not shown that")
        elif state.policy("durability") != "call" and not _is_whole(run, call.step):
            yield held_or(not shown, f"{why}, which is dropped, yet the model was shown that")


def _is_whole(run: Run, step: int) -> bool:
    """Whether every call of a round has answered after all, so that the cancel cut nothing off."""
    return all(call.result is not None for call in run.calls.values() if call.step == step)


def _cut_off(state: ObservedState) -> Iterator[tuple[Run, ObservedCall, str]]:
    """The calls that had answered, with a text, in a round that a cancel cut off."""
    for run in state.runs.values():
        cancelled = run.ended is not None and run.ended.code == "Cancelled"
        for call in run.cut_off if cancelled and not run.disturbed_by(CRASH) else ():
            content = call.result.get("content") if call.result is not None else None
            if isinstance(content, str) and content:
                yield run, call, content


@check("CANCEL-9", seeing=(GateOpened,), rank=Rank.CONSENT, requires="a cancel")
@check("CANCEL-9", seeing=(MessageAppended, CallMoved, RunMoved, SegmentEnded), rank=Rank.STATUS)
def a_late_answer_changes_nothing(state: ObservedState, seen: Observation) -> CheckResults:
    """What a tool answers after its run has ended is followed by no step, no message and no status."""
    late = _late_answer(state)
    if late is None or (isinstance(seen, CallMoved) and seen.to == "Cancelled"):
        return
    what = f"a {seen.on} gate opened" if isinstance(seen, GateOpened) else f"it showed {seen.kind}"
    yield broken(f"call {late.opened.call} answered after its run had ended, yet {what}")


@counts("CANCEL-9", requires="a cancel")
def a_late_answer_was_met_with_silence(state: ObservedState) -> CheckResults:
    """Counts the answers that came after the end of their run and changed nothing."""
    if _late_answer(state) is not None:
        yield HELD


def _late_answer(state: ObservedState) -> ObservedGate | None:
    """The tool that has just answered, alone, though its run had ended while it was at work."""
    method, params = state.newest[0] if state.newest else ("", {})
    gate = state.gates.get(params["gate"]) if method == "gate.release" and state.alone else None
    return gate if gate is not None and gate.is_left and state.runs[gate.run].is_done else None


@check("CANCEL-9", at=("model",), rank=Rank.LOST, requires="a cancel")
def a_late_answer_is_no_result(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a cancel aborts, the model is never shown what an aborted tool answered later."""
    if seen.messages is None or state.policy("cancel.inflight") != "abort":
        return
    shown = {m.call: m.text for m in seen.messages if m.role == "tool"}
    for gate in _late_answers(state):
        said = (gate.outcome or {}).get("content")
        why = f"call {gate.opened.call} answered {said!r} after its run had been cancelled"
        yield held_or(said != shown.get(gate.opened.call), f"{why}, yet the model is shown that")


def _late_answers(state: ObservedState) -> Iterator[ObservedGate]:
    """The bodies that answered something after a cancel had ended their run."""
    for run in state.runs.values():
        cancelled = run.ended is not None and run.ended.code == "Cancelled"
        for call in run.calls.values() if cancelled and not run.disturbed_by(CRASH) else ():
            yield from (g for g in call.entries if g.is_left and (g.outcome or {}).get("content"))
