"""CANCEL: what a cancel stops, and what it leaves behind."""

from __future__ import annotations

from runlock.conformance.families.message_loop.invariants.reading import is_as_composed
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResults,
    broken,
    listed,
    named,
    quoted,
)
from runlock.conformance.families.message_loop.messages import (
    GateOpened,
    MessageAppended,
    Published,
    TurnEnded,
)
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedCall, ObservedGate, ObservedTurn
from runlock.conformance.family.invariant import check, counts, held_or
from runlock.conformance.family.rank import Rank


def cancelled(state: ObservedState, turn: ObservedTurn | None) -> bool:
    """Whether a cancel has certainly reached the turn: it was clean, and its answer is complete."""
    return (
        turn is not None
        and bool(turn.cancelled_at)
        and state.cancel_is_clean(turn)
        and not at_its_end(state, turn)
    )


def at_its_end(state: ObservedState, turn: ObservedTurn) -> bool:
    """Whether the cancel found the turn at its end commit, where it may lose."""
    met = [state.gates[gate] for gate in turn.cancel_met if gate in state.gates]
    return any(gate.on == "store.put" and gate.opened.cause == "end" for gate in met)


def may_stay_open(state: ObservedState, gate: ObservedGate) -> bool:
    """Whether a gate may be open after a cancel: the end commit, and a tool that drains."""
    if gate.on == "store.put":
        return gate.opened.cause == "end"
    return gate.on == "tool" and state.policy("cancel.inflight") != "abort" and _may_have_run(state, gate)


def _may_have_run(state: ObservedState, gate: ObservedGate) -> bool:
    """Whether a tool ran when the cancel came; in a race it may have been entered just before."""
    turn = gate.turn
    raced = gate.window == turn.cancelled_in and not state.cancel_is_clean(turn)
    return gate.id in turn.cancel_met or raced


@check("CANCEL-20", rank=Rank.STATUS)
def a_cancel_gives_up_what_waits(state: ObservedState) -> CheckResults:
    """A cancel gives up the open prompts, hooks and requests of the turn."""
    yield from _open_gates_given_up(state, ("model", "prompt", "hook", "sm", "context", "assert"), "gate")


