"""DECIDE: the wait of a parked run: what wakes it, in which order, and what it is left for."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.invariants.decision_window import arrived, may_be_left_out, rests
from runlock.conformance.families.lifecycle.messages import CallMoved, GateOpened, RunMoved, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import WORKING_GATES, ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank


def _parks(state: ObservedState) -> bool:
    return (state.policy("waiting"), state.policy("decision.window")) == ("parked", "waiting")


@check("DECIDE-40", rank=Rank.LOST, requires="a decision")
def decisions_wake_a_parked_run(state: ObservedState) -> CheckResults:
    """A parked run moves as soon as decisions for its calls arrive, one or several at a time."""
    found = arrived(state)
    if found is None or not _parks(state) or may_be_left_out(*found) or any(d.turned_down for d in found[1]):
        return
    run, decisions = found
    asleep = not state.gates_of(run) and all(rests(d) for d in decisions)
    why = f"the run is parked and decision {decisions[0].id} for its call {decisions[0].call} arrived"
    yield held_or(not asleep, f"{why}, yet nothing has moved")


@check("DECIDE-41", at=("Resuming",), rank=Rank.LOST)
def a_decision_is_known_before_its_call_resumes(state: ObservedState, seen: CallMoved) -> CheckResults:
    """Decisions that wake a parked run are made known before their calls are resuming."""
    call = state.call_of(seen)
    if call is None or call.is_unclear or call.claimed != "Suspended":
        return
    if not _parks(state) or state.runs[call.run].disturbed_by(CRASH) or not state.observes("decision"):
        return
    taken = [d for d in call.decisions if d.answers is call and d.in_suspension == call.suspensions]
    if taken:
        known = any(d.disposition is not None for d in taken)
        why = f"call {call.id} is resuming on decision {taken[-1].id}"
        yield held_or(known, f"{why}, yet that has not been made known")


@check("DECIDE-42", at=("permission", "tool"), rank=Rank.LOST)
def all_are_resuming_before_one_is_replayed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """All decided calls of a parked run are resuming before any of them is replayed."""
    call, found = state.call_of(seen), arrived(state)
    if call is None or found is None or not _parks(state):
        return
    batch = [d for d in found[1] if d.action == "resume"]
    others = [d for d in batch if d.answers is not call]
    if len(others) == len(batch) or not others:
        return
    late = [d.call for d in others if rests(d)]
    yield (
        HELD
        if not late
        else broken(f"call {call.id} is replayed, yet call {late[0]}, decided with it, is Suspended")
    )


@check("DECIDE-43", rank=Rank.LOST, requires="a decision", excuses=(CRASH,))
def a_resolved_wait_leads_to_the_model(state: ObservedState) -> CheckResults:
    """A parked run of which no call is suspended any more goes on to its next inference."""
    run = state.run
    if run is None or not _parks(state) or run.is_done or state.gates_of(run):
        return
    formerly = any(call.claimed == "Suspended" for call in run.calls.values())  # set aside for an input
    if _is_resolved(run) and not formerly:
        yield broken("no call of the parked run is suspended any more, yet the model is not asked")


@counts("DECIDE-43", at=("model",), requires="a decision")
def a_resolved_wait_led_to_the_model(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the waits that were resolved and led to the next inference."""
    run = state.run_of(seen)
    if run is not None and _parks(state) and _is_resolved(run):
        yield HELD


def _is_resolved(run: Run) -> bool:
    """Whether each call of the newest round is over, and one of them was decided while the run waited."""
    newest = [call for call in run.calls.values() if call.step == run.steps and call.claimed is not None]
    decided = any(d.at_rest and d.answers is call for call in newest for d in call.decisions)
    return decided and all(call.is_final and not call.is_unclear for call in newest)


def _part(run: Run) -> tuple[ObservedCall, ObservedCall] | None:
    """A call of the newest round that was replayed in the wait, and one that has no decision."""
    newest = [call for call in run.calls.values() if call.step == run.steps and not call.is_unclear]
    replayed = [c for c in newest if c.is_final and any(d.at_rest and d.answers is c for d in c.decisions)]
    waiting = [c for c in newest if c.claimed == "Suspended" and not c.decisions]
    return (replayed[0], waiting[0]) if replayed and waiting else None


