"""RUNNER: whether the received turn is put into the state, and where it stands."""

from __future__ import annotations

from collections import Counter

from runlock.conformance.families.tool_runner.invariants.looks import (
    Reading,
    acts_of,
    every,
    follows,
    named,
    reading,
    some,
    turn_of,
)
from runlock.conformance.families.tool_runner.messages import MessageAppended, RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.facts import is_paused
from runlock.conformance.families.tool_runner.state.plan import plans
from runlock.conformance.families.tool_runner.state.records import same, stands, without_system
from runlock.conformance.family.invariant import (
    HELD,
    CheckResult,
    CheckResults,
    broken,
    check,
    held_or,
)
from runlock.conformance.family.rank import Rank


@check("STREAM-2", at=("model",), rank=Rank.STREAM)
def a_streamed_turn_is_appended_as_stated(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The turn of a stream enters the state as the model stated it."""
    read = reading(state, seen)
    if read is None or not read.before.deltas or read.before.touched or follows(state) != "iteration":
        return
    others = [one for one in read.strangers if one.role == "assistant"]
    reason = f"request {read.number} holds {named(others[0])} for {turn_of(read.before)}" if others else ""
    yield held_or(read.turns or not others, reason)


@check("STREAM-2", rank=Rank.STREAM)
def a_streamed_turn_is_reported_as_stated(state: ObservedRunner, seen: MessageAppended) -> CheckResults:
    """The turn of a stream is reported as the model stated it."""
    last = state.iteration
    if last is not None and last.deltas and last.turn is not None and seen.message.role == "assistant":
        right = same(seen.message, last.message)
        yield held_or(
            right, f"{named(seen.message)} is reported for {turn_of(last)}, which is not what was stated"
        )


@check("RUNNER-23", at=("model",), rank=Rank.TWICE)
def a_request_is_not_sent_twice(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A request is not sent a second time before its turn is yielded."""
    before = state.iteration
    if before is None or before.turn is None or before.yields:
        return
    yield from (one for one in the_same_request_is_not_sent_again(state, seen) if one != HELD)


@check("RUNNER-20", at=("model",), rank=Rank.TWICE)
def a_paused_turn_goes_back(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """An unchanged paused turn is in the next request, as it is."""
    read = reading(state, seen)
    if read is None or not is_paused(read.before) or follows(state) != "iteration" or read.before.touched:
        return
    if not stands(read.before.message, read.given):
        yield _appended(read)


@check("RUNNER-29", rank=Rank.LOST)
def a_response_enters_no_state(state: ObservedRunner, seen: MessageAppended) -> CheckResults:
    """A response that the user asked for is not put into the state."""
    last = state.iteration
    if last is not None and last.yielded is not None and last.responses and not state.is_cancelled:
        own = seen.message.role == "tool" and seen.message.call in {call.id for call in last.calls}
        given = stands(seen.message, [*last.before_pushes(), *last.pushes()])
        yield held_or(
            not own or given, f"the user asked for a response, and {named(seen.message)} entered the state"
        )


@check("RUNNER-29", at=("model",), rank=Rank.LOST)
def a_response_is_not_sent(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A response that the user asked for is not in the request together with the results of the runner."""
    read = reading(state, seen)
    if read is None or not read.before.responses or read.before.message is None or read.before.touched:
        return
    if read.before.has_doubled_ids or follows(state) != "iteration":
        return
    own = {call.id for call in read.before.calls}
    asked = next((n for n, one in enumerate(read.messages) if same(one, read.before.message)), None)
    results = [(place, one) for place, one in read.results if one.call in own]
    counts = Counter(one.call for _, one in results)
    early = [
        one
        for place, one in results
        if asked is None or place < asked or counts[one.call] > 1 or is_paused(read.before)
    ]
    reason = (
        f"the user asked for a response, and request {read.number} holds {named(early[0])} of it"
        if early
        else ""
    )
    yield held_or(not early, reason)


@check("RUNNER-9", at=("model",), rank=Rank.LOST)
def an_unchanged_turn_is_appended(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """An unchanged turn enters the state after the messages of its request."""
    read = _unchanged(state, seen)
    if read is not None and not read.before.changes_tools and not read.before.responses:
        yield _appended(read)


@check("RUNNER-11", at=("model",), rank=Rank.TWICE)
def a_change_is_forgotten_at_the_next_request(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """An unchanged iteration after a changed one appends its turn."""
    read = _unchanged(state, seen)
    if read is not None and len(state.iterations) > 1 and state.iterations[-2].touched:
        yield _appended(read)


def _unchanged(state: ObservedRunner, seen: RunnerGate) -> Reading | None:
    """A request after an iteration whose turn every reading of the policies puts into the state."""
    read = reading(state, seen)
    if read is None or follows(state) != "iteration" or read.before.message is None:
        return None
    if read.before.touched and not every(state, read.before, lambda plan: not plan.changed):
        return None
    if is_paused(read.before):
        return None
    is_kept = every(state, read.before, lambda plan: plan.kept is True)
    return read if is_kept and not stands(read.before.message, read.given) else None


def _appended(read: Reading) -> CheckResult:
    turn = turn_of(read.before)
    if not read.turns:
        return broken(f"request {read.number} lacks {turn}, though {acts_of(read.before)}")
    if len(read.turns) > 1:
        return broken(f"request {read.number} holds {turn} {len(read.turns)} times")
    return held_or(_in_place(read), f"in request {read.number} {turn} stands before messages of its request")


def _in_place(read: Reading, early: int = 0) -> bool:
    """Whether the turn stands after the state of its request, and before all pushes but the early ones."""
    first = len(read.before.before_pushes())
    earlier, later = read.places[:first], read.places[first + early :]
    place = read.turns[0]
    return all(one < place for one in earlier) and all(one > place for one in later)


@check("RUNNER-48", at=("model",), rank=Rank.TWICE)
def a_change_of_tools_is_no_change(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The turn of an iteration in which only tools were changed is appended."""
    read = _unchanged(state, seen)
    if read is not None and read.before.changes_tools:
        yield _appended(read)


@check("RUNNER-29", at=("model",), rank=Rank.TWICE)
def a_response_is_no_change(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The turn of an iteration in which the user only asked for a response is appended."""
    read = _unchanged(state, seen)
    if read is not None and read.before.responses and not read.before.changes_tools:
        yield _appended(read)


@check("RUNNER-23", at=("model",), rank=Rank.TWICE)
def the_same_request_is_not_sent_again(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A request is not sent again with the same messages."""
    before = state.iteration
    if before is None or before.touched or before.retried_at is not None or before.turn is None:
        return
    if (
        seen.messages is None
        or state.is_cancelled
        or (is_paused(before) and stands(before.message, before.base))
    ):
        return
    messages, number = without_system(seen.messages), len(state.iterations) + 1
    again = len(messages) == len(before.base) and all(map(same, messages, before.base))
    yield held_or(
        not again, f"request {number} holds the messages of request {before.number}, and nothing changed"
    )


@check("RUNNER-31", at=("model",), rank=Rank.LOST)
def a_paused_turn_of_a_changed_iteration_is_kept_as_declared(
    state: ObservedRunner, seen: RunnerGate
) -> CheckResults:
    """A paused turn of a changed iteration is left out, or stands before what the user pushed."""
    read = after_a_change(state, seen)
    if read is None or not is_paused(read.before) or stands(read.before.message, read.given):
        return
    kept = {plan.kept for plan in plans(state, read.before)}
    turn = turn_of(read.before)
    if not read.turns:
        lost = kept == {True}
        yield held_or(not lost, f"{turn} is paused and to be kept, and request {read.number} lacks it")
    elif kept == {False}:
        yield broken(f"{acts_of(read.before)}: {turn} is dropped, and request {read.number} holds it")
    else:
        on_receipt = "on_receipt" in state.values("runner.append")
        right = _in_place(read, len(read.before.early_pushes()) if on_receipt else 0)
        yield held_or(right, f"in request {read.number} {turn} stands after what the user pushed")


@check("RUNNER-10", at=("model",), rank=Rank.LOST)
def a_changed_turn_is_left_out(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The turn of a changed iteration is not put into the state by the runner."""
    read = after_a_change(state, seen)
    if read is None or is_paused(read.before):
        return
    allowed = some(state, read.before, lambda plan: plan.kept is not False)
    reason = f"{acts_of(read.before)}, and request {read.number} holds {turn_of(read.before)} from the runner"
    if read.turns and stands(read.before.message, read.given):
        yield broken(f"the user pushed {turn_of(read.before)}, and request {read.number} holds it twice")
    else:
        yield held_or(allowed or not read.turns, reason)


@check("RUNNER-44", at=("model",), rank=Rank.LOST)
def a_turn_that_was_put_on_receipt_stays(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A turn that the runner put into the state on receipt stays there, before what was pushed."""
    read = after_a_change(state, seen)
    if read is None or stands(read.before.message, read.given):
        return
    if state.values("runner.append") == ("on_receipt",) and every(
        state, read.before, lambda plan: plan.kept is True
    ):
        right = len(read.turns) == 1 and _in_place(read, len(read.before.early_pushes()))
        yield held_or(right, f"request {read.number} does not hold {turn_of(read.before)} where it was put")


def after_a_change(state: ObservedRunner, seen: RunnerGate) -> Reading | None:
    read = reading(state, seen)
    if read is None or follows(state) != "iteration" or read.before.message is None:
        return None
    return read if every(state, read.before, lambda plan: plan.changed) else None
