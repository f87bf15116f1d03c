"""AUTH, CANCEL: tokens and grants that spare a prompt, and the words for aborted and denied calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runlock.conformance.families.message_loop.invariants.authority import (
    covers,
    in_envelope,
    on_tokens,
    prompt_verdict,
    token_uses,
)
from runlock.conformance.families.message_loop.invariants.cancelling import aborted
from runlock.conformance.families.message_loop.invariants.entry import entering
from runlock.conformance.families.message_loop.invariants.occasions import rewrite_of
from runlock.conformance.families.message_loop.invariants.prompts import prompting
from runlock.conformance.families.message_loop.invariants.reading import is_as_composed
from runlock.conformance.families.message_loop.invariants.results import CheckResults, named, quoted
from runlock.conformance.families.message_loop.messages import GateOpened
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import Grant, ObservedCall
from runlock.conformance.family.invariant import Invariant, broken, check, held_or, ranked
from runlock.conformance.family.rank import Rank

Check = Callable[..., CheckResults]


@check("AUTH-29", at=("tool",), rank=Rank.CONSENT)
def a_token_is_spent_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A token is spent with the approval, or only by an execution: a denied call shows which."""
    call, policy = entering(state, seen), state.policy("grant.spent")
    if call is None or policy is None or call.prompts or not token_uses(call) or in_envelope(state, call):
        return
    ran, denied = len(on_tokens(state, call)), len(on_tokens(state, call, denied_too=True))
    if denied > ran and not any(grant.name == call.name for grant in state.grants):
        left = token_uses(call) - (denied if policy == "approval" else ran)
        why = f"a token is spent by each {policy}, and {denied - ran} denied calls used some"
        yield held_or(left > 0, f"{why}, yet {named(call)} ran on one")


@check("AUTH-29", at=("prompt",), rank=Rank.CONSENT)
def a_denied_token_is_free_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where only an execution spends a token, a call after a denied one runs on it unasked."""
    call, policy = state.call_of(seen), state.policy("grant.spent")
    if call is None or not call.is_usable or policy is None or not call.path.is_driven or call.prompts:
        return
    if not token_uses(call) or in_envelope(state, call):
        return
    ran, denied = len(on_tokens(state, call)), len(on_tokens(state, call, denied_too=True))
    alone = len(call.request.calls) == 1
    granted = any(grant.name == call.name for grant in state.grants)  # which may have spared a token
    if denied > ran and alone and not granted:
        asks = policy == "approval" or token_uses(call) <= ran
        yield held_or(asks, f"a denied call spends no token, yet people are asked about {named(call)}")


def _fitted(in_its_turn: bool) -> Check:
    """No one is asked about a call that a standing grant of this turn, or of an earlier one, fits."""

    def check(state: ObservedState, seen: GateOpened) -> CheckResults:
        for grant, reason in _asked_in_spite_of_a_grant(state, seen):
            if (grant.turn is state.turn_of(seen)) == in_its_turn:
                yield broken(reason)

    return check


def _asked_in_spite_of_a_grant(state: ObservedState, seen: GateOpened) -> Iterator[tuple[Grant, str]]:
    call, match = prompting(state, seen), state.policy("grant.match")
    if call is None or match is None or state.policy("grant.scopes") is None:
        return
    fits = "calls with the same arguments" if match == "arguments" else "each later call of its tool"
    for grant in state.grants:
        if _certainly_covers(state, grant, call, seen):
            why = f"the {grant.scope} grant of call {grant.call.id} fits {fits}"
            yield grant, f"{why}, yet people are asked about {named(call)}"


def _certainly_covers(state: ObservedState, grant: Grant, call: ObservedCall, seen: GateOpened) -> bool:
    """Whether a grant, which was the only thing sent in its window, certainly covers a later call.

    A call that the model asked for before the grant, in another stage execution, is none.
    """
    asked_at = call.request.model_gates[-1].released_at
    is_earlier = grant.at < asked_at and grant.call.request is not call.request and grant.ask == seen.ask
    is_certain = state.is_clean(grant.window) and prompt_verdict(state, grant.call) == "allow"
    reaches = grant.scope == "session" or grant.stage is not None
    same = state.policy("grant.match") == "tool" or grant.args == seen.args
    return is_earlier and is_certain and reaches and same and covers(state, grant, call)


@check("CANCEL-10", at=("model",), rank=Rank.SHOWN)
def the_model_is_told_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The model reads different words for an aborted call and for a denied one, or the same words."""
    policy, path = state.policy("told"), state.path_of(seen)
    if policy is None or seen.messages is None or path is None or not is_as_composed(state, path):
        return
    texts = {message.call: message.text for message in seen.messages if message.role == "tool"}
    calls = [call for turn in state.turns.values() for call in turn.every_call() if not call.doubled]
    gone = {id(call) for turn in state.turns.values() for call in aborted(state, turn)}
    cut = [_plain(texts[call.id], call) for call in calls if id(call) in gone and call.id in texts]
    refused = [
        _plain(texts[call.id], call) for call in calls if call.id in texts and _was_denied(state, call)
    ]
    if cut and refused:
        if policy == "apart":
            right = not set(cut) & set(refused)
            yield held_or(right, f"an aborted call and a denied one both read {quoted(cut[0])}")
        else:
            right = set(cut) == set(refused)
            yield held_or(
                right, f"an aborted call reads {quoted(cut[0])}, and a denied one {quoted(refused[0])}"
            )


def _was_denied(state: ObservedState, call: ObservedCall) -> bool:
    """Whether a person denied the call, with no words added, and no cancel met its turn."""
    answers = (gate for prompt in call.prompts for gate in prompt.answers)
    wordless = not any((gate.answer or {}).get("message") for gate in answers)
    rewritten, _ = rewrite_of(call.hook_gates("post"), "content")
    plain = wordless and not rewritten and not call.path.turn.cancelled_at
    return plain and prompt_verdict(state, call) == "deny"


def _plain(text: str, call: ObservedCall) -> str:
    """The words of a result without what names its call."""
    return text.replace(call.id, "CALL").replace(call.name, "TOOL")


INVARIANTS = ranked(
    Rank.CONSENT,
    Invariant("AUTH-28", _fitted(True), GateOpened, at=("prompt",)),
    Invariant("AUTH-27", _fitted(False), GateOpened, at=("prompt",)),
)
