"""RUN, arrow by arrow: where a run goes when what an arrow names was witnessed."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import GateOpened, PhaseEntered, RunMoved, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check
from runlock.conformance.family.rank import Rank


def _moving(state: ObservedState, seen: RunMoved) -> Run | None:
    """The run that moves, if its way in this life is known and the move is one."""
    run = state.runs.get(seen.run or "")
    known = (
        run is not None and not run.disturbed_by(CRASH) and run.claimed is not None and run.claimed != seen.to
    )
    return run if known else None


@check("RUN-1", rank=Rank.STATUS, requires="a wait", excuses=(CANCEL, FAULT, CRASH))
def a_run_waits_once_its_commit_is_through(state: ObservedState) -> CheckResults:
    """A run moves to Waiting only when its last commit before the wait is through."""
    run = state.run
    if run is None or run.claimed != "Waiting":
        return
    if any(method in ("decide", "run.input") for method, _ in state.newest):
        return  # what was decided may be written down before the run goes on
    if "Waiting" in run.claims[run.claims_before :]:
        storing = any(gate.on == "store.put" and gate.at == state.stimuli for gate in state.gates_of(run))
        yield HELD if not storing else broken("the run moved to Waiting, yet it is still committing")


@check("RUN-2", rank=Rank.STATUS, requires="a decision", excuses=(CANCEL, FAULT, CRASH))
def a_decision_wakes_the_run(state: ObservedState) -> CheckResults:
    """A decision that a suspended call takes moves a waiting run back to Running."""
    run = state.run
    if run is None or not state.alone or state.newest[0][0] != "decide":
        return
    if state.policy("resume") != "partial":
        return
    if _is_wake_unneeded(state, run):
        return
    before, since = run.claims[: run.claims_before], run.claims[run.claims_before :]
    if before[-1:] != ["Waiting"] or any(gate.on in ("store.put", "hook") for gate in state.gates_of(run)):
        return
    for call in run.calls.values():
        for decided in call.decisions:
            if decided.at == state.stimuli and decided.answers is call and not decided.turned_down:
                became = since[0] if since else "nothing else"
                right = became == "Running"
                yield (
                    HELD
                    if right
                    else (
                        broken(
                            f"the run waited and call {call.id} took decision {decided.id}, "
                            f"yet the run became {became} before it was Running"
                        )
                    )
                )


def _is_wake_unneeded(state: ObservedState, run: Run) -> bool:
    """Whether calls were rejected directly while others wait on: no call was at work at any moment."""
    if state.policy("waiting") == "reentered" or state.policy("decision.cancel_path") == "via_resuming":
        return False
    taken = [one for call in run.calls.values() for one in call.decisions if one.at == state.stimuli]
    decided = [one.answers for one in taken]
    waits_on = any(call.claimed in ("Suspended", None) for call in run.calls.values() if call not in decided)
    return waits_on and all(one.action == "cancel" for one in taken)


@check("RUN-5", at=("Cancelled", "Error", "Stopped"), rank=Rank.STATUS)
def a_stop_ends_the_run_as_Stopped(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A stop condition that fires at work ends the run as Stopped."""
    run = state.run_of(seen)
    if run is None or not state.scenario.agent.stop or not _undisturbed(run):
        return
    if seen.reason.code == "Stopped":
        yield HELD
    elif seen.reason.code in ("Error", "Cancelled") and _fired(state, run):
        yield broken(
            f"a stop condition fired and nothing else ended the run, yet it ended as {seen.reason.code}"
        )


def _fired(state: ObservedState, run: Run) -> bool:
    """Whether a limit is certainly passed, after a turn that does not end the run by itself."""
    asked = bool((run.last_turn or {}).get("tool_calls")) and run.turn_alone
    return asked and not run.is_blocked and any(_is_over(run, one) for one in state.scenario.agent.stop)


def _is_over(run: Run, condition: object) -> bool:
    rounds, tokens = getattr(condition, "rounds", None), getattr(condition, "max_total", None)
    return (rounds is not None and run.steps > rounds) or (tokens is not None and run.tokens > tokens)


