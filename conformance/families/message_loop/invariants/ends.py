"""RUN, LOOP, TURN: how a turn ends, and that it does."""

from __future__ import annotations

from runlock.conformance.families.message_loop.invariants.authority import prompt_verdict
from runlock.conformance.families.message_loop.invariants.denials import unanswered
from runlock.conformance.families.message_loop.invariants.occasions import is_odd
from runlock.conformance.families.message_loop.invariants.reading import is_doubled
from runlock.conformance.families.message_loop.invariants.results import HELD, CheckResults, broken
from runlock.conformance.families.message_loop.messages import (
    CallMoved,
    Checkpointed,
    GateOpened,
    MessageAppended,
    Published,
    RunMoved,
    TurnEnded,
)
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import (
    ObservedGate,
    ObservedRequest,
    ObservedTurn,
)
from runlock.conformance.family.invariant import Invariant, check, counts, held_or, ranked
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation


@check("LOOP-18", rank=Rank.STATUS)
def a_turn_at_work_has_a_gate_open(state: ObservedState) -> CheckResults:
    """At quiescence a turn that is not over has a gate open."""
    turn = state.run
    if turn is not None and not turn.is_done:
        yield held_or(bool(turn.open_gates()), f"turn {turn.id} is not over, and waits at no gate")