@check("CANCEL-2", rank=Rank.STATUS)
def a_cancelled_turn_ends_as_cancelled(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A turn whose cancel met no race ends with reason Cancelled."""
    turn = state.turn_of(seen)
    if turn is None or turn.reason is not None or not cancelled(state, turn):
        return
    raised = [gate for gate in turn.gates if gate.on == "tool" and gate.answered_with == "raise"]
    ends = [*turn.faults(), *(raised if state.policy("tool.raises") != "failed_call" else ())]
    if not any(gate.released_at > turn.cancelled_at or turn.kind == "group" for gate in ends):
        yield held_or(
            seen.reason.code == "Cancelled",
            f"turn {turn.id} was cancelled, yet it ended as {seen.reason.code}",
        )


@check("RUN-24", rank=Rank.STATUS)
def a_turn_ends_as_cancelled_only_by_a_cancel(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A turn that was not cancelled does not end as Cancelled, unless a denial reaches it."""
    turn = state.turn_of(seen)
    if turn is None or seen.reason.code != "Cancelled" or turn.cancelled_at:
        return
    denied = any(gate.answered_with == "deny" for gate in turn.gates if gate.on == "prompt")
    if not (denied and state.policy("reject.reach") in (None, "turn")):
        yield broken(f"turn {turn.id} was not cancelled, yet it ended as Cancelled")


@check("CANCEL-2", rank=Rank.STATUS)
def a_cancelled_turn_is_over(state: ObservedState) -> CheckResults:
    """A turn that was cancelled ends as soon as nothing of it is under way."""
    turn = state.run
    if turn is not None and cancelled(state, turn) and not turn.open_gates():
        yield held_or(turn.is_done, f"turn {turn.id} was cancelled and waits for nothing, yet it is not over")


@check("CANCEL-4", rank=Rank.CONSENT)
def a_cancel_of_a_turn_that_is_over_changes_nothing(
    state: ObservedState, seen: GateOpened | MessageAppended | TurnEnded
) -> CheckResults:
    """A cancel of a turn that is over changes nothing."""
    if state.cancels_what_is_over and state.is_clean(state.window):
        yield broken(
            f"turn {state.last_params['run']} is over, yet its cancel made the runtime show {seen.kind}"
        )


@counts("CANCEL-4")
def a_late_cancel_was_quiet(state: ObservedState) -> CheckResults:
    """Counts the cancels of turns that were over."""
    if state.cancels_what_is_over and not state.shown_last:
        yield HELD


@check("CANCEL-5", rank=Rank.CONSENT)
def running_tools_end_as_declared(state: ObservedState) -> CheckResults:
    """A tool that runs at the cancel is given up where the cancel aborts, and ends by itself elsewhere."""
    turn, policy = state.run, state.policy("cancel.inflight")
    if turn is None or not cancelled(state, turn) or policy is None:
        return
    met = [
        state.gates[one] for one in turn.cancel_met if one in state.gates and state.gates[one].on == "tool"
    ]
    for gate in met:
        if policy == "abort":
            yield held_or(
                not gate.is_open, f"call {gate.opened.call} ran at the cancel, yet it was not given up"
            )
        else:
            why = f"call {gate.opened.call} ran at the cancel and drains, yet it was given up"
            yield held_or(not gate.closed_at, why)


@check("CANCEL-3", rank=Rank.CONSENT)
def a_cancel_ends_a_turn_that_waits(state: ObservedState) -> CheckResults:
    """A cancel ends a turn that waits for a prompt, a hook or the state machine."""
    turn = state.run
    if (
        turn is None
        or not cancelled(state, turn)
        or any(may_stay_open(state, gate) for gate in turn.open_gates())
    ):
        return
    waited = [state.gates[one].on for one in turn.cancel_met if one in state.gates]
    if set(waited) & {"prompt", "hook", "sm"}:
        yield held_or(turn.is_done, f"turn {turn.id} was cancelled while it waited, yet it is not over")


@check("CANCEL-1", rank=Rank.CONSENT)
def no_gate_stays_open_after_a_cancel(state: ObservedState) -> CheckResults:
    """Once the answer to the cancel is complete, no gate of the turn is open except what may be."""
    turn = state.run
    if turn is None or not turn.cancelled_at or at_its_end(state, turn):
        return
    if not state.cancel_is_clean(turn) and (turn.is_done or not _has_met(state, turn)):
        return
    left = [gate.ref for gate in turn.open_gates() if not may_stay_open(state, gate)]
    yield held_or(not left, f"turn {turn.id} was cancelled, yet it still waits at {listed(left)}")


def _has_met(state: ObservedState, turn: ObservedTurn) -> bool:
    """Whether the turn was not over when a cancel that met a race was delivered."""
    return not turn.is_done


def _open_gates_given_up(state: ObservedState, kinds: tuple[str, ...], what: str) -> CheckResults:
    turn = state.run
    if turn is None or not cancelled(state, turn):
        return
    met = [state.gates[one] for one in turn.cancel_met if one in state.gates and state.gates[one].on in kinds]
    left = [gate.ref for gate in met if gate.is_open]
    if met:
        yield held_or(not left, f"turn {turn.id} was cancelled, yet {what} {listed(left)} was not given up")


@check("CANCEL-8", at=("tool",), rank=Rank.CONSENT)
def no_new_call_runs_after_a_cancel(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No call that had not started before a cancel runs after it."""
    turn = state.turn_of(seen)
    if turn is not None and cancelled(state, turn):
        yield broken(f"turn {turn.id} was cancelled, yet call {seen.call} was entered")


@check("CANCEL-1", rank=Rank.CONSENT)
def no_gate_opens_after_a_cancel(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After a cancel no gate of the turn opens except the end commit."""
    turn = state.turn_of(seen)
    if turn is None or not cancelled(state, turn):
        return
    if state.window == turn.cancelled_in and seen.on not in ("model", "tool", "prompt"):
        return  # on the way out; whether it is still open is judged once the answer is complete
    right = seen.on == "store.put" and seen.cause == "end"
    what = f"{seen.on} gate" + (f" for call {seen.call}" if seen.call is not None else "")
    yield held_or(right, f"turn {turn.id} was cancelled, yet a {what} opened")


@counts("CANCEL-8")
def no_new_call_ran(state: ObservedState) -> CheckResults:
    """Counts the calls that a cancel kept from running."""
    turn = state.run
    if turn is not None and cancelled(state, turn) and any(not call.entries for call in turn.every_call()):
        yield HELD


@check("CANCEL-9", at=("Rendered", "StageExited"), rank=Rank.STATUS)
def a_cancelled_turn_renders_nothing(state: ObservedState, seen: Published) -> CheckResults:
    """A cancelled turn renders nothing, and its stages do not exit."""
    turn = state.turn_of(seen)
    if turn is not None and seen.watcher is None and cancelled(state, turn):
        yield broken(f"turn {turn.id} was cancelled, yet {seen.name} was published")


@counts("CANCEL-9")
def a_cancelled_turn_rendered_nothing(state: ObservedState) -> CheckResults:
    """Counts the cancelled turns after which nothing was rendered."""
    turn = state.run
    if turn is not None and turn.is_done and cancelled(state, turn):
        yield HELD


def aborted(state: ObservedState, turn: ObservedTurn | None) -> list[ObservedCall]:
    """The calls whose tool was certainly given up on a cancel, and not on something that it raced."""
    if turn is None or not turn.cancelled_at:
        return []
    if any(gate.released_in == turn.cancelled_in for gate in turn.gates):
        return []
    return [call for call in turn.every_call() if call.was_aborted and call.entries[-1].outcome is None]


@check("CANCEL-6", at=("tool",), rank=Rank.SHOWN)
def an_aborted_call_has_the_result_cancelled(state: ObservedState, seen: MessageAppended) -> CheckResults:
    """The result of a call whose tool was given up is cancelled."""
    message = seen.message
    for call in aborted(state, state.turn_of(seen)):
        if call.id == message.call and message.status is not None:
            right = message.status == "cancelled"
            yield held_or(
                right, f"the tool of {named(call)} was given up, yet its result is {message.status}"
            )


@check("CANCEL-6", at=("model",), rank=Rank.SHOWN)
def an_aborted_call_is_shown_as_cancelled(state: ObservedState, seen: GateOpened) -> CheckResults:
    """In the next turn the model reads that an aborted call was cancelled."""
    turn, path = state.turn_of(seen), state.path_of(seen)
    if path is None or not is_as_composed(state, path):
        return
    before = state.turns_before(turn)[-1:] if turn is not None else []
    results = {one.call: one for one in seen.messages or [] if one.role == "tool"}
    for call in aborted(state, before[0]) if before else []:
        message = results.get(call.id)
        if message is not None and message.status is not None and not call.doubled:
            right = message.status == "cancelled"
            why = f"the tool of {named(call)} was given up, yet the model reads {message.status}"
            yield held_or(right, why)


@check("CANCEL-23", at=("tool",), rank=Rank.SHOWN)
def a_drained_call_has_its_own_result(state: ObservedState, seen: MessageAppended) -> CheckResults:
    """The result of a call that a cancel let end by itself is not that it was cancelled."""
    turn, message = state.turn_of(seen), seen.message
    if turn is None or message.status is None or not cancelled(state, turn):
        return
    for call in turn.every_call():
        met = bool(call.entries) and call.entries[-1].id in turn.cancel_met
        if met and call.id == message.call and not call.doubled and call.answered_with in ("ok", "error"):
            did = f"the tool of {named(call)} answered {call.answered_with} after the cancel"
            yield held_or(message.status != "cancelled", f"{did}, yet its result is cancelled")


@check("CANCEL-25", rank=Rank.STATUS)
def each_call_of_the_open_round_has_a_result(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """After a cancel each call of the open round has one result."""
    turn = state.turn_of(seen)
    if turn is None or not cancelled(state, turn) or not state.observes("message"):
        return
    if state.policy("cancel.results") != "kept":
        return
    for path in turn.passes:
        for call in path.sent[-1].calls if path.sent and path.sent[-1].response is not None else []:
            if not call.doubled:
                right = len(call.results) <= 1
                why = f"turn {turn.id} was cancelled, and {named(call)} has {len(call.results)} results"
                yield held_or(right, why)


@check("CANCEL-7", at=("model",), rank=Rank.SHOWN)
def results_before_a_cancel_stand_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Results of calls that had finished before a cancel stay in the history, or are dropped from it."""
    turn, policy, path = state.turn_of(seen), state.policy("cancel.results"), state.path_of(seen)
    before = state.turns_before(turn) if turn is not None else []
    if policy is None or not before or path is None or path.sent or seen.messages is None or path.is_driven:
        return
    if not is_as_composed(state, path):
        return
    last = before[-1]
    met = [state.gates[one] for one in last.cancel_met if one in state.gates]
    in_a_round = any(gate.on == "tool" for gate in met)
    if last.kind != "chat" or not cancelled(state, last) or not in_a_round:
        return
    for call in last.passes[-1].sent[-1].calls if last.passes[-1].sent else []:
        content = (call.answer or {}).get("content")
        if call.answered_with != "ok" or call.entries[-1].released_in >= last.cancelled_in:
            continue
        if isinstance(content, str) and content and not call.hook_gates("post"):
            stands = any(content in one.text for one in seen.messages if one.call == call.id)
            why = f"results before a cancel are {policy}, yet {quoted(content)} of {named(call)}"
            does = "stands in the next turn" if stands else "does not stand in the next turn"
            yield held_or(stands == (policy == "kept"), f"{why} {does}")
