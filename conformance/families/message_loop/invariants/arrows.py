"""The clauses of single transitions, judged by the checks of what they lead to.

A transition of the charts cannot be seen by itself: what can be seen is what stands before it and after it.
Each clause below is judged where its transition was taken.  They come last in the order of blame, since the
clause of the rule that a wrong transition breaks says more than the clause of the transition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from runlock.conformance.families.message_loop.invariants import (
    bounds,
    cancelling,
    denials,
    ends,
    entry,
    executions,
    hooks,
    rewrites,
    sessions,
    statuses,
    wire,
)
from runlock.conformance.families.message_loop.invariants.authority import (
    approval_of,
    decides,
    execution_of,
    nobody_is_there,
    prompt_verdict,
    standing,
    token_uses,
)
from runlock.conformance.families.message_loop.invariants.results import HELD, CheckResults, broken, named
from runlock.conformance.families.message_loop.messages import (
    CallMoved,
    Checkpointed,
    GateOpened,
    Published,
    TurnEnded,
)
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedCall
from runlock.conformance.family.invariant import Invariant, held_or

Check = Callable[..., CheckResults]


def _executed(driven: bool, by: str) -> Check:
    """A call of a chat turn, or of a stage, that has this approval is executed."""

    def check(state: ObservedState, seen: GateOpened) -> CheckResults:
        for call in denials.round_is_settled(state, seen):
            fits = call.path.is_driven == driven and approval_of(state, call) == by
            if fits and call.guard_denial is None and CERTAIN.get(by, _always)(state, call):
                yield held_or(bool(call.entries), f"{named(call)} was approved by {by}, yet it did not run")

    return check


def _is_certainly_granted(state: ObservedState, call: ObservedCall) -> bool:
    """Whether a standing grant covers a call that no one was asked about, and was given for such a call.

    Grants of the mode gate and of the state machine need not count for each other.
    """
    ask = "grant" if call.path.is_driven else "mode"
    known = state.policy("grant.match") is not None and state.policy("grant.scopes") is not None
    return known and not call.prompts and any(grant.ask == ask for grant in standing(state, call))


def _has_certainly_a_token(state: ObservedState, call: ObservedCall) -> bool:
    """Whether a call ran, or the tokens of its stage execution are enough for all calls of its tool."""
    if call.entries:
        return True
    execution = execution_of(call)
    if execution is None or call.prompts or decides(state):
        return False
    every = [one for path in execution.passes for one in path.every_call()]
    return sum(one.name == call.name for one in every) <= token_uses(call)


def _always(state: ObservedState, call: ObservedCall) -> bool:
    return True


CERTAIN: Final = {"standing": _is_certainly_granted, "token": _has_certainly_a_token}
"""By what approves a call: whether it certainly does; the mode, the envelope and an answer leave no doubt."""


def _runs_not(driven: bool, why: Callable[[ObservedState, ObservedCall], bool], words: str) -> Check:
    """A call of a chat turn, or of a stage, does not run for this reason."""

    def check(state: ObservedState) -> CheckResults:
        for call in state.run.every_call() if state.run is not None else ():
            if call.path.is_driven == driven and call.is_usable and why(state, call):
                yield held_or(not call.entries, f"{words} {named(call)}, yet its tool was entered")

    return check


def _unasked(state: ObservedState, call: ObservedCall) -> bool:
    return not call.prompts and nobody_is_there(state) and not approval_of(state, call)


def _denied(state: ObservedState, call: ObservedCall) -> bool:
    return prompt_verdict(state, call) == "deny"


def _entered(driven: bool) -> Check:
    """A call of a chat turn, or of a stage, is entered by no way but the drawn ones."""

    def check(state: ObservedState, seen: GateOpened) -> CheckResults:
        path = state.path_of(seen)
        if path is not None and path.is_driven == driven:
            yield from entry.a_call_runs_on_an_approval_of_its_own(state, seen)

    return check


def _of_kind(check: Check, *kinds: str) -> Check:
    """The same check, only in turns of these kinds."""

    def narrowed(state: ObservedState, *seen: GateOpened) -> CheckResults:
        turn = state.turn_of(*seen) if seen else state.run
        if turn is not None and turn.kind in kinds:
            yield from check(state, *seen)

    return narrowed


def a_continuation_below_the_bound_begins(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A continuation below the bound begins, and counts one round."""
    path = state.path_of(seen)
    if path is not None and path.sent and path.sent[-1].calls:
        right = len(path.sent) + 1 <= bounds.requests_allowed(state, path)
        yield held_or(right, f"{path.label} continues beyond its bound")


