"""AUTH: how far a denial reaches, and what becomes of calls that no one approved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runlock.conformance.families.message_loop.invariants.authority import (
    approval_of,
    last_prompt,
    passes_unasked,
    prompt_verdict,
    standing,
    token_uses,
    verdict_of,
)
from runlock.conformance.families.message_loop.invariants.occasions import is_odd
from runlock.conformance.families.message_loop.invariants.results import HELD, CheckResults, broken, named
from runlock.conformance.families.message_loop.messages import (
    GateOpened,
    MessageAppended,
    Published,
    Reason,
    TurnEnded,
)
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import (
    ObservedCall,
    ObservedGate,
    ObservedRequest,
    ObservedTurn,
)
from runlock.conformance.family.invariant import Invariant, check, counts, held_or, ranked
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import GateClosed


def denials_in(state: ObservedState, request: ObservedRequest) -> list[ObservedGate]:
    """The answers of people that denied a call of the round, as far as they certainly counted."""
    found = []
    for call in request.calls:
        prompt = last_prompt(call)
        if prompt is not None and verdict_of(state, prompt) == "deny":
            gate = prompt.first_firm
            if gate is not None and state.is_clean(gate.released_in):
                found.append(gate)
    return found


def people_may_stop_others(state: ObservedState, request: ObservedRequest) -> bool:
    """Whether an answer about one call of the round, or none, may keep its other calls from running."""
    return _may_stop_the_round(state, request.calls)


def other_calls_may_stop_it(state: ObservedState, call: ObservedCall) -> bool:
    """Whether an answer about another call of the round, or none, may deny a call as well."""
    return _may_stop_the_round(state, [one for one in call.request.calls if one is not call])


def _may_stop_the_round(state: ObservedState, calls: Sequence[ObservedCall]) -> bool:
    denied = {prompt_verdict(state, call) for call in calls} & {"deny", "unclear"}
    halts = state.policy("prompt.unanswered") != "deny" and any(is_unanswered(state, call) for call in calls)
    return halts or (bool(denied) and state.policy("reject.reach") != "call")


@check("AUTH-14", at=("tool", "prompt", "sm"), rank=Rank.LOST)
def a_denial_reaches_the_round(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a denial reaches the round, no call of it starts or is asked about any more."""
    call = state.call_of(seen)
    if call is None or not call.is_usable or state.policy("reject.reach") not in ("round", "turn"):
        return
    for gate in denials_in(state, call.request):
        if gate.call is not call:
            yield broken(
                f"the denial of call {gate.opened.call} reaches its round, yet {named(call)} "
                f"{'ran' if seen.on == 'tool' else 'was asked about'} after it"
            )
            return


