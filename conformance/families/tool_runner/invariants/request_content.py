"""RUNNER: what a request holds: the state as it then is."""

from __future__ import annotations

from runlock.conformance.families.tool_runner.invariants.looks import Reading, follows, named, reading
from runlock.conformance.families.tool_runner.invariants.received_turn import (
    after_a_change,
)
from runlock.conformance.families.tool_runner.messages import RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.facts import is_cut_off, is_paused
from runlock.conformance.families.tool_runner.state.plan import plans
from runlock.conformance.families.tool_runner.state.records import Iteration, same, stands, without_system
from runlock.conformance.family.invariant import (
    HELD,
    CheckResults,
    broken,
    broken_for,
    check,
    held_or,
)
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message


@check("RUNNER-8", at=("model",), rank=Rank.LOST)
def the_first_request_holds_the_input(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The first request holds the message of the user."""
    if follows(state) == "first" and seen.messages is not None:
        words = [message.text for message in seen.messages if message.role == "user"]
        yield held_or(words == [state.input], f"request 1 holds {words} of the user, not “{state.input}”")


@check("RUNNER-8", at=("model",), rank=Rank.LOST)
def a_request_after_a_fault_holds_the_state(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A request after a fault of the model holds what the failed one held, with what the user did since."""
    before = state.iteration
    if follows(state) != "retry" or before is None or seen.messages is None or state.is_cancelled:
        return
    now, wanted = without_system(seen.messages), [*before.before_pushes(), *before.pushes()]
    right = len(now) == len(wanted) and all(map(same, now, wanted))
    yield held_or(
        right, f"request {before.number} met a fault, and the request after it holds other messages"
    )


@check("RUNNER-15", at=("model",), rank=Rank.OTHER)
def the_answer_of_the_user_is_what_is_sent(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The user's answer to a call is what is sent."""
    read = reading(state, seen)
    if read is None:
        return
    answers = [message for message in read.before.pushes() if message.role == "tool"]
    made = {result.call for _, result in read.results}
    own = {call.id for call in read.before.calls}
    for answer in [one for one in answers if one.call in own]:
        if stands(answer, read.missing) and (answer.call not in made or stands(answer, read.messages)):
            continue  # it was lost, or stands elsewhere, as any message may be
        yield held_or(
            not stands(answer, read.missing),
            f"request {read.number} lacks the user's answer to {answer.call}",
        )


@check("RUNNER-21", at=("model",), rank=Rank.OTHER)
def no_result_is_made_for_a_call_that_is_not_handled(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The runner adds no result for a call that it does not handle."""
    read = reading(state, seen)
    if read is None or follows(state) != "iteration" or read.before.touched or not read.results:
        return
    before = read.before
    if is_paused(before) or is_cut_off(before):
        handled = {call.id for plan in plans(state, before) for call in plan.calls}
        extra = [result for _, result in read.results if result.call not in handled]
        yield held_or(
            not extra, f"request {read.number} holds {named(extra[0]) if extra else ''}, which did not run"
        )


# -- params, and what the server holds


@check("RUNNER-43", at=("model",), rank=Rank.LOST)
def params_that_were_set_are_sent(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Params that were set are in every later request; others stay as they are."""
    if seen.params is None or not state.params_set or state.is_cancelled:
        return
    number = len(state.iterations) + 1
    for key, value in state.params_set.items():
        right = key in seen.params and seen.params[key] == value
        yield held_or(
            right, f"the user set {key} to {value!r}, and request {number} has {seen.params.get(key)!r}"
        )
    for key, value in (state.first_params or {}).items():
        if key not in state.params_set and seen.params.get(key) != value:
            yield broken(
                f"{key} was not set, and request {number} has {seen.params.get(key)!r} instead of {value!r}"
            )


@check("RUNNER-12", at=("model",), rank=Rank.LOST)
def set_messages_replace_all_before_them(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Messages that were set replace all before them."""
    read = reading(state, seen)
    if read is None or not read.before.sets_messages:
        return
    given = read.before.before_pushes()
    lost = [
        f"request {read.number} lacks {named(one)}, which the user set"
        for one in read.missing
        if stands(one, given)
    ]
    old = [one for one in read.strangers if stands(one, read.before.base)]
    kept = [f"request {read.number} still holds {named(one)}, which the user's set replaced" for one in old]
    yield from broken_for([*lost, *kept][:1])


@check("RUNNER-8", at=("model",), rank=Rank.LOST)
def pushed_messages_are_sent_in_order(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Each message that the user gave is sent, once, in the order given."""
    read = reading(state, seen)
    if read is None:
        return
    pushed = read.before.pushes()
    lost = [
        f"request {read.number} lacks {named(one)}, which stood in the state, or holds it out of order"
        for one in read.missing
    ]
    doubled = [one for one in read.strangers if stands(one, pushed)]
    twice = [f"request {read.number} holds {named(one)} twice; the user pushed it once" for one in doubled]
    if pushed or lost or twice:
        yield from broken_for([*lost, *twice][:1])


@check("RUNNER-28", at=("model",), rank=Rank.LOST)
def a_call_that_the_user_answered_has_one_result(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A call that the user answered has no second result."""
    read = reading(state, seen)
    if read is None or read.before.has_doubled_ids:
        return
    answered = {message.call for message in read.before.pushes() if message.role == "tool"}
    if answered and read.before.pushed:
        twice = [result for _, result in read.results if result.call in answered]
        call = twice[0].call if twice else ""
        reason = f"the user answered call {call}, and request {read.number} holds two results for it"
        yield held_or(not twice, reason)


@check("RUNNER-27", at=("model",), rank=Rank.LOST)
def results_of_a_turn_that_does_not_stand_are_left_out(
    state: ObservedRunner, seen: RunnerGate
) -> CheckResults:
    """Results enter the state only if the turn that they answer stands in it."""
    read = reading(state, seen)
    if read is None:
        return
    turn = read.before.message
    if turn is None or not turn.tool_calls:
        return
    if stands(turn, read.messages):
        if read.results:
            yield HELD
        return
    ids = {call.id for call in turn.tool_calls}
    lost = [result for _, result in read.results if result.call in ids and not _stands_before(read, result)]
    reason = f"request {read.number} holds {named(lost[0])}, but not its turn" if lost else ""
    if read.before.entries or read.results:
        yield held_or(not lost, reason)


def _stands_before(read: Reading, result: Message) -> bool:
    return any(_asks(message, result.call) for message in read.messages)


def _asks(message: Message, call: str | None) -> bool:
    return message.role == "assistant" and any(one.id == call for one in message.tool_calls)


# -- results and where they stand


@check("RUNNER-14", at=("model",), rank=Rank.LOST)
def results_follow_their_turn(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Results stand directly after the turn that they answer."""
    read = reading(state, seen)
    if read is None or not read.results:
        return
    reasons = []
    for place, result in read.results:
        owner = read.owner(place)
        has_turn = any(_asks(message, result.call) for message in read.messages[:place])
        if has_turn and not (owner is not None and _asks(owner, result.call)):
            reasons.append(f"in request {read.number} {named(result)} does not stand directly after its turn")
    yield from broken_for(reasons[:1])


@check("RUNNER-45", at=("model",), rank=Rank.LOST)
def results_of_a_changed_iteration_enter_as_declared(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Results of a changed iteration are appended or dropped, as declared."""
    read = after_a_change(state, seen)
    if read is None or follows(state) != "iteration" or read.before.has_doubled_ids:
        return
    wanted = {plan.results for plan in plans(state, read.before)}
    handled = plans(state, read.before)[0].handled
    if handled is None or None in wanted or len(wanted) > 1 or not stands(handled, read.messages):
        return
    ids = {call.id for call in handled.tool_calls}
    there = [result for _, result in read.results if result.call in ids]
    ran = {gate.seen.call for gate in read.before.entries if gate.phase == "handling"} & ids
    if wanted == {False}:
        yield held_or(
            not there, f"results of a changed iteration are dropped, and request {read.number} holds some"
        )
    elif ran:
        answered = {message.call for message in read.given if message.role == "tool"}
        lost = ran - {result.call for result in there} - answered
        yield held_or(
            not lost, f"request {read.number} lacks the result of call {' '.join(sorted(map(str, lost))[:1])}"
        )


@check("RUNNER-42", at=("model",), rank=Rank.LOST)
def nothing_else_is_added(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A request holds nothing but what the user gave, turns, results, and news of the tools."""
    if follows(state) == "first" and seen.messages is not None:
        others = [named(one) for one in seen.messages if one.role != "user"]
        yield held_or(not others, f"request 1 holds {', '.join(others)}, which nobody gave")
    read = reading(state, seen)
    if read is None:
        return
    strange = [f"request {read.number} holds {named(one)}, which nobody gave" for one in read.strangers]
    if not state.tools_changed and any(one.role == "system" for one in seen.messages or ()):
        strange.append(f"request {read.number} holds a system message, though no tool was changed")
    yield from broken_for(strange[:1])


@check("RUNNER-26", at=("model",), rank=Rank.LOST)
def what_is_not_sent_is_with_the_server(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """What a request leaves out is what earlier requests and turns gave the server."""
    if seen.sent is None or seen.messages is None or state.is_cancelled:
        return
    left_out = seen.messages[: len(seen.messages) - seen.sent]
    number = len(state.iterations) + 1
    held = not left_out or any(_server_holds(one, left_out) for one in state.iterations)
    yield held_or(
        held, f"request {number} leaves out {len(left_out)} messages that the server does not hold so"
    )


def _server_holds(iteration: Iteration, messages: list[Message]) -> bool:
    """Whether messages are what a request and its turn gave the server, or the beginning of it."""
    turn = [iteration.message] if iteration.message is not None else []
    thread = [*(iteration.request.seen.messages or ()), *turn]
    return len(messages) <= len(thread) and all(map(same, messages, thread[: len(messages)]))


@check("RUNNER-38", at=("model",), rank=Rank.LOST)
def each_request_carries_the_whole_state(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A runner that keeps the history itself sends all of it."""
    if seen.sent is not None and seen.messages is not None and not state.is_cancelled:
        whole = seen.sent == len(seen.messages)
        yield held_or(
            whole, f"request {len(state.iterations) + 1} carries {seen.sent} of {len(seen.messages)} messages"
        )