def a_turn_without_work_ends(state: ObservedState) -> CheckResults:
    """A turn that has begun and waits at no gate is over."""
    turn = state.run
    if turn is not None and turn.gates and not turn.open_gates():
        yield held_or(turn.is_done, f"turn {turn.id} waits at no gate, yet it is not over")


def an_attempt_follows_a_retry(state: ObservedState, seen: GateOpened) -> CheckResults:
    """An assertion of retry leads to another attempt of the same stage execution."""
    path = state.path_of(seen)
    if path is not None and path.attempt > 1 and not path.sent:
        before = path.turn.executions[path.stage or ""].passes[-2]
        said = before.asserts[-1].answered_with if before.asserts else ""
        why = f"{path.label} begins attempt {path.attempt}, yet its last assertion said {said or 'nothing'}"
        yield held_or(said == "retry", why)


def an_assertion_follows_act(capped: bool) -> Check:
    """Act ends when its pass ends by itself, or reaches the cap."""

    def check(state: ObservedState, seen: GateOpened) -> CheckResults:
        path = state.path_of(seen)
        last = path.sent[-1] if path is not None and path.sent else None
        if path is None or last is None or last.response is None:
            yield broken("an assertion is asked before its stage execution has a whole response")
        elif (bool(last.calls) and not last.is_terminal) == capped:
            yield HELD

    return check


