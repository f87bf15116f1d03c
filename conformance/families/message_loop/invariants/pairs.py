"""PAIR, ROUND: the history that the model gets: one result for each call, and the right one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from runlock.conformance.families.message_loop.invariants.reading import (
    any_doubled,
    chat_turns_before,
    is_as_composed,
    result_of,
)
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResults,
    broken,
    listed,
    named,
    quoted,
)
from runlock.conformance.families.message_loop.messages import GateOpened, Message
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedCall, ObservedPass
from runlock.conformance.family.invariant import check, held_or
from runlock.conformance.family.rank import Rank

Flaws = list[tuple[str, str]]
"""The clause and the reason of each flaw in a history."""


def flaws_of(messages: Sequence[Message]) -> Flaws:
    """Where calls and results of a history do not pair."""
    flaws: Flaws = []
    open_calls: dict[str, bool] = {}  # call: whether its result was seen
    for message in messages:
        if message.role == "assistant":
            flaws += _dangling(open_calls)
            open_calls.update({call.id: False for call in message.tool_calls})
        elif message.role == "tool" and message.call is not None:
            if message.call not in open_calls:
                flaws.append(
                    ("PAIR-2", f"the result of call {message.call} follows no turn that asked for it")
                )
            elif open_calls[message.call]:
                flaws.append(("PAIR-3", f"call {message.call} has two results"))
            open_calls[message.call] = True
    return flaws + _dangling(open_calls)


def _dangling(open_calls: dict[str, bool]) -> Flaws:
    missing = [call for call, answered in open_calls.items() if not answered]
    for call in missing:
        open_calls[call] = True
    return [("PAIR-1", f"call {listed(missing)} has no result")] if missing else []


def _history(state: ObservedState, seen: GateOpened) -> list[Message] | None:
    path = state.path_of(seen)
    if path is None or seen.messages is None or not is_as_composed(state, path) or any_doubled(state):
        return None
    return seen.messages


def _judged(state: ObservedState, seen: GateOpened, clause: str, role: str) -> CheckResults:
    """Whether a history with messages of this role has flaws under this clause."""
    messages = _history(state, seen)
    if messages is None or not any(message.role == role for message in messages):
        return
    found = [reason for named_clause, reason in flaws_of(messages) if named_clause == clause]
    yield held_or(not found, f"the model is asked with a history in which {'; '.join(found)}")


@check("PAIR-1", at=("model",), rank=Rank.LOST)
def each_call_of_a_history_has_a_result(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Each call in the history of a request has a result."""
    yield from _judged(state, seen, "PAIR-1", "assistant")


