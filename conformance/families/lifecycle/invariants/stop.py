"""STOP: a declared stop condition fires once it is met, and not before.

Each check keeps to what certainly fires and what certainly does not; what lies between, where no source
is exact, is accepted either way.
"""

from __future__ import annotations

import json
import re
from itertools import groupby, takewhile

from runlock.conformance.families.lifecycle.messages import GateOpened, SegmentEnded, StopCondition
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CRASH
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank


def condition(state: ObservedState, kind: str) -> StopCondition | None:
    return next((one for one in state.scenario.agent.stop if one.kind == kind), None)


def asks(state: ObservedState, seen: GateOpened, *, in_one_life: bool = True) -> Run | None:
    """The run that asks the model again, where it is certain what has happened to it.

    What is wrong with one that asks after its end is that it asks.
    """
    run = state.run_of(seen)
    if seen.on != "model" or run is None or not run.steps:
        return None
    if any(segment.reason.code != "Suspended" for segment in run.finished):
        return None
    return run if not (in_one_life and run.disturbed_by(CRASH)) else None


def stops_for(state: ObservedState, seen: SegmentEnded, kind: str, *, in_one_life: bool = True) -> Run | None:
    """The run that ended as Stopped for this condition."""
    run = state.run_of(seen)
    stop = seen.reason.stop.code if seen.reason.stop is not None else None
    named = stop == kind or (stop is None and len(state.scenario.agent.stop) == 1)
    stopped = seen.reason.code == "Stopped" and named and condition(state, kind) is not None
    return run if stopped and run is not None and not (in_one_life and run.disturbed_by(CRASH)) else None


def looks_after_tools(state: ObservedState) -> bool:
    """Whether a condition is certainly looked at after a round: where the step is over then."""
    return bool(state.policy("step.end") == "after_tools")