@check("RUN-20", rank=Rank.CONSENT)
def a_turn_that_is_over_opens_no_gate(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A turn that is over opens no gate."""
    turn = state.turn_of(seen)
    if turn is not None and turn.is_done:
        yield broken(f"turn {turn.id} is over, yet a {seen.on} gate opened")


@counts("RUN-20")
def a_turn_that_is_over_stays_quiet(state: ObservedState) -> CheckResults:
    """Counts the turns that are over and had gates."""
    turn = state.run
    if turn is not None and turn.is_done and turn.gates:
        yield HELD


@check("RUN-21", rank=Rank.STATUS)
def a_turn_ends_once(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """Each turn announces its end exactly once."""
    turn = state.turn_of(seen)
    if turn is None:
        yield broken(f"turn {seen.run} was never started, yet its end was announced")
    else:
        yield held_or(turn.reason is None, f"turn {turn.id} announced its end twice")


def nothing_comes_after_the_end(state: ObservedState, seen: Observation) -> CheckResults:
    """After run.finished nothing of that turn comes except SessionTurnEnd."""
    turn = state.turns.get(seen.run) if seen.run is not None else None
    if turn is None or not turn.is_done or getattr(seen, "name", "") == "SessionTurnEnd":
        return
    what = getattr(seen, "name", None) or seen.kind
    yield broken(f"turn {turn.id} is over, yet {what} was shown")


@counts("WIRE-8")
def the_end_is_the_last_word(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """Counts the turns that ended."""
    if state.turn_of(seen) is not None:
        yield HELD


def hard_faults(state: ObservedState, turn: ObservedTurn) -> list[ObservedGate]:
    """The faults that end a turn in Error, whatever the policies say, and that were taken for certain."""
    hard = ("tool", "context", "sm", "assert", "store.put")
    faults = [gate for gate in turn.faults() if gate.on in hard]
    return [gate for gate in faults if state.is_clean(gate.released_in)]


@check("RUN-24", rank=Rank.STATUS)
def a_fault_ends_the_turn_in_error(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A fault of a tool, a provider, the state machine, an assertion or the store ends the turn in Error."""
    turn = state.turn_of(seen)
    faults = hard_faults(state, turn) if turn is not None else []
    if turn is None or not faults or turn.cancelled_at:
        return
    why = f"gate {faults[0].ref} broke, which ends the turn in Error; it ended as {seen.reason.code}"
    yield held_or(_tells_of(faults[0], seen), why)


def _tells_of(fault: ObservedGate, seen: TurnEnded) -> bool:
    """Whether the reason tells of a fault; one of the end commit may come after another reason."""
    late = fault.on == "store.put" and fault.opened.cause == "end"
    return seen.reason.code != "NaturalEnd" if late else seen.reason.code == "Error"


@check("TURN-15", rank=Rank.STATUS)
def a_commit_that_fails_ends_the_turn_in_error(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A commit that fails ends the turn in Error."""
    turn = state.turn_of(seen)
    for gate in hard_faults(state, turn) if turn is not None and not turn.cancelled_at else []:
        if gate.on == "store.put":
            why = f"the commit {gate.opened.cause} failed, yet the turn ended as {seen.reason.code}"
            yield held_or(_tells_of(gate, seen), why)


@check("TURN-15", at=("model", "tool"), rank=Rank.STATUS)
def nothing_goes_on_after_a_failed_commit(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After a commit that failed no request is sent and no tool is entered."""
    turn = state.turn_of(seen)
    for gate in hard_faults(state, turn) if turn is not None else []:
        if gate.on == "store.put":
            yield broken(f"the commit {gate.opened.cause} failed, yet a {seen.on} gate opened")


@check("RUN-24", at=("model", "tool", "prompt"), rank=Rank.STATUS)
def nothing_goes_on_after_a_fault(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After a fault no request is sent and no tool is entered."""
    turn = state.turn_of(seen)
    for gate in hard_faults(state, turn) if turn is not None else []:
        if gate.path is state.path_of(seen):
            yield broken(f"gate {gate.ref} broke, which ends the turn, yet a {seen.on} gate opened")


@check("LOOP-20", rank=Rank.HISTORY)
def a_model_fault_ends_as_declared(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A fault of the model that is not sent again ends the turn in Error."""
    turn, policy = state.turn_of(seen), state.policy("model.fault")
    if turn is None or turn.cancelled_at or turn.kind == "group":
        return
    for path in turn.passes:
        last = path.sent[-1] if path.sent else None
        if last is not None and last.has_failed and not turn.stage_denials() and not _met_an_odd_hook(last):
            gate = last.gate
            if policy == "retried" and gate is not None and not gate.deltas:
                yield broken(
                    f"request {last.number} failed before its first delta, yet it was not sent again"
                )
            else:
                why = f"request {last.number} failed, yet the turn ended as {seen.reason.code}"
                yield held_or(seen.reason.code == "Error", why)


def _met_an_odd_hook(request: ObservedRequest) -> bool:
    """Whether a hook of a request broke or misbehaved, which may have ended the turn before the model did."""
    return any(is_odd(gate) for gate in request.hooks)


@check("LOOP-3", rank=Rank.STATUS)
def a_natural_end_has_a_last_response(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A chat turn ends by itself only where its last response asked for no call, or was terminal."""
    turn = state.turn_of(seen)
    if turn is None or turn.kind != "chat" or seen.reason.code != "NaturalEnd" or not turn.passes:
        return
    last = turn.passes[-1].sent[-1] if turn.passes[-1].sent else None
    if last is None or last.response is None:
        yield broken(f"turn {turn.id} ended by itself before a response was complete")
    elif not last.is_terminal:
        calls = ", ".join(call.id for call in last.calls)
        why = f"response {last.number} asked for call {calls}, yet the turn ended as if it had not"
        yield held_or(not last.calls, why)


@check("WIRE-6", rank=Rank.STREAM)
def failing_watchers_end_no_turn(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A watcher that fails ends no turn."""
    turn = state.turn_of(seen)
    if turn is None or turn.cancelled_at or not any(fails for _, fails in state.watchers.values()):
        return
    if seen.reason.code != "Error" or not _may_err(turn, seen):
        yield held_or(seen.reason.code != "Error", f"a watcher failed, and turn {turn.id} ended in Error")


@check("TURN-11", rank=Rank.STATUS)
def the_next_turn_works(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """After a turn that ended in any way the next one works."""
    turn = state.turn_of(seen)
    if turn is None or turn.number == 1 or turn.cancelled_at:
        return
    before = state.turns_before(turn)[-1]
    ended = before.reason.code if before.reason is not None else "no end"
    idle = not turn.gates and seen.reason.code == "Error"
    yield held_or(not idle, f"turn {before.id} ended as {ended}, and turn {turn.id} fails at once")


@check("RUN-24", rank=Rank.STATUS)
def a_turn_without_cause_ends_by_itself(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A turn ends as Error, Blocked or Stopped only where its course gives that reason."""
    turn, code = state.turn_of(seen), seen.reason.code
    if turn is None or turn.cancelled_at:
        return
    if code == "Error":
        watched = any(fails for _, fails in state.watchers.values())  # which another clause blames
        yield held_or(_may_err(turn, seen) or watched, f"turn {turn.id} ended in Error, and nothing broke")
    elif code == "Blocked":
        yield held_or(_may_block(state, turn), f"turn {turn.id} ended as Blocked, and nothing was denied")
    elif code == "Stopped":
        yield held_or(seen.reason.is_bound, f"turn {turn.id} ended as Stopped, and not for max_iterations")
    elif code == "NaturalEnd":
        yield HELD


def _may_err(turn: ObservedTurn, seen: TurnEnded) -> bool:
    calls = any(
        call.is_malformed or call.doubled or call.answered_with == "raise" for call in turn.every_call()
    )
    failed = any(one.verdict in ("fail", "fault") for one in turn.executions.values())
    odd = any(gate.on == "hook" and is_odd(gate) for gate in turn.gates)
    denied = turn.kind == "group" and bool(turn.stage_denials())
    return bool(turn.faults() or calls or failed or odd or denied or seen.reason.is_bound)


def _may_block(state: ObservedState, turn: ObservedTurn) -> bool:
    odd = any(gate.on == "hook" and is_odd(gate) for gate in turn.gates)
    denied = any(prompt_verdict(state, call) in ("deny", "unclear") for call in turn.every_call())
    reaches = denied and state.policy("reject.reach") in (None, "turn")
    given_up = any(prompt_verdict(state, call) == "given up" for call in turn.every_call())
    halts = state.policy("prompt.unanswered") != "deny" and (given_up or bool(unanswered(state, turn)))
    return bool(turn.stage_denials()) or odd or reaches or halts or is_doubled(turn)


@check("RUN-14", "RUN-15", rank=Rank.STATUS)
def the_status_follows_the_turn(state: ObservedState, seen: RunMoved) -> CheckResults:
    """A turn is Running, then Done, and moves no more."""
    turn = state.turn_of(seen)
    if turn is None:
        return
    last = turn.statuses[-1] if turn.statuses else None
    yield held_or(last != "Done", f"turn {turn.id} was Done, yet it moved to {seen.to}")


@check("LOOP-19", rank=Rank.STATUS)
def a_terminal_response_renders_as_declared(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """After a terminal response the turn renders, or ends without RENDER."""
    turn, policy = state.turn_of(seen), state.policy("call.terminal")
    if turn is None or turn.kind != "chat" or policy is None or seen.reason.code != "NaturalEnd":
        return
    last = turn.passes[-1].sent[-1] if turn.passes[-1].sent else None
    if last is not None and last.is_terminal:
        rendered = bool(turn.named("Rendered")) or any(g.opened.at == "RENDER" for g in turn.passes[-1].hooks)
        does = "rendered" if rendered else "did not render"
        yield held_or(
            rendered == (policy == "render"), f"a terminal response leads to {policy}, yet the turn {does}"
        )


LISTED_KINDS = (MessageAppended, CallMoved, Checkpointed, Published, GateOpened)


INVARIANTS = ranked(
    Rank.CONSENT,
    *(Invariant("WIRE-8", nothing_comes_after_the_end, kind) for kind in LISTED_KINDS),
)