def a_group_goes_on_while_others_run(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """A sibling that exits while others run leaves the group running."""
    turn = state.turn_of(seen)
    if turn is not None and turn.kind == "group" and seen.cause == "exit":
        others = [one for one in turn.executions.values() if one.id != seen.stage and not one.is_join]
        if any(not one.exit_checkpoints for one in others):
            yield held_or(not turn.is_done, f"turn {turn.id} was over before its last sibling")


def _each(
    clauses: str, check: Check, seeing: type | None = None, at: tuple[str, ...] = ()
) -> Iterator[Invariant]:
    """The check for each of these clauses."""
    area, _, numbers = clauses.partition(" ")
    for number in numbers.split():
        yield Invariant(f"{area}-{number}", check, seeing, at=at, is_deferred=True)


MODEL, TOOL, HOOK, ASSERT = ("model",), ("tool",), ("hook",), ("assert",)
NAMED: tuple[Iterable[Invariant], ...] = (
    _each("AUTH 41 42 67", _executed(False, "mode"), GateOpened, MODEL),
    _each("AUTH 45 68", _executed(False, "answer"), GateOpened, MODEL),
    _each("AUTH 54 55 72", _executed(True, "envelope"), GateOpened, MODEL),
    _each("AUTH 56 73", _executed(True, "token"), GateOpened, MODEL),
    _each("AUTH 57 74", _executed(True, "standing"), GateOpened, MODEL),
    _each("AUTH 60 75", _executed(True, "answer"), GateOpened, MODEL),
    _each("AUTH 44", _runs_not(False, _unasked, "nobody is there to approve")),
    _each("AUTH 59", _runs_not(True, _unasked, "nobody is there to approve")),
    _each("GATE 2", _runs_not(True, _denied, "an interactor denied")),
    _each("AUTH 80", _entered(False), GateOpened, TOOL),
    _each("AUTH 81", _entered(True), GateOpened, TOOL),
    _each("CALL 19", statuses.a_call_that_did_not_run_did_not_succeed, CallMoved),
    _each("CALL 20", statuses.a_call_ends_as_its_tool_answered, CallMoved),
    _each("CANCEL 23", cancelling.results_before_a_cancel_stand_as_declared, GateOpened, MODEL),
    _each("CANCEL 24 29", cancelling.a_cancelled_turn_is_over),
    _each("HOOK 43", hooks.a_body_waits_for_its_hooks, GateOpened, ("model", "tool")),
    _each("HOOK 44", hooks.a_post_hook_comes_after_the_body, GateOpened, HOOK),
    _each("HOOK 60", hooks.a_hook_is_asked_once, GateOpened, HOOK),
    _each("LOOP 70 79", a_continuation_below_the_bound_begins, GateOpened, MODEL),
    _each("RUN 3", ends.a_natural_end_has_a_last_response, TurnEnded, ("NaturalEnd",)),
    _each("RUN 5", bounds.a_chat_turn_ends_at_its_bound_as_declared, TurnEnded),
    _each("RUN 6", rewrites.a_denial_ends_the_turn_as_blocked, TurnEnded),
    _each("RUN 7", cancelling.a_cancelled_turn_ends_as_cancelled, TurnEnded),
    _each("RUN 8", ends.a_fault_ends_the_turn_in_error, TurnEnded),
    _each("TURN 40", an_assertion_follows_act(False), GateOpened, ASSERT),
    _each("TURN 41", an_assertion_follows_act(True), GateOpened, ASSERT),
    _each("TURN 42", executions.exit_makes_the_slot_durable, Checkpointed, ("exit",)),
    _each("TURN 43", an_attempt_follows_a_retry, GateOpened, MODEL),
    _each("TURN 44 45 47", executions.exit_after_a_failure_is_as_declared, TurnEnded),
    _each("TURN 46 70", executions.a_stage_that_is_ok_has_exited, TurnEnded),
    _each("TURN 48", _of_kind(rewrites.a_denial_ends_the_turn_as_blocked, "stage", "group"), TurnEnded),
    _each("TURN 48", _of_kind(ends.a_fault_ends_the_turn_in_error, "stage", "group"), TurnEnded),
    _each("TURN 50", a_group_goes_on_while_others_run, Checkpointed, ("exit",)),
    _each("TURN 51", executions.the_join_waits_for_every_sibling, GateOpened),
    _each("TURN 52 53 71", _of_kind(executions.a_stage_that_is_ok_has_exited, "group"), TurnEnded),
    _each("TURN 54", _of_kind(executions.a_failure_ends_the_turn_in_error, "group"), TurnEnded),
    _each("TURN 72", sessions.a_turn_starts_once, Published, ("SessionTurnStart",)),
    _each("TURN 57", a_turn_without_work_ends),
    _each("TURN 59", sessions.a_turn_that_is_over_has_ended_its_bracket),
    _each("WIRE 41", wire.a_request_ends_as_it_did, Published, ("ProviderRequestCompleted",)),
    _each("WIRE 42", wire.a_request_ends_as_it_did, Published, ("ProviderRequestFailed",)),
    _each("WIRE 50", wire.a_denial_is_true, Published, ("ToolCallDenied",)),
    _each("WIRE 51", wire.a_call_goes_through_its_events, Published, ("ToolInvocationStarted",)),
    _each("WIRE 52 55", wire.a_call_is_announced_as_what_happened, Published, ("ToolInvocationFailed",)),
    _each("WIRE 54", wire.a_call_is_announced_as_what_happened, Published, ("ToolInvocationSucceeded",)),
    _each("WIRE 56", wire.a_call_is_announced_as_what_happened, Published, ("ToolInvocationCancelled",)),
)  # fmt: skip

INVARIANTS = tuple(check for checks in NAMED for check in checks)