@check("AUTH-14", at=("model",), rank=Rank.LOST)
def a_denial_reaches_the_turn(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a denial reaches the turn, the model is not asked again; elsewhere it is."""
    path, reach = state.path_of(seen), state.policy("reject.reach")
    request = path.sent[-1] if path is not None and path.sent else None
    if request is None or reach is None:
        return
    for gate in denials_in(state, request):
        why = f"the denial of call {gate.opened.call} ends the turn, yet the model is asked again"
        yield held_or(reach != "turn", why)


@check("AUTH-14", rank=Rank.LOST)
def a_denial_that_reaches_its_call_ends_no_turn(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A denial that does not reach the turn does not end it."""
    turn, reach = state.turn_of(seen), state.policy("reject.reach")
    if turn is None or reach in (None, "turn") or turn.cancelled_at or not _is_blocked(seen.reason):
        return
    denied = [
        gate for path in turn.passes for request in path.requests for gate in denials_in(state, request)
    ]
    given_up = any(gate.on == "prompt" and gate.closed_at for gate in turn.gates)
    if given_up or _is_stopped_by_a_hook(turn) or turn.faults() or unanswered(state, turn):
        return
    if denied:
        yield broken(
            f"the denial of call {denied[-1].opened.call} reaches its {reach}, "
            f"yet the turn ended as {seen.reason.code}"
        )


def _is_stopped_by_a_hook(turn: ObservedTurn) -> bool:
    """Whether a guard of a stage said no, or a hook gave an answer that may count as one."""
    return bool(turn.stage_denials()) or any(gate.on == "hook" and is_odd(gate) for gate in turn.gates)


def _is_blocked(reason: Reason) -> bool:
    return reason.code in ("Blocked", "Cancelled")


def unanswered(state: ObservedState, turn: ObservedTurn) -> list[ObservedCall]:
    """The calls of the mode gate that no one answered for, or may not have."""
    return [call for call in turn.every_call() if is_unanswered(state, call)]


def is_unanswered(state: ObservedState, call: ObservedCall) -> bool:
    """Whether no one answered the mode gate about a call, or may not have."""
    if call.path.is_driven or not call.is_usable:
        return False
    nobody = not call.prompts and not passes_unasked(state, call) and not state.active
    return nobody or prompt_verdict(state, call) in ("defer", "gone", "unclear")


@check("AUTH-26", at=("model",), rank=Rank.LOST)
def an_unanswered_prompt_goes_on_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A prompt that no one answers ends the turn where that halts; there the model is not asked again."""
    path, policy = state.path_of(seen), state.policy("prompt.unanswered")
    request = path.sent[-1] if path is not None and path.sent else None
    if request is None or policy is None or path is None or path.is_driven:
        return
    for call in request.calls:
        if call.is_usable and prompt_verdict(state, call) in ("defer", "gone"):
            why = f"nobody answered for {named(call)}, which halts the turn, yet the model is asked again"
            yield held_or(policy != "halt", why)


@check("AUTH-26", rank=Rank.LOST)
def an_unanswered_prompt_ends_as_declared(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A prompt that no one answers does not end the turn where it denies its call."""
    turn, policy = state.turn_of(seen), state.policy("prompt.unanswered")
    if turn is None or turn.is_driven or policy != "deny" or turn.cancelled_at:
        return
    calls = unanswered(state, turn)
    if seen.reason.code != "Blocked" or _is_stopped_by_a_hook(turn):
        return
    if calls and not _denied(state, turn):
        yield broken(
            f"nobody answered for {named(calls[-1])}, which denies the call, yet the turn ended as Blocked"
        )


def _denied(state: ObservedState, turn: ObservedTurn) -> bool:
    return any(prompt_verdict(state, call) in ("deny", "unclear") for call in turn.every_call())


@check("AUTH-7", rank=Rank.LOST)
def a_grant_that_is_not_given_ends_no_turn(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A grant that is deferred, or that no one can give, blocks its call and not the turn."""
    turn = state.turn_of(seen)
    if turn is None or not turn.is_driven or turn.cancelled_at or turn.faults():
        return
    if _is_stopped_by_a_hook(turn):
        return
    calls = [one for one in turn.every_call() if prompt_verdict(state, one) in ("defer", "gone")]
    if calls and not _denied(state, turn):
        yield held_or(
            seen.reason.code != "Blocked",
            f"{named(calls[-1])} got no grant, which denies it alone, yet the turn was Blocked",
        )


@check("AUTH-7", at=("ToolCallDenied",), rank=Rank.LOST)
def a_call_without_a_grant_is_blocked_as_such(state: ObservedState, seen: Published) -> CheckResults:
    """A call whose grant was denied, deferred or could not be given is blocked as GrantDenied."""
    call = state.call_of(seen, seen.get("call")) if seen.watcher is None else None
    if call is None or not call.is_usable or not call.path.is_driven or call.path.turn.cancelled_at:
        return
    asked = prompt_verdict(state, call)
    nobody = not call.prompts and not state.active and not approval_of(state, call)
    hooked = any(gate.answered_with not in ("", "continue", "rewrite") for gate in call.hooks)
    if (asked in ("deny", "defer", "gone") or nobody) and not hooked:
        code = seen.get("code")
        allowed = ("GrantDenied", "Cascade") if nobody else ("GrantDenied",)
        yield held_or(
            code in allowed, f"the grant for {named(call)} was not given, yet it was denied as {code}"
        )


def round_is_settled(state: ObservedState, seen: GateOpened) -> list[ObservedCall]:
    """The calls of the round before a request, where nothing but their own course explains them."""
    path = state.path_of(seen)
    request = path.sent[-1] if path is not None and path.sent else None
    if request is None or request.path.turn.cancelled_at or request.may_be_sent_again:
        return []
    if state.gone_in or _is_disturbed(state, request):
        return []
    return [call for call in request.calls if call.is_usable]


def _is_disturbed(state: ObservedState, request: ObservedRequest) -> bool:
    """Whether people, or a hook that broke or misbehaved, explain that calls did not run."""
    hooks = [gate for call in request.calls for gate in call.hooks]
    odd = any(is_odd(gate) or gate.answered_with == "fault" for gate in hooks)
    return odd or people_may_stop_others(state, request)


def an_uncovered_call_is_asked_about(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that nothing covers was put to the interactors before the model is asked again."""
    for call in round_is_settled(state, seen):
        covered = passes_unasked(state, call) or standing(state, call) or token_uses(call)
        if covered or not state.active or call.guard_denial is not None:
            continue
        yield held_or(
            bool(call.prompts), f"nothing covers {named(call)}, yet it was settled without asking anybody"
        )


def _in_a_stage(check_stage: bool) -> Callable[..., CheckResults]:
    def check(state: ObservedState, seen: GateOpened) -> CheckResults:
        path = state.path_of(seen)
        if path is not None and path.is_driven == check_stage:
            yield from an_uncovered_call_is_asked_about(state, seen)

    return check


@check("AUTH-14", at=("model",), rank=Rank.LOST)
def a_denial_reaches_its_call_alone(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a denial reaches its call alone, the other calls of the round are asked about, or run."""
    if state.policy("reject.reach") != "call":
        return
    for call in round_is_settled(state, seen):
        denials = [gate for gate in denials_in(state, call.request) if gate.call is not call]
        if denials and state.active and call.guard_denial is None:
            dropped = not call.prompts and not call.entries and not call.judged
            denied = denials[0].opened.call
            why = f"the denial of call {denied} reaches its call alone, yet {named(call)} was dropped"
            yield held_or(not dropped, why)


@check("ROUND-1", at=("model",), rank=Rank.LOST)
def an_approved_call_is_executed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that is approved, and that no guard denies, was executed before the model is asked again."""
    for call in round_is_settled(state, seen):
        verdict = prompt_verdict(state, call)
        approved = verdict == "allow" or (passes_unasked(state, call) and not call.prompts)
        if approved and call.guard_denial is None:
            yield held_or(bool(call.entries), f"{named(call)} was approved, yet it did not run")


@check("AUTH-20", rank=Rank.CONSENT)
def a_late_answer_changes_nothing(
    state: ObservedState, seen: GateOpened | GateClosed | MessageAppended | TurnEnded
) -> CheckResults:
    """A late answer opens no gate, closes none, writes nothing and ends nothing."""
    if state.last_method != "late" or not state.is_clean(state.window):
        return
    yield broken(f"a late answer for gate {state.last_params['gate']} made the runtime show {seen.kind}")


@check("AUTH-30", rank=Rank.LOST)
def a_late_answer_is_taken_as_declared(state: ObservedState) -> CheckResults:
    """A late answer is refused, or ignored."""
    policy = state.policy("late.answer")
    if state.last_method != "late" or not state.is_clean(state.window):
        return
    if policy is None:
        yield HELD
        return
    refused, gate = bool(state.last_refused), state.last_params["gate"]
    done = "refused" if refused else "taken without a word"
    yield held_or(
        refused == (policy == "refused"), f"late answers are {policy}, yet the one for gate {gate} was {done}"
    )


@counts("AUTH-20")
def a_late_answer_was_quiet(state: ObservedState) -> CheckResults:
    """Counts the late answers after which nothing was shown."""
    if state.last_method == "late" and not state.shown_last:
        yield HELD


INVARIANTS = ranked(
    Rank.LOST,
    Invariant("AUTH-5", _in_a_stage(True), GateOpened, at=("model",)),
    Invariant("AUTH-43", _in_a_stage(False), GateOpened, at=("model",)),
)
