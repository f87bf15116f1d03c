"""TURN, WIRE, AUTH: stage executions: assertion, Exit, siblings, join."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.message_loop.invariants.cancelling import cancelled
from runlock.conformance.families.message_loop.invariants.reading import base_of, sending
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResults,
    broken,
    listed,
    quoted,
)
from runlock.conformance.families.message_loop.messages import (
    Checkpointed,
    GateOpened,
    Published,
    TurnEnded,
)
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedExecution, ObservedTurn
from runlock.conformance.family.invariant import check, counts, held_or
from runlock.conformance.family.rank import Rank

MACHINE_EVENTS: Final = (
    "StageEntered", "ActEnded", "StageAssertOutcome", "StageExited", "StageCancelled", "StageGranted",
)  # fmt: skip


def execution_of(state: ObservedState, seen: GateOpened | Checkpointed) -> ObservedExecution | None:
    """The stage execution that a gate or a checkpoint belongs to."""
    turn = state.turn_of(seen)
    return turn.executions.get(seen.stage or "") if turn is not None else None


@check("TURN-8", at=("store.put",), rank=Rank.LOST)
def exit_runs_once_after_ok(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Exit runs once, after ok."""
    execution = execution_of(state, seen)
    if execution is None or seen.cause != "exit" or "assert" not in state.handshake.gates:
        return
    if execution.exits or execution.exit_checkpoints:
        yield broken(f"stage execution {execution.id} exits twice")
        return
    verdict = execution.verdict
    failed = verdict == "fail" and state.policy("exit.on_fail") != "no"
    yield held_or(
        verdict == "ok" or failed,
        f"stage execution {execution.id} exits, and its assertion said {verdict or 'nothing'}",
    )


