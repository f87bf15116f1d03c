"""RUNNER: the tool response that the user asks for."""

from __future__ import annotations

from runlock.conformance.families.tool_runner.invariants.looks import turn_of
from runlock.conformance.families.tool_runner.messages import Responded, RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.facts import is_kept
from runlock.conformance.families.tool_runner.state.records import Iteration, ObservedResponse
from runlock.conformance.family.invariant import CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank


def _asked(state: ObservedRunner) -> tuple[Iteration, ObservedResponse, int] | None:
    """The response that is being made."""
    iteration = state.iteration
    pending = iteration.pending_response if iteration is not None else None
    if iteration is None or pending is None or iteration.turn is None:
        return None
    return iteration, pending, iteration.responses.index(pending)


@check("RUNNER-19", at=("tool",), rank=Rank.LOST)
def a_response_enters_only_calls_of_its_turn(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """For a response only calls of the received turn run."""
    asked = _asked(state)
    if asked is not None and seen.call is not None:
        own = {call.id for call in asked[0].calls}
        yield held_or(
            seen.call in own, f"the response is for {turn_of(asked[0])}, and call {seen.call} was entered"
        )


@check("RUNNER-19", rank=Rank.LOST)
def a_response_answers_its_own_turn(state: ObservedRunner, seen: Responded) -> CheckResults:
    """A response holds no result of another turn."""
    asked = _asked(state)
    if asked is not None and seen.messages:
        own = {call.id for call in asked[0].calls}
        others = [message.call for message in seen.messages if message.call not in own]
        yield held_or(not others, f"the response is for {turn_of(asked[0])}, and answers call {others[:1]}")


@check("RUNNER-18", at=("tool",), rank=Rank.OTHER)
def a_kept_response_is_given_again(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """While a response is kept, a second request for it enters no body."""
    asked = _asked(state)
    if asked is None or state.is_cancelled:
        return
    iteration, _, number = asked
    if number and _kept(state, iteration, number) == {True}:
        reason = f"the response of request {iteration.number} is kept"
        yield broken(f"{reason}, and call {seen.call} was entered for it again")


@check("RUNNER-18", rank=Rank.OTHER)
def a_kept_response_was_given_again(state: ObservedRunner, seen: Responded) -> CheckResults:
    """A second response was given from what is kept."""
    asked = _asked(state)
    if (
        asked is not None
        and asked[2]
        and not state.is_cancelled
        and _kept(state, asked[0], asked[2]) == {True}
    ):
        made = [gate for gate in asked[0].entries if gate.response == asked[2]]
        yield held_or(not made, "a kept response was made again")


@check("RUNNER-30", rank=Rank.LOST)
def a_response_that_is_not_kept_is_made_anew(state: ObservedRunner, seen: Responded) -> CheckResults:
    """Where no response is kept, a second request for it runs the tools."""
    asked = _asked(state)
    if asked is None or not asked[2] or state.is_cancelled or not seen.messages or asked[0].changes_tools:
        return
    iteration, _, number = asked
    answered = _answered_by_the_user(iteration)
    able = [call for call in iteration.calls if call.name in iteration.tools and call.id not in answered]
    earlier = [one for one in iteration.responses[:number] if one.seen is not None and one.seen.messages]
    if able and earlier and _kept(state, iteration, number) == {False}:
        made = [gate for gate in iteration.entries if gate.response == number]
        yield held_or(made, "no response is kept, and a second one was given without a tool")


def _kept(state: ObservedRunner, iteration: Iteration, number: int) -> set[bool | None]:
    def under(value: str) -> bool | None:
        return is_kept(state, iteration, number, lambda key: value)

    return {under(value) for value in state.values("runner.cache")}


def _broke(state: ObservedRunner, iteration: Iteration, number: int) -> bool:
    own = [gate for gate in iteration.entries if gate.response == number]
    ends = "end_run" in state.values("tool.raises")
    return any(gate.kind == "fault" or (gate.kind == "raise" and ends) or gate.gone for gate in own)


@check("RUNNER-17", rank=Rank.LOST)
def a_response_has_one_result_for_each_call(state: ObservedRunner, seen: Responded) -> CheckResults:
    """A response has one result for each call, and is null if there is none."""
    asked = _asked(state)
    if asked is None or state.is_cancelled or asked[0].has_doubled_ids or _broke(state, asked[0], asked[2]):
        return
    iteration, wanted = asked[0], [call.id for call in asked[0].calls]
    if seen.messages is None:
        must = bool(wanted) and iteration.turn is not None and iteration.turn.stop == "tool_use"
        if not _may_be_early(iteration, asked[1]):
            yield held_or(not must, f"{turn_of(iteration)} asks for tools, and its response is null")
        return
    shown = [message.call for message in seen.messages]
    yield held_or(
        sorted(map(str, shown)) == sorted(wanted), f"{turn_of(iteration)} has a response for {shown}"
    )


def _may_be_early(iteration: Iteration, response: ObservedResponse) -> bool:
    """Whether a response was asked for while the turn of a stream came, so that it may have come too soon."""
    return not iteration.is_yielded_whole and response.window == iteration.turn_in


@check("RUNNER-17", rank=Rank.LOST)
def a_response_says_what_the_tools_answered(state: ObservedRunner, seen: Responded) -> CheckResults:
    """A response says what the tools answered."""
    asked = _asked(state)
    if asked is None or asked[0].has_doubled_ids or state.is_cancelled:
        return
    for message in seen.messages or ():
        if message.call in _answered_by_the_user(asked[0]):
            continue  # what the user answered may stand for what a tool would have
        if message.status == "error" and _lacks_its_tool(state, asked[0], message.call):
            continue  # it is made anew, and its tool was taken out of the set
        outcomes = [
            gate.outcome for gate in asked[0].entries_of(message.call or "") if gate.outcome is not None
        ]
        kinds = {outcome["kind"] for outcome in outcomes}
        if kinds == {"ok"}:
            texts = [outcome.get("content") for outcome in outcomes]
            told = message.status != "error" and (
                message.text in texts or not all(isinstance(t, str) for t in texts)
            )
            yield held_or(
                told, f"call {message.call} answered {texts[-1]!r}, and its response is {message.text!r}"
            )
        elif (kinds and "ok" not in kinds) or not kinds:
            yield held_or(
                message.status == "error", f"call {message.call} did not succeed; its response is no error"
            )


def _lacks_its_tool(state: ObservedRunner, iteration: Iteration, call: str | None) -> bool:
    names = [one.name for one in iteration.calls if one.id == call]
    return any(name not in state.tools or iteration.has_removed(name) for name in names)


def _answered_by_the_user(iteration: Iteration) -> set[str | None]:
    return {message.call for message in iteration.pushes() if message.role == "tool"}