@check("STOP-2", at=("model",), rank=Rank.STATUS, requires="a stop condition")
def max_rounds_is_kept(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run does not ask the model again once its rounds are used up, those before a crash among them."""
    run, limit = asks(state, seen, in_one_life=False), condition(state, "max_rounds")
    if run is not None and limit is not None and limit.rounds is not None:
        taken = run.steps_at_least
        yield held_or(
            taken <= limit.rounds,
            f"{taken} rounds are over and the limit is {limit.rounds}, yet the model is asked",
        )


@check("STOP-2", at=("Stopped",), rank=Rank.STATUS)
def max_rounds_is_not_early(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run does not stop for its rounds before they are used up."""
    run = stops_for(state, seen, "max_rounds", in_one_life=False)
    limit = condition(state, "max_rounds")
    if run is not None and limit is not None and limit.rounds is not None:
        taken = run.steps_at_most
        yield held_or(
            taken >= limit.rounds, f"the limit of rounds is {limit.rounds}, yet the run stopped after {taken}"
        )


@check("STOP-4", at=("model",), rank=Rank.STATUS, requires="a stop condition")
def a_token_budget_is_kept(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run does not ask the model again once its tokens are used up."""
    run, limit = asks(state, seen), condition(state, "token_budget")
    if run is not None and limit is not None and limit.max_total is not None:
        over = run.tokens > limit.max_total
        yield held_or(
            not over,
            f"{run.tokens} tokens are used and the budget is {limit.max_total}, yet the model is asked",
        )


@check("STOP-4", at=("Stopped",), rank=Rank.STATUS)
def a_token_budget_is_not_early(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run does not stop for its tokens before they are used up."""
    run, limit = stops_for(state, seen, "token_budget"), condition(state, "token_budget")
    if run is not None and limit is not None and limit.max_total is not None:
        early = run.tokens < limit.max_total
        yield held_or(
            not early, f"the budget is {limit.max_total} tokens, yet the run stopped after {run.tokens}"
        )


@check("STOP-3", at=("model",), rank=Rank.STATUS, requires="a stop condition")
def a_timeout_is_kept(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run does not ask the model again once its time is over."""
    run, limit = asks(state, seen), condition(state, "timeout")
    if run is not None and limit is not None and limit.seconds is not None and not state.gates_of(run):
        began = run.began_at_ms if run.seen_at_ms is None else run.seen_at_ms
        until = run.answered_at_ms if looks_after_tools(state) else run.turned_at_ms
        spent = (until - began) / 1000
        yield held_or(
            spent <= limit.seconds,
            f"{spent:g} s have passed and the limit is {limit.seconds:g} s, yet the model is asked",
        )


@check("STOP-3", at=("Stopped",), rank=Rank.STATUS)
def a_timeout_is_not_early(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run does not stop for its time before that is over."""
    run, limit = stops_for(state, seen, "timeout"), condition(state, "timeout")
    if run is not None and limit is not None and limit.seconds is not None:
        spent = (state.now_ms - run.began_at_ms) / 1000
        yield held_or(
            spent >= limit.seconds, f"the limit is {limit.seconds:g} s, yet the run stopped after {spent:g} s"
        )


@check("STOP-5", at=("model",), rank=Rank.STATUS, requires="a stop condition")
def errors_in_a_row_stop(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run does not ask the model again after more errors in a row than it may have."""
    run, limit = asks(state, seen), condition(state, "consecutive_errors")
    if run is None or limit is None or limit.max is None:
        return
    row = errors_in_a_row(run, is_whole=looks_after_tools(state))
    certain = row is not None and row > limit.max
    yield held_or(not certain, f"{row} calls in a row failed and {limit.max} may, yet the model is asked")


def errors_in_a_row(run: Run, *, is_whole: bool = True) -> int | None:
    """How many errors in a row the run has after it, if nothing else of it can have broken the row.

    Where a run looks only after its next inference, those of the newest round are not looked at yet.
    """
    failed = all(call.result is not None and call.result["kind"] == "error" for call in run.every_call)
    row = takewhile(lambda kind: kind == "error", reversed(_results(run, is_whole=is_whole)))
    return len(list(row)) if failed else None


def longest_row(run: Run) -> int:
    """How many errors in a row there may have been at most.

    Those of a round come in any order, and a call that waited fails whenever it is decided.
    """
    longest = row = 0
    for _, calls in groupby(sorted(run.every_call, key=_step), key=_step):
        placed = [call for call in calls if _has_its_place(run, call)]
        failed = sum(map(_may_have_failed, placed))
        longest = max(longest, row + failed)
        row = failed + (row if failed == len(placed) else 0)
    return longest + sum(_may_have_failed(call) for call in run.every_call if not _has_its_place(run, call))


def _step(call: ObservedCall) -> int:
    return call.step


def _has_its_place(run: Run, call: ObservedCall) -> bool:
    """Whether it is certain in which round a call came to its end, and that no plugin gave it another."""
    return not (call.may_have_waited or call.decisions or call.is_unclear or call.raced or run.hooks)


@check("STOP-5", at=("Stopped",), rank=Rank.STATUS)
def errors_in_a_row_are_not_early(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run does not stop for errors in a row that did not happen."""
    run, limit = stops_for(state, seen, "consecutive_errors"), condition(state, "consecutive_errors")
    if run is not None and limit is not None and limit.max is not None:
        row = longest_row(run)
        yield held_or(
            row >= limit.max, f"{limit.max} errors in a row may happen, yet the run stopped after {row}"
        )


def _may_have_failed(call: ObservedCall) -> bool:
    answered = call.last_answer is not None and call.last_answer["kind"] in ("ok", "warning")
    return call.tool is None or call.last_verdict == "block" or not answered


def _results(run: Run, *, is_whole: bool) -> list[str]:
    """What the tools of the run answered, in order; the newest round only where the run is seen whole."""
    calls = [call for call in run.every_call if is_whole or (call.step < run.steps and not call.decisions)]
    answered = [gate for call in calls for gate in call.entries if gate.outcome is not None]
    return [str(gate.outcome["kind"]) for gate in answered if gate.outcome is not None]


@check("STOP-6", at=("model",), rank=Rank.STATUS, requires="a stop condition")
def a_stop_tool_stops(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run does not ask the model again once the tool that stops it has been called and has answered."""
    run, limit = asks(state, seen), condition(state, "stop_on_tool")
    if run is not None and limit is not None:
        called = [
            call
            for call in run.every_call
            if call.name == limit.tool_name and call.result is not None and not call.is_renamed
        ]
        yield held_or(not called, f"{limit.tool_name} was called and stops the run, yet the model is asked")


@check("STOP-6", at=("Stopped",), rank=Rank.STATUS)
def a_stop_tool_is_not_early(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run does not stop for a tool that was not called."""
    run, limit = stops_for(state, seen, "stop_on_tool"), condition(state, "stop_on_tool")
    if run is not None and limit is not None:
        called = any(call.name == limit.tool_name or call.is_renamed for call in run.every_call)
        yield held_or(called, f"{limit.tool_name} was not called, yet the run stopped for it")


@check("STOP-7", at=("model",), rank=Rank.STATUS, requires="a stop condition")
def matching_content_stops(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run does not ask the model again once what that said matches."""
    run, limit = asks(state, seen), condition(state, "content_match")
    if run is not None and limit is not None and limit.pattern is not None and run.texts:
        matched = re.search(limit.pattern, run.texts[-1])
        yield (
            HELD
            if not matched
            else broken(f"the model said {run.texts[-1]!r}, which stops the run, yet it is asked again")
        )


@check("STOP-7", at=("Stopped",), rank=Rank.STATUS)
def content_is_not_early(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run does not stop for something that the model has not said."""
    run, limit = stops_for(state, seen, "content_match"), condition(state, "content_match")
    if run is not None and limit is not None and limit.pattern is not None:
        said = any(re.search(limit.pattern, text) for text in run.texts)
        yield held_or(
            said, f"the model said nothing that matches {limit.pattern!r}, yet the run stopped for it"
        )


def what_call_it_is(call: ObservedCall, *, with_id: bool) -> str:
    """What tells a call from another: its tool and its arguments, with or without the id that they hold."""
    args = {key: value for key, value in call.args.items() if with_id or key != "k"}
    return json.dumps([call.name, args], sort_keys=True)


@check("STOP-10", at=("model",), rank=Rank.STATUS, requires="a stop condition")
def a_loop_stops(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run does not ask the model again once all calls within the window were the same one."""
    run, limit = asks(state, seen), condition(state, "loop_detection")
    if run is None or limit is None or limit.window is None or limit.window < 2:
        return
    calls = sorted(run.every_call, key=lambda call: call.step)
    newest = calls[-limit.window :]
    same = len({what_call_it_is(call, with_id=True) for call in newest}) == 1
    certain = (
        len(newest) == limit.window and same and not any(call.is_unclear or call.raced for call in calls)
    )
    yield (
        HELD
        if not certain
        else broken(f"the last {limit.window} calls were all {newest[0].name} alike, yet the model is asked")
    )


@check("STOP-10", at=("Stopped",), rank=Rank.STATUS)
def a_loop_is_not_early(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run does not stop for a loop while its calls within the window, of calls or of steps, differ."""
    run, limit = stops_for(state, seen, "loop_detection"), condition(state, "loop_detection")
    if run is not None and limit is not None and limit.window is not None:
        calls = sorted(run.every_call, key=lambda call: call.step)
        window = max(limit.window, 2)
        repeated = any(
            what_call_it_is(one, with_id=False) == what_call_it_is(other, with_id=False)
            for at, one in enumerate(calls)
            for apart, other in enumerate(calls[at + 1 :], 1)
            if apart < window or other.step - one.step < window
        )
        alike = f"no two of its {len(calls)} calls within a window of {window} are alike"
        yield held_or(repeated, f"{alike}, yet the run stopped for a loop")


@check("STOP-1", at=("Stopped",), rank=Rank.STATUS)
def a_stop_names_its_condition(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run that ends as Stopped names the condition, which is one that was declared."""
    code = seen.reason.stop.code if seen.reason.stop is not None else None
    declared = [condition.kind for condition in state.scenario.agent.stop]
    if code is None:
        yield broken("the run ended as Stopped, yet it does not say what stopped it")
    else:
        yield held_or(code in declared, f"the run was stopped by {code}, which was not declared")