@check("TURN-8", at=("exit",), rank=Rank.LOST)
def exit_makes_the_slot_durable(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """Exit makes the slot durable that the assertion gave."""
    execution = execution_of(state, seen)
    if execution is None or seen.cause != "exit" or execution.verdict != "ok":
        return
    slot = (execution.asserts[-1].answer or {}).get("slot")
    slots = (seen.state or {}).get("slots")
    if slot is not None:
        held = isinstance(slots, dict) and slots.get(execution.name) == slot
        shown = slots.get(execution.name) if isinstance(slots, dict) else None
        yield held_or(held, f"slot {execution.name} is {quoted(slot)}, yet {quoted(shown)} became durable")


@check("TURN-19", rank=Rank.STATUS)
def a_failure_ends_the_turn_in_error(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A failed assertion ends a stage execution without ok, and its turn in Error."""
    turn = state.turn_of(seen)
    if turn is None or turn.cancelled_at:
        return
    for execution in turn.executions.values():
        if execution.verdict == "fail":
            why = f"the assertion of {execution.id} failed, yet turn {turn.id} ended as {seen.reason.code}"
            yield held_or(seen.reason.code in ("Error", "Blocked"), why)


@check("TURN-17", rank=Rank.STATUS)
def exit_after_a_failure_is_as_declared(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """Exit runs after a failed assertion, or does not."""
    turn, policy = state.turn_of(seen), state.policy("exit.on_fail")
    if turn is None or policy is None or turn.cancelled_at or not state.observes("checkpoint"):
        return
    for execution in turn.executions.values():
        if execution.verdict == "fail" and state.is_clean(execution.asserts[-1].released_in):
            exited = bool(execution.exit_checkpoints or execution.exits)
            does = "exited" if exited else "did not exit"
            why = f"Exit after a failure is {policy}, yet stage execution {execution.id} {does}"
            yield held_or(exited == (policy == "yes"), why)


@check("TURN-8", rank=Rank.LOST)
def a_stage_that_is_ok_has_exited(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A turn of stages ends by itself once each of them has made its slot durable."""
    turn = state.turn_of(seen)
    if not state.observes("checkpoint") or "assert" not in state.handshake.gates:
        return
    if (
        turn is None
        or not turn.is_driven
        or seen.reason.code != "NaturalEnd"
        or "assert" not in state.handshake.gates
    ):
        return
    for execution in turn.executions.values():
        exited = bool(execution.exit_checkpoints)
        yield held_or(exited, f"turn {turn.id} ended, and stage execution {execution.id} has not exited")


@check("TURN-9", rank=Rank.STATUS)
def the_join_waits_for_every_sibling(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The join begins when the last sibling has exited."""
    turn, execution = state.turn_of(seen), execution_of(state, seen)
    if turn is None or execution is None or not execution.is_join or execution.passes[-1].requests:
        return
    yield from _all_have_exited(state, turn)


@check("TURN-9", at=("StageEntered",), rank=Rank.STATUS)
def the_join_is_entered_last(state: ObservedState, seen: Published) -> CheckResults:
    """StageEntered of the join comes after the last sibling has exited."""
    turn = state.turn_of(seen)
    execution = turn.executions.get(seen.get("execution") or "") if turn is not None else None
    if turn is not None and seen.watcher is None and execution is not None and execution.is_join:
        yield from _all_have_exited(state, turn)


def _all_have_exited(state: ObservedState, turn: ObservedTurn) -> CheckResults:
    siblings = [one for one in turn.executions.values() if not one.is_join]
    if "assert" in state.handshake.gates:
        left = [one.id for one in siblings if one.verdict != "ok"]
        yield held_or(not left, f"the join began, and {listed(left)} has not been asserted ok")
    waits = [one.id for one in siblings if any(gate.is_open for gate in one.exits)]
    yield held_or(not waits, f"the join began, and the Exit of {listed(waits)} is not stored")


def failed_siblings(state: ObservedState, turn: ObservedTurn) -> list[str]:
    """What ended the turn for all of its stage executions, if that is certain."""
    found = []
    for execution in turn.executions.values():
        last = execution.asserts[-1] if execution.asserts else None
        certain = last is not None and state.is_clean(last.released_in)
        if execution.verdict == "fail" and certain and state.policy("exit.on_fail") == "no":
            found.append(f"the failed assertion of {execution.id}")
    return found


@check("TURN-10", rank=Rank.STATUS)
def a_failed_sibling_cancels_the_others(state: ObservedState) -> CheckResults:
    """A sibling that fails cancels every running stage execution of the turn."""
    turn = state.run
    if turn is None or turn.kind != "group":
        return
    for cause in failed_siblings(state, turn):
        left = [gate.ref for gate in turn.open_gates() if gate.on != "store.put"]
        may = state.policy("cancel.inflight") != "abort" and all(ref.startswith("tool") for ref in left)
        yield held_or(not left or may, f"{cause} ends turn {turn.id}, yet it still waits at {listed(left)}")


@check("TURN-10", rank=Rank.STATUS)
def nothing_exits_after_a_failure(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After a sibling has failed no other one exits, and no join begins."""
    turn, execution = state.turn_of(seen), execution_of(state, seen)
    if turn is None or turn.kind != "group" or execution is None:
        return
    for cause in failed_siblings(state, turn):
        begins = execution.is_join or seen.cause == "exit"
        what = "the join begins" if execution.is_join else f"{execution.id} exits"
        yield held_or(not begins, f"{cause} ends turn {turn.id}, yet {what}")


@check("TURN-10", rank=Rank.STATUS)
def each_cancelled_stage_is_announced(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """Each stage execution that a cancel reached has its StageCancelled, and did not exit."""
    turn = state.turn_of(seen)
    if turn is None or not turn.is_driven or not turn.cancelled_at or not state.cancel_is_clean(turn):
        return
    if seen.reason.code != "Cancelled" or not state.shows("StageCancelled"):
        return
    asserts = "assert" in state.handshake.gates
    for execution in turn.executions.values():
        names = [event.name for _, event in execution.events]
        entered = "StageEntered" in names
        unseen = not state.shows("StageExited") and (execution.verdict in ("ok", "fail") or not asserts)
        if entered and "StageExited" not in names and not unseen:
            why = f"turn {turn.id} was cancelled, and StageCancelled of {execution.id} was not published"
            yield held_or("StageCancelled" in names, why)


@check("TURN-18", at=("model",), rank=Rank.STATUS)
def the_next_attempt_starts_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The next attempt starts with a fresh transcript, or goes on with the one before."""
    found, policy = sending(state, seen), state.policy("assert.retry")
    if found is None or policy is None or found[0].sent or found[0].attempt < 2:
        return
    path, messages = found
    before = path.turn.executions[path.stage or ""].passes[-2]
    earlier = base_of(state, before.sent[-1]) if before.sent else []
    if earlier is None:
        return  # a transform rewrote it
    calls = {call.id for call in before.every_call()}
    session = len(path.turn.session_before)
    kept = any(one.call in calls for one in messages) if calls else len(messages) > len(earlier)
    if calls or not session:
        does = "goes on with the transcript before" if kept else "starts anew"
        yield held_or(
            kept == (policy == "kept"), f"the transcript of a retry is {policy}, yet {path.label} {does}"
        )


@check("WIRE-7", at=MACHINE_EVENTS, rank=Rank.STREAM)
def machine_events_stay_in_their_turns(state: ObservedState, seen: Published) -> CheckResults:
    """The events of the state machine appear in its turns alone, and in order."""
    turn = state.turn_of(seen) if seen.watcher is None else None
    if turn is None:
        return
    if not turn.is_driven:
        yield broken(f"{seen.name} was published in chat turn {turn.id}")
        return
    execution = turn.executions.get(seen.get("execution") or "")
    if execution is None:
        yield broken(
            f"{seen.name} names stage execution {seen.get('execution')}, which turn {turn.id} has not"
        )
        return
    names = [event.name for _, event in execution.events]
    over = [name for name in names if name in ("StageExited", "StageCancelled")]
    if over:
        yield broken(f"{seen.name} of {execution.id} came after its {over[0]}")
    elif seen.name != "StageEntered":
        entered = "StageEntered" in names or not state.shows("StageEntered")
        yield held_or(entered, f"{seen.name} of {execution.id} came before its StageEntered")


@check("WIRE-7", at=("StageAssertOutcome", "StageExited"), rank=Rank.STREAM)
def an_exit_is_announced_after_ok(state: ObservedState, seen: Published) -> CheckResults:
    """StageAssertOutcome tells what the assertion said, and StageExited follows it."""
    turn = state.turn_of(seen) if seen.watcher is None else None
    execution = turn.executions.get(seen.get("execution") or "") if turn is not None else None
    if execution is None or not execution.asserts:
        return
    said_last = [gate for gate in execution.asserts if gate.answer is not None]
    if seen.name == "StageAssertOutcome":
        given = said_last[-1].answered_with if said_last else "nothing"
        shown = seen.get("outcome")
        right = given in ("fault", shown)  # no outcome of the event is a word for a fault
        yield held_or(right, f"the assertion of {execution.id} said {given}, yet the event says {shown}")
    else:
        open_ = any(gate.is_open for gate in execution.asserts)
        yield held_or(not open_, f"{execution.id} was announced as exited while its assertion is asked")


@check("WIRE-7", rank=Rank.STREAM)
def an_exit_is_announced_before_the_turn_ends(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """Each stage execution of a turn that ended by itself was announced as exited."""
    turn = state.turn_of(seen)
    if turn is None or seen.reason.code != "NaturalEnd" or not state.shows("StageExited"):
        return
    for execution in turn.executions.values():
        names = [event.name for _, event in execution.events]
        yield held_or("StageExited" in names, f"{execution.id} is over, and was never announced as exited")


@check("WIRE-11", rank=Rank.STREAM)
def a_stage_renders_as_declared(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """The payload of a stage execution is sent to the UI, or is not."""
    turn, policy = state.turn_of(seen), state.policy("stage.render")
    if turn is None or turn.kind != "stage" or policy is None or seen.reason.code != "NaturalEnd":
        return
    last = turn.passes[-1].sent[-1] if turn.passes[-1].sent else None
    if last is not None and not last.calls:
        rendered = bool(turn.named("Rendered"))
        does = "was" if rendered else "was not"
        why = f"payloads of stages are rendered: {policy}; the one of {turn.passes[-1].stage} {does}"
        yield held_or(rendered == (policy == "yes"), why)


@counts("TURN-49")
def a_cancelled_stage_does_not_exit(state: ObservedState) -> CheckResults:
    """Counts the stage executions that a cancel ended without Exit."""
    turn = state.run
    if turn is not None and turn.is_driven and turn.is_done and turn.cancelled_at:
        for execution in turn.executions.values():
            if execution.passes[0].requests and not execution.exits and not execution.exit_checkpoints:
                yield HELD


@check("TURN-49", at=("exit",), rank=Rank.STATUS)
def nothing_exits_after_a_cancel(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """A stage execution that a cancel certainly met before its Exit does not exit."""
    execution = execution_of(state, seen)
    if execution is not None and cancelled(state, state.turn_of(seen)) and not execution.exits:
        yield broken(f"turn {seen.run} was cancelled, yet {execution.id} exits")