@check("DECIDE-44", at=("model",), rank=Rank.LOST, requires="a decision", excuses=(CRASH, INPUT))
def a_part_does_not_end_the_wait(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A parked run of which a call is still suspended after a replay goes on waiting."""
    run = state.run_of(seen)
    if run is None or not _parks(state):
        return
    found = _part(run)
    if found is not None:
        over, waiting = found
        yield broken(
            f"call {over.id} is over and call {waiting.id} is still suspended, yet the model is asked"
        )


@counts("DECIDE-44", requires="a decision")
def a_part_has_not_ended_the_wait(state: ObservedState) -> CheckResults:
    """Counts the parked runs that go on waiting after a part of their calls was decided."""
    run = state.run
    if run is None or not _parks(state) or state.gates_of(run) or run.is_done:
        return
    if run.claimed in ("Waiting", None) and _part(run) is not None:
        yield HELD


@check("DECIDE-45", rank=Rank.LOST, requires="a cancel", excuses=(CRASH,))
def a_cancel_ends_the_wait(state: ObservedState) -> CheckResults:
    """A cancel ends the wait of a parked run."""
    run = state.run
    if run is None or run.cancel_at is None or not _parks(state):
        return
    if run.cancel_status == "Waiting" and not state.gates_of(run):
        yield held_or(run.is_done, "the run was cancelled while it was parked, yet it still waits")


@check("DECIDE-46", rank=Rank.LOST, excuses=(FAULT, CRASH))
def a_cancel_in_a_replay_ends_the_wait(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A cancel ends the wait of a parked run also while a decided call is replayed."""
    run = state.run_of(seen)
    if run is None or run.cancel_in_replay is None or run.cancel_at is None or not _parks(state):
        return
    why = f"the run was cancelled while call {run.cancel_in_replay.id} was replayed"
    yield held_or(seen.reason.code != "Suspended", f"{why}, yet it waits again")


def _broken_in_a_replay(state: ObservedState, run: Run | None) -> str:
    """What broke or blocked a parked run in the replay of a call, if that has happened."""
    if run is None or run.broke_at is None or run.disturbed_by(CANCEL, CRASH) or not _parks(state):
        return ""
    gate, call = run.broke_at, run.broke_at.call
    blocks = (gate.outcome or {}).get("kind") == "block"
    ends = state.policy("round.block") == "end_run" if blocks else run.fault_alone
    decisions = call.decisions if call is not None else []
    decided = any(d.at_rest and d.answers is call and d.at <= gate.at for d in decisions)
    if call is None or not (ends and decided):
        return ""
    return f"the replay of call {call.id} {'was blocked' if blocks else 'broke'} in the wait"


@check("DECIDE-47", rank=Rank.LOST)
def a_replay_that_breaks_ends_the_wait(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A replay in the wait that breaks the run, or in which it is blocked, ends the wait with the run."""
    why = _broken_in_a_replay(state, state.run_of(seen))
    if why:
        yield held_or(seen.reason.code != "Suspended", f"{why}, yet the run waits again")


@check("DECIDE-47", at=("model", "permission", "tool"), rank=Rank.LOST)
def nothing_goes_on_after_a_replay_that_breaks(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run that broke in a replay of its wait asks nothing more."""
    why = _broken_in_a_replay(state, state.run_of(seen))
    if why and seen.on in WORKING_GATES:
        yield broken(
            f"{why}, yet {'the model is asked' if seen.on == 'model' else f'call {seen.call} goes on'}"
        )


@check("DECIDE-50", rank=Rank.LOST)
def a_wait_takes_only_the_drawn_ways(
    state: ObservedState, seen: GateOpened | CallMoved | RunMoved
) -> CheckResults:
    """Nothing but a decision, a cancel or new input moves a parked run."""
    if not _left_alone(state):
        return
    if isinstance(seen, GateOpened) and seen.on in WORKING_GATES:
        yield broken(f"nobody decided anything about the parked run, yet a {seen.on} gate opened")
    elif isinstance(seen, CallMoved) and seen.to != seen.origin:
        yield broken(f"nobody decided anything about the parked run, yet call {seen.call} became {seen.to}")
    elif isinstance(seen, RunMoved) and seen.to != seen.origin:
        yield broken(f"nobody decided anything about the parked run, yet it became {seen.to}")


@counts("DECIDE-50", requires="a wait")
def a_wait_took_no_way(state: ObservedState) -> CheckResults:
    """Counts the times at which nothing was decided about a parked run, and nothing moved."""
    if _left_alone(state):
        yield HELD


def _left_alone(state: ObservedState) -> bool:
    """Whether time passed, or nothing happened, for a run that is parked."""
    run = state.run
    idle = [name for name, _ in state.newest] in (["settle"], ["clock.advance"])
    if run is None or not idle or not state.alone or not _parks(state) or run.disturbed_by(CRASH):
        return False
    may_end = any(condition.kind == "timeout" for condition in state.scenario.agent.stop)
    parked = run.claimed in ("Waiting", None) and not run.segment_open and not run.is_done
    return parked and not (may_end or run.disturbed_by(CANCEL) or state.gates_of(run))
