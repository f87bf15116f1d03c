"""TURN: the bracket of a turn, the session history, and what is stored of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from runlock.conformance.families.message_loop.invariants.denials import people_may_stop_others
from runlock.conformance.families.message_loop.invariants.occasions import is_odd
from runlock.conformance.families.message_loop.invariants.reading import (
    final_texts_of,
    input_of,
    is_as_composed,
    is_doubled,
    said,
    texts_of,
)
from runlock.conformance.families.message_loop.invariants.results import (
    CheckResults,
    broken,
    listed,
    named,
    quoted,
)
from runlock.conformance.families.message_loop.messages import (
    GateOpened,
    Message,
    MessageAppended,
    Published,
    RunInspected,
    TurnEnded,
)
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedCall, ObservedPass, ObservedTurn
from runlock.conformance.family.invariant import Invariant, check, held_or, ranked
from runlock.conformance.family.rank import Rank

WITH_CORRELATION: Final = ("StagePreFired", "StagePostFired", "Rendered")


def own(state: ObservedState, seen: Published) -> ObservedTurn | None:
    """The turn of an event that the kit itself got."""
    return state.turn_of(seen) if seen.watcher is None else None


def a_turn_starts_once(state: ObservedState, seen: Published) -> CheckResults:
    """A turn has one SessionTurnStart, before each of its gates and its other events."""
    turn = own(state, seen)
    if turn is None:
        return
    if turn.named("SessionTurnStart"):
        yield broken(f"turn {turn.id} published SessionTurnStart twice")
        return
    outside = state.policy("turn.bracket") == "outside"
    gates = [gate.ref for gate in turn.gates if outside or not _inside_receive(gate.opened)]
    events = [event.name for _, event in turn.events if outside or not _is_receive(event)]
    first = (gates + events)[:1]
    yield held_or(not first, f"{listed(first)} of turn {turn.id} came before its SessionTurnStart")


def _inside_receive(opened: GateOpened) -> bool:
    return opened.at == "RECEIVE_INPUT" or (opened.on == "store.put" and opened.cause == "input")


def _is_receive(event: Published) -> bool:
    return event.name in ("StagePreFired", "StagePostFired") and event.get("stage") == "RECEIVE_INPUT"


@check("TURN-1", at=("model",), rank=Rank.STATUS)
def a_turn_has_started(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A turn has its SessionTurnStart before its first request is sent."""
    turn = state.turn_of(seen)
    if turn is not None:
        started = bool(turn.named("SessionTurnStart"))
        yield held_or(started, f"turn {turn.id} sends a request, and SessionTurnStart was not published")


def a_turn_ends_its_bracket_once(state: ObservedState, seen: Published) -> CheckResults:
    """A turn has one SessionTurnEnd, after each of its gates except the end commit."""
    turn = own(state, seen)
    if turn is None:
        return
    if turn.named("SessionTurnEnd"):
        yield broken(f"turn {turn.id} published SessionTurnEnd twice")
        return
    if not turn.named("SessionTurnStart") and state.shows("SessionTurnStart"):
        yield broken(f"turn {turn.id} published SessionTurnEnd without SessionTurnStart")
        return
    left = [g.ref for g in turn.open_gates() if not (g.on == "store.put" and g.opened.cause == "end")]
    drains = turn.cancelled_at and state.policy("cancel.inflight") != "abort"
    yield held_or(
        not left or bool(drains), f"turn {turn.id} published SessionTurnEnd while it waits at {listed(left)}"
    )


