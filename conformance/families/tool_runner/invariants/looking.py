"""RUN and RUNNER: statuses, reported messages, and what `inspect` shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runlock.conformance.families.tool_runner.invariants.looks import every, named, turn_of
from runlock.conformance.families.tool_runner.messages import (
    MessageAppended,
    RunMoved,
    RunnerInspected,
)
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.plan import plans
from runlock.conformance.families.tool_runner.state.records import (
    Iteration,
    same,
    stands,
    without_system,
)
from runlock.conformance.family.invariant import CheckResults, check, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message


@check("RUN-8", rank=Rank.STATUS)
def a_status_follows_the_one_before(state: ObservedRunner, seen: RunMoved) -> CheckResults:
    """A run is Running, and then Done for good."""
    run = state.run_of(seen)
    if run is None:
        return
    last = run.claims[-1] if run.claims else None
    right = (last, seen.to) in ((None, "Running"), ("Running", "Done"))
    yield held_or(right, f"run {run.id} was {last or 'not begun'}, and is said to be {seen.to}")
    if seen.origin is not None:
        yield held_or(seen.origin == last, f"run {run.id} was {last}, and is said to come from {seen.origin}")


@check("RUN-8", rank=Rank.STATUS)
def statuses_agree_with_the_end(state: ObservedRunner) -> CheckResults:
    """A run is Done if its end was announced, and Running if not."""
    run = state.run
    if run is None or run.refused or not state.observes("run.status") or not state.observes("run.finished"):
        return
    wanted = "Done" if run.finished else "Running"
    shown = run.claims[-1] if run.claims else None
    idle = run.is_again and not run.requests and shown is None
    if not idle:
        yield held_or(shown == wanted, f"run {run.id} is {wanted}, and its status was last shown as {shown}")


@check("RUN-10", rank=Rank.STATUS)
def a_look_shows_what_was_announced(state: ObservedRunner, seen: RunnerInspected) -> CheckResults:
    """An inspection shows the status and the reason that were announced."""
    run = state.run_of(seen)
    if run is None or not state.settled_before or not state.observes("run.finished") or run.refused:
        return
    wanted = "Done" if run.finished else "Running"
    yield held_or(seen.status == wanted, f"run {run.id} is {wanted}, and inspect shows {seen.status}")
    if run.finished and seen.reason is not None:
        code = run.finished[-1].reason.code
        yield held_or(
            seen.reason.code == code, f"the run ended as {code}, and inspect shows {seen.reason.code}"
        )


@check("RUN-11", rank=Rank.STATUS)
def a_look_shows_the_state(state: ObservedRunner, seen: RunnerInspected) -> CheckResults:
    """An inspection shows the messages and the params of the state."""
    last = state.iteration
    if last is None or not state.settled_before or state.is_cancelled:
        return
    if seen.messages is not None and (worlds := list(_states(state, last))):
        shown = without_system(seen.messages)
        right = any(_equal(shown, world) for world in worlds)
        yield held_or(right, f"the state holds {_texts(worlds[0])}, and inspect shows {_texts(shown)}")
    if seen.params is not None and (last.yielded is not None or last.request.is_open):
        for key, value in state.params_set.items():
            yield held_or(
                seen.params.get(key) == value, f"{key} was set to {value!r}, and inspect shows another"
            )


def _states(state: ObservedRunner, last: Iteration) -> Iterator[list[Message]]:
    """The messages that the state may hold now, where that is certain."""
    if last.request.is_open and not last.yields:
        yield last.base
    elif last.yielded is not None and last.turn is not None:
        if "on_receipt" in state.values("runner.append") and last.message is not None:
            yield from _states_on_receipt(last, last.message)
        if state.values("runner.append") != ("on_receipt",):
            yield [*last.before_pushes(), *last.pushes()]


def _states_on_receipt(last: Iteration, turn: Message) -> Iterator[list[Message]]:
    """What the state may hold where the turn is put there when it is whole; a set after that replaces it."""
    before, pushes, early = last.before_pushes(), last.pushes(), len(last.early_pushes())
    sets = [act for act in last.acts if act.sets_messages]
    if sets:
        yield [*before, *pushes]
    if all(map(last.may_precede_the_turn, sets)):
        yield [*before, turn, *pushes]
        yield [*before, *pushes[:early], turn, *pushes[early:]]


@check("RUNNER-44", rank=Rank.LOST)
def a_turn_on_receipt_stands_while_yielded(state: ObservedRunner, seen: RunnerInspected) -> CheckResults:
    """A turn that is put into the state on receipt stands there while its yield is open."""
    last = state.iteration
    if last is None or not state.settled_before or state.is_cancelled or seen.messages is None:
        return
    if last.yielded is not None and last.turn is not None and not last.sets_messages:
        yield held_or(
            stands(last.message, seen.messages), f"{turn_of(last)} is not in the state while yielded"
        )


def _equal(one: Sequence[Message], other: Sequence[Message]) -> bool:
    return len(one) == len(other) and all(map(same, one, other))


def _texts(messages: Sequence[Message]) -> str:
    return f"{len(messages)} messages ({'; '.join(named(one) for one in messages[-3:])})"


@check("RUN-12", rank=Rank.STATUS, is_deferred=True)
def a_reported_message_was_put_there(state: ObservedRunner, seen: MessageAppended) -> CheckResults:
    """A message that is reported is the received turn, or a result that the runner made."""
    last, message = state.iteration, seen.message
    if last is None or state.is_cancelled:
        return
    if message.role == "assistant":
        once = not any(same(message, shown) for shown, _ in last.shown)
        right = same(message, last.message)
        yield held_or(
            right and once,
            f"{named(message)} is reported, {'once more' if right else 'and no such turn came'}",
        )
    elif message.role == "tool" and last.turn is not None and not last.has_doubled_ids:
        handled = {call.id for plan in plans(state, last) for call in plan.calls} | {
            call.id for call in last.calls
        }
        once = not any(same(message, shown) for shown, _ in last.shown)
        why = "once more" if message.call in handled else "and no such call came"
        reason = f"{named(message)} is reported, {why}"
        yield held_or(message.call in handled and once, reason)


@check("RUNNER-40", rank=Rank.LOST)
def nothing_enters_the_state_while_a_yield_is_open(
    state: ObservedRunner, seen: MessageAppended
) -> CheckResults:
    """Between a yield and its resume the runner puts nothing into the state."""
    last = state.iteration
    if last is None or last.yielded is None or state.is_cancelled:
        return
    if stands(seen.message, [*last.before_pushes(), *last.pushes()]):
        return
    received = "on_receipt" in state.values("runner.append") and same(seen.message, last.message)
    yield held_or(received, f"{named(seen.message)} entered the state while the turn was with the user")


@check("RUNNER-40", rank=Rank.LOST)
def nothing_entered_the_state_while_a_yield_is_open(
    state: ObservedRunner, seen: RunnerInspected
) -> CheckResults:
    """While a yield is open, the state holds no result of its turn from the runner."""
    last = state.iteration
    if last is not None and not last.responses and (early := _early_results(state, seen)) is not None:
        reason = f"{named(early[0])} is in the state while the turn is with the user" if early else ""
        yield held_or(not early, reason)


@check("RUNNER-29", rank=Rank.LOST)
def a_response_is_not_in_the_state(state: ObservedRunner, seen: RunnerInspected) -> CheckResults:
    """While a yield is open, the state does not hold the response that the user asked for."""
    last = state.iteration
    if last is not None and last.responses and (early := _early_results(state, seen)) is not None:
        reason = f"the user asked for a response, and {named(early[0])} entered the state" if early else ""
        yield held_or(not early, reason)


def _early_results(state: ObservedRunner, seen: RunnerInspected) -> list[Message] | None:
    """The results of the received turn that the runner put into the state before the resume."""
    last = state.iteration
    if (
        last is None
        or last.yielded is None
        or last.turn is None
        or seen.messages is None
        or state.is_cancelled
        or not state.settled_before  # what the user set may not have been taken yet
    ):
        return None
    given, own = [*last.before_pushes(), *last.pushes()], {call.id for call in last.calls}
    results = (one for one in seen.messages if one.role == "tool" and one.call in own)
    return [one for one in results if not stands(one, given)]


@check("RUNNER-46", rank=Rank.LOST)
def a_final_turn_stands_at_the_end_as_declared(state: ObservedRunner, seen: RunnerInspected) -> CheckResults:
    """An unchanged final turn stands in the state at the end, or does not, as declared."""
    last, run = state.iteration, state.run_of(seen)
    if last is None or run is None or not run.finished or seen.messages is None or state.is_cancelled:
        return
    natural = run.finished[-1].reason.code == "NaturalEnd" and last.goes_on and not last.touched
    final = last.turn is not None and every(state, last, lambda plan: plan.next == frozenset({"end"}))
    if (
        not natural
        or not final
        or last.turn is None
        or last.retried_at is not None
        or last.turn.stop == "pause_turn"
    ):
        return
    refused = last.turn.stop == "refusal"
    there = stands(last.message, seen.messages)
    allowed = {
        value == "kept" or (value == "unless_refused" and not refused) for value in state.values("end.turn")
    }
    where = "stands" if there else "does not stand"
    yield held_or(there in allowed, f"{turn_of(last)} {where} in the state at the end")