@check("PAIR-2", at=("model",), rank=Rank.LOST)
def each_result_follows_the_turn_of_its_call(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Each result in the history of a request follows a turn that asked for it."""
    yield from _judged(state, seen, "PAIR-2", "tool")


@check("PAIR-3", at=("model",), rank=Rank.LOST)
def no_call_of_a_history_has_two_results(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No call in the history of a request has two results."""
    yield from _judged(state, seen, "PAIR-3", "tool")


@check("TURN-11", at=("model",), rank=Rank.STATUS)
def a_later_turn_works_on_a_whole_history(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After a turn that ended in any way, the next one starts on a history that is well-formed."""
    turn, messages = state.turn_of(seen), _history(state, seen)
    path = state.path_of(seen)
    if turn is None or messages is None or path is None or path.sent:
        return
    before = chat_turns_before(state, turn)
    if before and not turn.is_driven:
        ended = before[-1].reason.code if before[-1].reason is not None else ""
        reasons = [reason for _, reason in flaws_of(messages)]
        why = f"turn {before[-1].id} ended as {ended}, and the next one starts on a history in which"
        yield held_or(not reasons, f"{why} {'; '.join(reasons)}")


def _results(state: ObservedState, seen: GateOpened) -> list[tuple[ObservedCall, Message]]:
    """The calls of the pass whose results stand in the request, with the last such message."""
    path, messages = state.path_of(seen), _history(state, seen)
    if path is None or messages is None:
        return []
    ids = [call.id for call in path.every_call()]
    shown = {message.call: message for message in messages if message.role == "tool"}
    return [
        (call, shown[call.id]) for call in path.every_call() if call.id in shown and ids.count(call.id) == 1
    ]


@check("PAIR-4", at=("model",), rank=Rank.SHOWN)
def what_a_tool_answered_is_shown(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What a tool answered is what the model is shown for its call."""
    for call, message in _results(state, seen):
        _, text = result_of(call)
        if text is not None:
            why = f"the result of {named(call)} is {quoted(text)}, yet the model reads {quoted(message.text)}"
            yield held_or(text in message.text, why)


@check("PAIR-6", at=("model",), rank=Rank.SHOWN)
def a_result_is_shown_as_what_it_is(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A success that the model is shown was given by the tool, and a failure is shown as one."""
    for call, message in _results(state, seen):
        status, _ = result_of(call)
        if status is not None and message.status is not None:
            what = f"its tool answered {call.answered_with}" if call.answered_with else "it did not run"
            why = f"{named(call)} has status {status}, since {what}, yet the model reads {message.status}"
            yield held_or(message.status == status, why)


@check("ROUND-3", at=("model",), rank=Rank.LOST)
def two_calls_with_one_id_have_one_result(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Two calls with one id never give two visible results under that id."""
    path = state.path_of(seen)
    if path is None or seen.messages is None or not path.sent or not is_as_composed(state, path):
        return
    doubled = {call.id for call in path.sent[-1].calls if call.doubled}
    for call in sorted(doubled):
        results = _after_the_last_ask(seen.messages, call)
        yield held_or(results < 2, f"call id {call} stands twice in one response, and has {results} results")


def _after_the_last_ask(messages: Sequence[Message], call: str) -> int:
    results = 0
    for message in messages:
        if any(one.id == call for one in message.tool_calls):
            results = 0
        elif message.role == "tool" and message.call == call:
            results += 1
    return results


@check("ROUND-1", at=("model",), rank=Rank.LOST)
def every_call_of_the_round_has_a_result(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The failure or denial of one call does not cost another call its result."""
    path, messages = state.path_of(seen), _history(state, seen)
    if path is None or messages is None or not path.sent or not path.sent[-1].calls:
        return
    shown = {message.call for message in messages if message.role == "tool"}
    yield from _missing(path, shown)


def _missing(path: ObservedPass, shown: set[str | None]) -> CheckResults:
    calls = path.sent[-1].calls
    missing = [call for call in calls if call.id not in shown]
    failed = [call for call in calls if result_of(call)[0] != "ok"]
    if missing and failed:
        yield broken(f"{named(missing[0])} has no result in the next request; call {failed[0].id} failed")
    elif failed and len(calls) > 1:
        yield HELD


@check("ROUND-2", at=("model",), rank=Rank.LOST)
def a_result_stands_under_its_own_call(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Each result stands under the id of its own call."""
    results = _results(state, seen)
    for call, message in results:
        _, text = result_of(call)
        others = {result_of(other)[1]: other for other, _ in results if other is not call}
        wrong = next((one for given, one in others.items() if given and given in message.text), None)
        mixed = wrong is not None and (text is None or text not in message.text)
        if text is not None or mixed:
            whose = wrong.id if wrong is not None else ""
            yield held_or(not mixed, f"the result of call {whose} stands under the id of {named(call)}")


@check("ROUND-11", at=("model",), rank=Rank.LOST)
def results_stand_in_the_declared_order(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The results of a round stand in call order, or in the order in which the calls finished."""
    path, messages, order = state.path_of(seen), _history(state, seen), state.policy("results.order")
    if path is None or messages is None or order is None or not path.sent:
        return
    calls = {call.id: call for call in path.sent[-1].calls}
    asking = max((at for at, one in enumerate(messages) if one.tool_calls), default=0)
    results = (one for one in messages[asking:] if one.role == "tool")  # earlier ones may have the same ids
    shown = [calls[one.call] for one in results if one.call in calls]
    if len(shown) < 2:
        return
    if order == "call":
        right = [call.index for call in shown] == sorted(call.index for call in shown)
        yield held_or(
            right, f"results stand in call order, yet they come as {listed(call.id for call in shown)}"
        )
    elif not state.scenario.hooks_at("TOOL_CALL", "post"):
        yield from _in_finish_order(shown)


def _in_finish_order(shown: list[ObservedCall]) -> CheckResults:
    ran = [call for call in shown if call.answered_with]
    for before, after in pairwise(ran):
        if before.entries[-1].released_in != after.entries[-1].released_in:
            right = before.entries[-1].released_at < after.entries[-1].released_at
            why = f"call {after.id} finished before call {before.id}, yet its result stands after it"
            yield held_or(right, why)
