"""PAIR: each call of a request has one result, directly after it, and the result says what happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from runlock.conformance.families.tool_runner.invariants.looks import Reading, follows, named, reading
from runlock.conformance.families.tool_runner.messages import RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.facts import is_cut_off, is_paused
from runlock.conformance.families.tool_runner.state.plan import plans
from runlock.conformance.families.tool_runner.state.records import Iteration, same, stands
from runlock.conformance.family.invariant import CheckResults, broken_for, check, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message


@check("ROUND-3", at=("model",), rank=Rank.LOST)
def doubled_ids_give_one_result(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Two calls with one id never give two visible results."""
    read = reading(state, seen)
    if read is None or not read.before.has_doubled_ids or read.before.message is None:
        return
    after = Counter(message.call for message in read.results_after(read.before.message))
    twice = [call for call, count in after.items() if count > 1]
    if after:
        yield held_or(
            not twice, f"request {read.number} holds two results under the id {' '.join(map(str, twice[:1]))}"
        )


@check("ROUND-1", at=("model",), rank=Rank.LOST)
def a_failure_costs_no_sibling_its_result(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """The failure of one call does not cost another its result."""
    read = reading(state, seen)
    if read is None or read.before.has_doubled_ids:
        return
    failed = _failures(read.before)
    for turn in owed(state, read):
        if len(turn.tool_calls) > 1 and failed & {call.id for call in turn.tool_calls}:
            lost = [*_nowhere(read, turn), *_failed_with_another(state, read, turn)]
            costs = [(other, call) for call in lost for other in sorted(failed - {call})]
            other, call = costs[0] if costs else ("", "")
            yield held_or(
                not costs, f"call {other} failed, and request {read.number} lacks the result of {call}"
            )


def _nowhere(read: Reading, turn: Message) -> list[str]:
    """The calls of a turn whose results a request does not hold at all."""
    there = {message.call for message in read.messages if message.role == "tool"}
    return [call for call in missing_results(read, turn) if call not in there]


def _failures(iteration: Iteration) -> set[str]:
    """The calls of an iteration that failed, or have no tool."""
    failed = {str(gate.seen.call) for gate in iteration.entries if gate.kind in ("error", "raise")}
    return failed | {call.id for call in iteration.calls if not iteration.entries_of(call.id)}


def _may_lack_its_tool(state: ObservedRunner, iteration: Iteration, result: Message) -> bool:
    """Whether a result may be an error because its tool was taken out of the set after a response."""
    names = [call.name for plan in plans(state, iteration) for call in plan.calls if call.id == result.call]
    return result.status == "error" and any(
        name not in state.tools or iteration.has_removed(name) for name in names
    )


def _failed_with_another(state: ObservedRunner, read: Reading, turn: Message) -> list[str]:
    """The calls of a turn whose tool succeeded, though their results are errors."""
    own = {call.id for call in turn.tool_calls}
    results = [result for _, result in read.results if result.call in own and result.status == "error"]
    surely = [one for one in results if not _may_lack_its_tool(state, read.before, one)]
    own_errors = [one for one in surely if not _is_of_another(read.before, one)]
    return [str(result.call) for result in own_errors if _kinds(read.before, result) == {"ok"}]


def _is_of_another(iteration: Iteration, result: Message) -> bool:
    """Whether a result says what the tool of another call answered."""
    others = (gate for gate in iteration.entries if gate.seen.call != result.call)
    return any(gate.outcome is not None and _is_text_of(result, gate.outcome) for gate in others)


def owed(state: ObservedRunner, read: Reading) -> Iterator[Message]:
    """The turns of a request whose calls the runner has to answer."""
    before = read.before
    turn = before.message
    asked = turn is not None and bool(read.turns) and bool(turn.tool_calls)
    put_there = asked and follows(state) == "iteration"
    if turn is not None and put_there and not is_paused(before) and not _is_left_out(state, before):
        yield turn
    for handled in _handled(state, read):
        if handled is not turn or not put_there:
            yield handled
    if turn is not None and asked and follows(state) == "tool fault" and not is_paused(before):
        yield turn


def _is_left_out(state: ObservedRunner, iteration: Iteration) -> bool:
    """Whether the calls of a turn that was cut off need not be answered."""
    return is_cut_off(iteration) and "not_run" in state.values("runner.cut_off")


def _handled(state: ObservedRunner, read: Reading) -> Iterator[Message]:
    """A turn to which every reading of the policies adds results."""
    before = read.before
    if follows(state) != "iteration" or not before.touched:
        return
    every_plan = plans(state, before)
    first = every_plan[0].handled
    agreed = all(plan.results is True and not plan.loose and same(plan.handled, first) for plan in every_plan)
    if first is not None and agreed and stands(first, read.messages):
        yield first


def missing_results(read: Reading, turn: Message) -> list[str]:
    """The calls of a turn that neither the runner nor the user has answered."""
    there = {message.call for message in read.results_after(turn)}
    given = {message.call for message in read.given if message.role == "tool"}
    return [call.id for call in turn.tool_calls if call.id not in there | given]


def _a_sibling_failed(iteration: Iteration, lost: list[str]) -> bool:
    failed = {gate.seen.call for gate in iteration.entries if gate.kind in ("error", "raise")}
    return bool(lost) and bool(failed - set(lost))


@check("PAIR-3", at=("model",), rank=Rank.LOST)
def no_call_has_two_results(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """No call has two results of which the runner put one there."""
    read = reading(state, seen)
    if read is None or read.before.has_doubled_ids or not read.results:
        return
    by_call = Counter(_place_of_call(read, place, message) for place, message in _all_results(read))
    twice = [result for place, result in read.results if by_call[_place_of_call(read, place, result)] > 1]
    yield held_or(not twice, f"request {read.number} holds {named(twice[0]) if twice else ''} twice")


def _all_results(read: Reading) -> Iterator[tuple[int, Message]]:
    return ((place, message) for place, message in enumerate(read.messages) if message.role == "tool")


def _place_of_call(read: Reading, place: int, result: Message) -> tuple[str | None, int]:
    """A call, told apart from an earlier one with the same id by the place of the turn that asks for it."""
    asking = [
        n
        for n, message in enumerate(read.messages[:place])
        if any(call.id == result.call for call in message.tool_calls)
    ]
    return result.call, asking[-1] if asking else -1


@check("PAIR-1", at=("model",), rank=Rank.LOST)
def each_call_has_a_result(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Each call of a turn that the runner put there, or added results to, has a result."""
    read = reading(state, seen)
    if read is None or read.before.has_doubled_ids:
        return
    for turn in owed(state, read):
        lost = missing_results(read, turn)
        if not _a_sibling_failed(read.before, lost):
            yield held_or(
                not lost, f"request {read.number} holds call {' '.join(lost[:1])} without its result"
            )


@check("PAIR-2", at=("model",), rank=Rank.LOST)
def no_result_stands_without_its_call(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """No result that the runner put there stands without its call before it."""
    read = reading(state, seen)
    if read is None:
        return
    reasons = []
    for place, result in read.results:
        asked = any(result.call == call.id for one in read.messages[:place] for call in one.tool_calls)
        if not asked:
            reasons.append(
                f"request {read.number} holds {named(result)}, which no message before it asks for"
            )
    if read.results:
        yield from broken_for(reasons[:1])


@check("ROUND-7", at=("model",), rank=Rank.LOST)
def a_raise_fails_its_call(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """An exception in a tool fails its call, where the policy says so."""
    read = reading(state, seen)
    if read is None or read.before.has_doubled_ids or follows(state) != "iteration":
        return
    raised = [gate for gate in read.before.entries if gate.kind == "raise" and gate.phase == "handling"]
    for gate in raised:
        allowed = "failed_call" in state.values("tool.raises")
        reason = f"call {gate.seen.call} threw and ends the run, yet request {read.number} was sent"
        shown = [result for _, result in read.results if result.call == gate.seen.call]
        if allowed and shown and _kinds(read.before, shown[0]) == {"raise"}:
            reason = f"call {gate.seen.call} threw, and request {read.number} holds its result as a success"
            allowed = shown[0].status == "error"
        yield held_or(allowed, reason)


@check("ROUND-8", at=("model",), rank=Rank.LOST)
def an_error_reaches_the_model_as_an_error(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """An error that a tool answered with is marked as one."""
    read = reading(state, seen)
    if read is None or read.before.has_doubled_ids:
        return
    for _, result in read.results:
        kinds = _kinds(read.before, result)
        if kinds == {"error"}:
            shown = f"request {read.number} holds it as {result.status}"
            reason = f"call {result.call} answered with an error, and {shown}"
            yield held_or(result.status == "error", reason)


# -- what results say


@check("ROUND-2", at=("model",), rank=Rank.LOST)
def results_stand_under_their_own_call(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A result is not that of another call."""
    read = reading(state, seen)
    if read is None or read.before.has_doubled_ids:
        return
    for _, result in read.results:
        others = [
            gate.seen.call
            for gate in read.before.entries
            if gate.seen.call != result.call
            and gate.outcome is not None
            and _is_text_of(result, gate.outcome)
        ]
        own = [gate.outcome for gate in read.before.entries_of(result.call or "") if gate.outcome is not None]
        mixed = others and not any(_is_text_of(result, outcome) for outcome in own)
        if len(read.before.entries) > 1 or mixed:
            other = others[0] if others else ""
            reason = f"request {read.number}: the result under call {result.call} is that of {other}"
            yield held_or(not mixed, reason)


@check("PAIR-4", at=("model",), rank=Rank.SHOWN)
def results_say_what_the_tool_answered(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A result says what its tool answered."""
    read = reading(state, seen)
    if read is None or read.before.has_doubled_ids:
        return
    for _, result in read.results:
        outcomes = [
            gate.outcome for gate in read.before.entries_of(result.call or "") if gate.outcome is not None
        ]
        if outcomes and not _may_lack_its_tool(state, read.before, result):
            told = any(_says(result, outcome) for outcome in outcomes)
            text = f"“{result.text[:60]}” ({result.status})"
            reason = f"request {read.number}: the result of call {result.call} is {text}"
            yield held_or(told, f"{reason}; its tool answered {_words(outcomes[-1])}")


@check("PAIR-5", at=("model",), rank=Rank.LOST)
def a_success_was_given_by_a_tool(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A success in a request was given by a tool."""
    read = reading(state, seen)
    if read is None or read.before.has_doubled_ids:
        return
    for _, result in read.results:
        if result.status != "error":
            given = "ok" in _kinds(read.before, result)
            reason = f"request {read.number} holds a success of call {result.call}, whose tool gave none"
            yield held_or(given, reason)


def _kinds(iteration: Iteration, result: Message) -> set[str]:
    return {gate.kind for gate in iteration.entries_of(result.call or "") if gate.outcome is not None}


def _is_text_of(result: Message, outcome: Any) -> bool:
    content = outcome.get("content")
    return isinstance(content, str) and content != "" and content == result.text


def _says(result: Message, outcome: Any) -> bool:
    kind, content = outcome["kind"], outcome.get("content")
    if kind == "ok":
        right = result.status != "error"
        return right and (not isinstance(content, str) or content == result.text)
    if kind == "error":
        return result.status == "error" and (not isinstance(content, str) or content in result.text)
    return result.status == "error"


def _words(outcome: Any) -> str:
    return f"{outcome['kind']} “{outcome.get('content') or outcome.get('message') or ''}”"
