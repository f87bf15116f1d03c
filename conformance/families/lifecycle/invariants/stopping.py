"""STOP: at which count a run stops, before or after the tools of its step, and after which phase."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runlock.conformance.families.lifecycle.invariants.stop import (
    asks,
    condition,
    errors_in_a_row,
    longest_row,
    stops_for,
)
from runlock.conformance.families.lifecycle.messages import GateOpened, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank


def _limits(state: ObservedState, run: Run) -> Iterator[tuple[str, str, int | None, int]]:
    """The counted limits: kind, what is counted, the count if it is certain, and the limit."""
    rounds, budget = condition(state, "max_rounds"), condition(state, "token_budget")
    errors = condition(state, "consecutive_errors")
    if rounds is not None and rounds.rounds is not None:
        yield "max_rounds", "rounds", run.steps, rounds.rounds
    if budget is not None and budget.max_total is not None:
        yield "token_budget", "tokens", run.tokens, budget.max_total
    if errors is not None and errors.max is not None:
        yield "consecutive_errors", "errors in a row", errors_in_a_row(run), errors.max


@check("STOP-8", at=("model",), rank=Rank.STATUS, requires="a stop condition")
def a_limit_that_is_reached_stops(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a counted limit stops the run at its count, the model is not asked again there."""
    run = asks(state, seen)
    if run is None or state.policy("stop.threshold") not in ("reaches", "exceeds"):
        return
    for _, what, count, limit in _limits(state, run):
        if count == limit:
            stops = state.policy("stop.threshold") == "reaches"
            why = f"a limit stops the run when it is reached, and its limit of {what} is {limit}"
            yield held_or(not stops, f"{why}, yet the model is asked")


@check("STOP-8", at=("Stopped",), rank=Rank.STATUS)
def a_limit_that_is_only_reached_does_not_stop(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Where a counted limit has to be exceeded, the run does not stop at its count."""
    policy = state.policy("stop.threshold")
    for kind in ("max_rounds", "token_budget", "consecutive_errors"):
        run = stops_for(state, seen, kind)
        if run is None or policy not in ("reaches", "exceeds"):
            continue
        for name, what, count, limit in _limits(state, run):
            most = longest_row(run) if kind == "consecutive_errors" else count
            if name == kind and most == limit:
                early = policy == "exceeds"
                why = f"a limit stops the run when it is exceeded, and {limit} {what} only reach it"
                yield held_or(not early, f"{why}, yet the run stopped")


@check("STOP-9", at=("Stopped",), rank=Rank.STATUS)
def the_tools_of_the_last_step_are_executed(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """The tools of the step that stops the run are executed first, or are not, as stop.tools says."""
    run, policy = state.run_of(seen), state.policy("stop.tools")
    stop = seen.reason.stop.code if seen.reason.stop is not None else None
    if run is None or stop == "timeout" or _is_open(run):
        return
    certain = _newest(run)
    last = [call for call in run.calls.values() if call.step == run.steps and not call.is_unclear]
    has_failed = any(call.claimed == "Failed" for call in last)
    may_leave_out = has_failed and state.policy("round.failure") != "isolated"
    for call in last:
        if policy == "preempted" and call in certain and not call.entries:
            yield HELD
        elif policy == "drained" and call.tool is not None and call.tool.permission == "allow":
            if call.entries:
                yield HELD
            elif call in certain and not may_leave_out:
                yield broken(
                    f"the step that stops the run drains its tools, yet call {call.id} was not executed"
                )


def _newest(run: Run) -> list[ObservedCall]:
    """The calls of the newest turn, if it is certain what became of each."""
    newest = [call for call in run.calls.values() if call.step == run.steps]
    unsure = any(call.is_unclear or call.raced or call.may_have_waited for call in newest)
    blocked = any(call.last_verdict == "block" for call in newest)
    return [] if unsure or blocked else newest


def _is_open(run: Run) -> bool:
    return run.disturbed_by(CANCEL, FAULT, CRASH, INPUT)


@check("STOP-9", at=("tool",), rank=Rank.STATUS)
def no_tool_runs_in_the_step_that_stops(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a stop comes before the tools of its step, none of them runs."""
    run, call = state.run_of(seen), state.entering(seen)
    if run is None or call is None or state.policy("stop.tools") != "preempted" or _is_open(run):
        return
    if call.step == run.steps and not (call.entries or call.decisions or call.raced):
        why = _already_met(state, run)
        yield held_or(not why, f"{why}, which stops the run before its tools, yet call {call.id} runs")


def _already_met(state: ObservedState, run: Run) -> str:
    """Which stop condition the newest turn has certainly met by itself."""
    reaches = state.policy("stop.threshold") == "reaches"
    for kind, what, count, limit in _limits(state, run):
        over = count is not None and (count > limit or (reaches and count == limit))
        if kind != "consecutive_errors" and over:
            return f"the limit of {what} is {limit}, and there are {count}"
    content, tool = condition(state, "content_match"), condition(state, "stop_on_tool")
    if content is not None and content.pattern and run.texts and re.search(content.pattern, run.texts[-1]):
        return f"the model said {run.texts[-1]!r}"
    if tool is not None and any(call.name == tool.tool_name for call in _newest(run)):
        return f"the model called {tool.tool_name}"
    return ""


@check("STOP-11", at=("Stopped",), rank=Rank.STATUS, excuses=(CRASH,))
def a_stop_comes_after_the_end_of_its_step(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A stop condition that is met at work ends the run after StepEnd, before another StepStart."""
    run = state.run_of(seen)
    stop = seen.reason.stop.code if seen.reason.stop is not None else None
    if run is None or stop == "timeout":
        return
    bounds = [entered.phase for entered in run.phases if entered.phase in ("StepStart", "StepEnd")]
    newest = bounds[-1] if bounds else "no phase"
    yield held_or(newest == "StepEnd", f"the run was stopped by {stop} after {newest}, not after StepEnd")