@check("RUN-6", rank=Rank.STATUS, requires="calls")
def a_block_ends_the_run_as_Blocked(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Where a block ends the run, it ends as Blocked."""
    run = state.run_of(seen)
    if run is None or state.policy("round.block") != "end_run" or not _undisturbed(run):
        return
    blocked = [gate for call in run.every_call for gate in call.judged if _blocks(gate.outcome)]
    if blocked and blocked[-1].alone:
        code, call = seen.reason.code, blocked[-1].opened.call
        yield (
            HELD
            if code == "Blocked"
            else broken(f"call {call} was blocked, which ends the run, yet it ended as {code}")
        )


def _blocks(outcome: object) -> bool:
    return isinstance(outcome, dict) and outcome.get("kind") == "block"


def _undisturbed(run: Run) -> bool:
    return not run.disturbed_by(CANCEL, FAULT, CRASH, INPUT)


@check("RUN-7", rank=Rank.STATUS, requires="a cancel")
def a_cancel_at_work_does_not_wait(state: ObservedState, seen: RunMoved) -> CheckResults:
    """A cancel of a run at work takes it from Running to Done."""
    run = _moving(state, seen)
    if run is None or run.cancel_at is None or not run.cancel_alone or run.cancel_status != "Running":
        return
    if run.cancel_in_replay is not None and state.policy("waiting") == "parked":
        return  # it ends a wait: DECIDE-46 speaks of that
    if (
        not run.disturbed_by(FAULT)
        and run.claimed == "Running"
        and "cancel.waiting" in state.handshake.stimuli
    ):
        yield HELD if seen.to == "Done" else broken(f"the run was cancelled at work, yet it became {seen.to}")


@check("RUN-9", rank=Rank.STATUS, requires="a cancel")
def a_cancel_while_waiting_does_not_wake(state: ObservedState, seen: RunMoved) -> CheckResults:
    """A cancel of a waiting run takes it from Waiting to Done."""
    run = _moving(state, seen)
    if run is None or run.cancel_at is None or not run.cancel_alone or run.cancel_status != "Waiting":
        return
    if run.claimed == "Waiting":
        yield (
            HELD
            if seen.to == "Done"
            else broken(f"the run was cancelled while it waited, yet it became {seen.to}")
        )


@check("RUN-10", at=("Done",), rank=Rank.STATUS, requires="a wait")
def only_a_fault_ends_a_wait_in_Error(state: ObservedState, seen: RunMoved) -> CheckResults:
    """A waiting run ends as Error only where something broke."""
    run = _moving(state, seen)
    failed = seen.to == "Done" and seen.reason is not None and seen.reason.code == "Error"
    if run is not None and run.claimed == "Waiting" and failed:
        yield HELD if run.faulted else broken("nothing broke while the run waited, yet it ended as Error")


@check("RUN-11", rank=Rank.STATUS, excuses=(CANCEL, CRASH))
def a_created_run_begins_before_its_phases(
    state: ObservedState, seen: PhaseEntered | GateOpened
) -> CheckResults:
    """A run that was created moves to Running before any of its phases, and before it asks the model."""
    run = state.run_of(seen)
    if run is None or run.claimed != "Created":
        return
    if isinstance(seen, PhaseEntered):
        yield broken(f"{seen.phase} fires, yet the run is still Created")
    elif seen.on == "model":
        yield broken("the model is asked, yet the run is still Created")


@check("RUN-11", at=("Running",), rank=Rank.STATUS)
def a_created_run_begins_by_Running(state: ObservedState, seen: RunMoved) -> CheckResults:
    """Counts the created runs that began before any phase."""
    run = _moving(state, seen)
    if run is not None and run.claimed == "Created" and not run.phases:
        yield HELD


@check("RUN-12", rank=Rank.STATUS)
def a_run_cancelled_as_Created_never_begins(
    state: ObservedState, seen: RunMoved | PhaseEntered
) -> CheckResults:
    """A cancel that comes before a created run begins ends it, with no phase."""
    run = state.runs.get(seen.run or "")
    if run is None or run.cancel_at is None or run.cancel_status != "Created" or run.disturbed_by(CRASH):
        return
    if run.cancel_met != run.cancel_at or run.claimed != "Created":
        return
    if isinstance(seen, PhaseEntered):
        yield broken(f"the run was cancelled before it began, yet {seen.phase} fires")
    elif seen.to != "Created":
        yield (
            HELD
            if seen.to == "Done"
            else broken(f"the run was cancelled before it began, yet it became {seen.to}")
        )


@check("RUN-13", rank=Rank.STATUS)
def a_run_that_is_not_taken_never_begins(state: ObservedState, seen: RunMoved) -> CheckResults:
    """A created run that the store does not take is turned down: it is Done and was never Running."""
    run = _moving(state, seen)
    if run is not None and run.claimed == "Created" and run.faulted == "store.put" and run.fault_alone:
        yield (
            HELD if seen.to == "Done" else broken(f"the store did not take the run, yet it became {seen.to}")
        )


@check("RUN-18", at=("Done",), rank=Rank.STATUS)
def only_time_stops_a_wait(state: ObservedState, seen: RunMoved) -> CheckResults:
    """A stop condition ends a waiting run only if time has run out: nothing else moves in a wait."""
    run = _moving(state, seen)
    if run is None or run.claimed != "Waiting" or seen.reason is None:
        return
    if seen.reason.code == "Stopped":
        code = seen.reason.stop.code if seen.reason.stop is not None else "no condition"
        right = code == "timeout" and _out_of_time(state, run)
        yield (
            HELD if right else broken(f"nothing but time passes in a wait, yet {code} stopped the run in it")
        )


@check("RUN-18", rank=Rank.STATUS, requires="a wait")
def a_wait_without_time_goes_on_or_stops(state: ObservedState) -> CheckResults:
    """Counts the waits in which time ran out: the run goes on waiting, or it is stopped."""
    run = state.run
    passed = any(method == "clock.advance" for method, _ in state.newest)
    if run is None or not passed or run.claims[: run.claims_before][-1:] != ["Waiting"]:
        return
    if _out_of_time(state, run) and run.claimed in ("Waiting", "Done"):
        yield HELD


def _out_of_time(state: ObservedState, run: Run) -> bool:
    limits = [one.seconds for one in state.scenario.agent.stop if one.kind == "timeout"]
    return any(limit is not None and state.now_ms - run.began_at_ms > limit * 1000 for limit in limits)