@check("TURN-2", rank=Rank.STATUS)
def no_gate_opens_after_the_bracket(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No gate of a turn opens after its SessionTurnEnd except the end commit."""
    turn = state.turn_of(seen)
    if (
        turn is not None
        and turn.named("SessionTurnEnd")
        and not (seen.on == "store.put" and seen.cause == "end")
    ):
        yield broken(f"turn {turn.id} published SessionTurnEnd, yet a {seen.on} gate opened after it")


@check("TURN-2", rank=Rank.STATUS)
def a_turn_that_is_over_has_ended_its_bracket(state: ObservedState) -> CheckResults:
    """A turn that is over has its SessionTurnEnd on every way out, or only where it rendered."""
    turn, policy = state.run, state.policy("turn.end")
    if turn is None or turn.reason is None or policy is None:
        return
    if state.shows("SessionTurnStart") and not turn.named("SessionTurnStart"):
        return
    ended = bool(turn.named("SessionTurnEnd"))
    if policy == "rendered" and (_may_skip_render(state, turn) or _broke_at_its_end(turn)):
        return
    if policy == "always" or turn.reason.code == "NaturalEnd":
        yield held_or(
            ended, f"turn {turn.id} ended as {turn.reason.code}, and SessionTurnEnd was not published"
        )
    elif turn.kind == "chat":
        why = (
            f"turn {turn.id} ended as {turn.reason.code} and did not render, yet it published SessionTurnEnd"
        )
        yield held_or(not ended, why)


def _broke_at_its_end(turn: ObservedTurn) -> bool:
    """Whether the last checkpoint of the turn failed, which comes after RENDER."""
    return any(gate.on == "store.put" and gate.opened.cause == "end" for gate in turn.faults())


def _may_skip_render(state: ObservedState, turn: ObservedTurn) -> bool:
    """Whether the turn may have ended by itself without RENDER, after a terminal response."""
    last = turn.passes[-1].sent[-1] if turn.passes[-1].sent else None
    return last is not None and last.is_terminal and state.policy("call.terminal") != "render"


def a_stage_has_no_bracket_of_its_own(state: ObservedState, seen: Published) -> CheckResults:
    """The pass of a stage execution emits neither SessionTurnStart nor SessionTurnEnd."""
    turn = own(state, seen)
    if turn is None or not turn.is_driven:
        return
    if seen.name == "SessionTurnStart":
        within = bool(turn.named(seen.name) and turn.named("StagePreFired"))
        yield held_or(
            not within, f"a pass of turn {turn.id} published SessionTurnStart, which the turn has already"
        )
    elif "assert" in state.handshake.gates and not turn.cancelled_at and not _is_cut_short(state, turn):
        begun = [one for one in turn.executions.values() if one.passes[0].sent]
        left = [one.id for one in begun if not one.asserts and not turn.faults() and _is_in_a_stage(turn)]
        plain = not any(call.is_malformed or call.answered_with == "raise" for call in turn.every_call())
        why = f"{listed(left)} is not asserted yet, and SessionTurnEnd was published in its pass"
        yield held_or(not left or not plain or len(begun) > 1, why)


def _is_in_a_stage(turn: ObservedTurn) -> bool:
    """Whether a stage of the turn has begun and is not over."""
    return len(turn.named("StagePreFired")) > len(turn.named("StagePostFired"))


def _is_cut_short(state: ObservedState, turn: ObservedTurn) -> bool:
    """Whether a guard, a hook that misbehaved, people or a doubled call may have ended the turn early."""
    odd = any(gate.on == "hook" and is_odd(gate) for gate in turn.gates)
    people = any(people_may_stop_others(state, request) for path in turn.passes for request in path.requests)
    return bool(turn.stage_denials()) or odd or people or is_doubled(turn)


@check("TURN-4", rank=Rank.STATUS)
def ids_name_turns_and_passes(state: ObservedState, seen: Published) -> CheckResults:
    """The turnId is one for a turn and of no other turn; the correlationId likewise for a pass."""
    turn = own(state, seen)
    if turn is None:
        return
    given = seen.get("turnId")
    if given is None:
        yield broken(f"{seen.name} of turn {turn.id} has no turnId")
        return
    first = next((one.get("turnId") for _, one in turn.events), given)
    yield held_or(given == first, f"turn {turn.id} had turnId {first}, yet {seen.name} has {given}")
    for other in state.turns_before(turn):
        taken = any(one.get("turnId") == given for _, one in other.events)
        yield held_or(not taken, f"turnId {given} is that of turn {other.id}, yet turn {turn.id} has it too")
    yield from _correlation(state, turn, seen)


def _correlation(state: ObservedState, turn: ObservedTurn, seen: Published) -> CheckResults:
    given = seen.get("correlationId")
    if given is None:
        if seen.name in WITH_CORRELATION:
            yield broken(f"{seen.name} of turn {turn.id} has no correlationId")
        return
    for other in state.turns_before(turn):
        taken = any(one.get("correlationId") == given for _, one in other.events)
        yield held_or(not taken, f"correlationId {given} is that of a pass of turn {other.id}")
    if turn.kind == "chat":
        first = next((i for _, one in turn.events if (i := one.get("correlationId")) is not None), given)
        yield held_or(
            given == first, f"the pass of turn {turn.id} has correlationId {first}, and also {given}"
        )
    elif seen.name == "StagePreFired" and seen.get("stage") == "RECEIVE_INPUT":
        taken = any(
            one.get("correlationId") == given for _, one in turn.events if one.name in WITH_CORRELATION
        )
        yield held_or(
            not taken, f"a pass begins with correlationId {given}, which an earlier one of turn {turn.id} has"
        )


# The session history.


@check("TURN-5", at=("model",), rank=Rank.LOST)
def the_input_is_in_the_history(state: ObservedState, seen: GateOpened) -> CheckResults:
    """In a chat turn the input is in the session history before the first request."""
    path = state.path_of(seen)
    if path is None or path.is_driven or path.sent:
        return
    given = input_of(path)
    there = any(one.role == "user" and one.text == given for one in path.turn.messages)
    if given is not None:
        yield held_or(
            there, f"the first request is sent, and the input {quoted(given)} is not in the history"
        )


@check("TURN-5", at=("model",), rank=Rank.LOST)
def results_are_in_the_history(state: ObservedState, seen: GateOpened) -> CheckResults:
    """In a chat turn each result is in the session history after its round."""
    path = state.path_of(seen)
    if path is None or path.is_driven or not path.sent or is_doubled(path.turn):
        return
    shown = {one.call for one in path.turn.messages if one.role == "tool"}
    missing = [call.id for call in path.sent[-1].calls if call.id not in shown]
    if path.sent[-1].calls:
        yield held_or(
            not missing,
            f"the model is asked again, and the result of call {listed(missing)} is not in the history",
        )


@check("TURN-5", rank=Rank.LOST)
def the_last_response_is_in_the_history(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """In a chat turn that ends by itself the last response is in the session history."""
    turn = state.turn_of(seen)
    if turn is None or turn.kind != "chat" or seen.reason.code != "NaturalEnd" or not turn.passes[-1].sent:
        return
    path = turn.passes[-1]
    texts = final_texts_of(path)
    if texts is None or not any(texts) or path.sent[-1].calls:
        return
    there = any(one.role == "assistant" and one.text in texts for one in turn.messages)
    yield held_or(
        there, f"turn {turn.id} ended, and its last response {quoted(max(texts))} is not in the history"
    )


@check("TURN-6", rank=Rank.LOST)
def a_stage_writes_nothing_to_the_history(state: ObservedState, seen: MessageAppended) -> CheckResults:
    """A stage execution writes nothing to the session history."""
    turn = state.turn_of(seen)
    if turn is not None and turn.is_driven:
        what = f"{seen.message.role} {quoted(seen.message.text)}"
        why = f"turn {turn.id} of stages wrote {what} to the session history"
        yield held_or(seen.transcript != "session", why)


@check("TURN-5", rank=Rank.LOST)
def a_chat_turn_writes_to_the_history(state: ObservedState, seen: MessageAppended) -> CheckResults:
    """A chat turn writes to the session history and to no transcript of a stage."""
    turn = state.turn_of(seen)
    if turn is not None and not turn.is_driven:
        why = f"chat turn {turn.id} wrote {quoted(seen.message.text)} to the transcript of a stage"
        yield held_or(seen.transcript == "session", why)


@check("TURN-12", rank=Rank.STATUS)
def inspect_shows_the_history(state: ObservedState, seen: RunInspected) -> CheckResults:
    """What inspect shows and what was announced as messages is the same history."""
    if state.run is None or not state.quiescent:
        return
    shown, known = [said(one) for one in seen.messages], [said(one) for one in state.session]
    why = f"inspect shows {len(shown)} messages, and {len(known)} were announced"
    yield held_or(
        shown == known,
        why if len(shown) != len(known) else "inspect shows other messages than were announced",
    )


@check("TURN-12", rank=Rank.STATUS)
def the_last_checkpoint_holds_the_history(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """What the last checkpoint of a turn that ended by itself holds is the history that was announced."""
    turn = state.turn_of(seen)
    if turn is None or turn.kind != "chat" or seen.reason.code != "NaturalEnd" or not turn.checkpoints:
        return
    stored = _messages(state.stored)
    if stored is not None and turn.checkpoints[-1][1].cause in ("render", "end"):
        right = [said(one) for one in stored] == [said(one) for one in state.session]
        yield held_or(
            right, f"the last checkpoint of turn {turn.id} holds another history than was announced"
        )


def _messages(raw: Any) -> list[Message] | None:
    if not isinstance(raw, Sequence) or isinstance(raw, str):
        return None
    try:
        return [Message.model_validate(one) for one in raw]
    except ValueError:
        return None


# What is stored.


TRIGGERS: Final = {"input": "UserMessage", "render": "AssistantTurnCommitted"}


def _stored(turn: ObservedTurn, cause: str) -> bool:
    return any(one.cause == cause or one.trigger == TRIGGERS[cause] for _, one in turn.checkpoints)


@check("TURN-13", at=("model",), rank=Rank.STATUS)
def the_input_is_stored_first(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The input of a chat turn is stored before its first request."""
    path = state.path_of(seen)
    if path is None or path.is_driven or path.sent or not state.observes("checkpoint"):
        return
    if path.turn.faults():
        return  # a commit that failed stored nothing
    why = f"the first request of turn {path.turn.id} is sent, and its input is not stored"
    yield held_or(_stored(path.turn, "input"), why)


@check("TURN-13", rank=Rank.STATUS)
def the_last_response_is_stored(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """The last response of a chat turn is stored at RENDER."""
    turn = state.turn_of(seen)
    last = turn.passes[-1].sent[-1] if turn is not None and turn.passes[-1].sent else None
    if turn is None or turn.kind != "chat" or seen.reason.code != "NaturalEnd" or last is None:
        return
    if state.observes("checkpoint") and not last.calls and not turn.faults():
        why = f"turn {turn.id} ended, and its last response is not stored"
        yield held_or(_stored(turn, "render"), why)


@check("TURN-14", at=("model",), rank=Rank.STATUS)
def results_are_stored_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The results of a chat turn are stored after each round, where that is declared."""
    path, policy = state.path_of(seen), state.policy("persist.results")
    if path is None or path.is_driven or policy is None or not path.sent or not path.sent[-1].calls:
        return
    if not state.observes("checkpoint") or path.sent[-1].may_be_sent_again or path.turn.faults():
        return
    rounds = sum(bool(request.calls) for request in path.sent)
    stored = sum(one.cause == "results" for _, one in path.turn.checkpoints)
    if policy == "round":
        yield held_or(stored >= rounds, f"{rounds} rounds are over, and the results of {stored} are stored")
    else:
        yield held_or(
            not stored, "results are stored at the end of the turn, yet they were stored after a round"
        )


@check("TURN-14", rank=Rank.STATUS)
def results_are_stored_by_the_end(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """The results of a chat turn are stored by its end."""
    turn = state.turn_of(seen)
    if turn is None or turn.kind != "chat" or seen.reason.code != "NaturalEnd" or is_doubled(turn):
        return
    stored = _messages(state.stored)
    calls: list[ObservedCall] = [call for call in turn.every_call() if call.answered_with == "ok"]
    if stored is not None and calls:
        held = {one.call for one in stored if one.role == "tool"}
        missing = [call for call in calls if call.id not in held]
        yield held_or(
            not missing,
            f"turn {turn.id} is over, and the result of {named(missing[0]) if missing else ''} is not stored",
        )


# What an earlier turn left.


def _first_request(state: ObservedState, seen: GateOpened) -> tuple[ObservedPass, ObservedTurn] | None:
    """The first request of a chat turn, as composed, and the turn before it, if that was a chat turn."""
    path = state.path_of(seen)
    if path is None or path.is_driven or path.sent or seen.messages is None:
        return None
    if not is_as_composed(state, path):
        return None
    before = state.turns_before(path.turn)
    return (path, before[-1]) if before and before[-1].kind == "chat" else None


@check("HOOK-12", at=("model",), rank=Rank.STATUS)
def a_refused_input_is_kept_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """An input that a guard refused stands in the session history, or does not."""
    found, policy = _first_request(state, seen), state.policy("input.refused")
    if found is None or policy is None or seen.messages is None:
        return
    _, before = found
    refused = [gate for gate in before.stage_denials() if gate.opened.at == "RECEIVE_INPUT"]
    given = input_of(before.passes[0])
    if refused and not before.cancelled_at and given and state.is_clean(refused[0].released_in):
        as_said = {given, before.input}  # a rewrite next to the denial may not have been made
        stands = any(one.role == "user" and one.text in as_said for one in seen.messages)
        does = "stands" if stands else "does not stand"
        yield held_or(
            stands == (policy == "kept"),
            f"refused input is {policy}, yet {quoted(given)} {does} in the history",
        )


@check("TURN-16", at=("model",), rank=Rank.STATUS)
def partial_text_is_kept_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Text that was streamed before a cancel, a cut or a fault stands in the history, or does not."""
    found, policy = _first_request(state, seen), state.policy("partial.text")
    if found is None or policy is None or seen.messages is None:
        return
    _, before = found
    last = before.passes[-1].sent[-1] if before.passes[-1].sent else None
    gate = last.gate if last is not None else None
    if last is None or gate is None or last.response is not None or texts_of(last) is not None:
        return
    text = "".join(last.chunks)
    clean = not before.cancelled_at or state.cancel_is_clean(before)
    if text and clean and gate.outcome is None and not last.hook_gates("STREAM_RESPONSE", "pre"):
        stands = any(one.role == "assistant" and text in one.text for one in seen.messages)
        does = "stands" if stands else "does not stand"
        yield held_or(
            stands == (policy == "kept"),
            f"partial text is {policy}, yet {quoted(text)} {does} in the history",
        )


def _bracket(check: Callable[..., CheckResults], name: str, clause: str) -> Invariant:
    return Invariant(clause, check, Published, at=(name,))


INVARIANTS = ranked(
    Rank.STATUS,
    _bracket(a_stage_has_no_bracket_of_its_own, "SessionTurnStart", "TURN-3"),
    _bracket(a_stage_has_no_bracket_of_its_own, "SessionTurnEnd", "TURN-3"),
    _bracket(a_turn_starts_once, "SessionTurnStart", "TURN-1"),
    _bracket(a_turn_ends_its_bracket_once, "SessionTurnEnd", "TURN-2"),
)
