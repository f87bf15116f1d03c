"""LOOP: the bound of a pass: what it counts, where it stops, and how a turn ends there."""

from __future__ import annotations

import re
from typing import Final

from runlock.conformance.families.message_loop.invariants.authority import passes_unasked
from runlock.conformance.families.message_loop.invariants.denials import people_may_stop_others
from runlock.conformance.families.message_loop.invariants.occasions import is_odd
from runlock.conformance.families.message_loop.invariants.reading import is_doubled
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResults,
    broken,
    listed,
    named,
    quoted,
)
from runlock.conformance.families.message_loop.messages import (
    ITERATIONS_DEFAULT,
    GateOpened,
    Published,
    Reason,
    TurnEnded,
)
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedPass, ObservedTurn
from runlock.conformance.family.invariant import check, counts, held_or
from runlock.conformance.family.rank import Rank

EARLIER_CALLS: Final = re.compile(
    r"complet|already|execut|may have|finish|\bran\b|took effect", re.IGNORECASE
)
"""What a detail says that warns of calls that have completed."""


def bound_of(state: ObservedState, path: ObservedPass) -> int:
    """How much the bound of a pass allows."""
    if path.stage is None:
        return state.scenario.bounds.max_iterations
    execution = path.turn.executions.get(path.stage)
    return (
        execution.spec.turn_cap
        if execution is not None and execution.spec is not None
        else ITERATIONS_DEFAULT
    )


def requests_allowed(state: ObservedState, path: ObservedPass) -> int:
    """The most requests of a pass; where it is open what the bound counts, the most of either."""
    bound = bound_of(state, path)
    return bound if state.policy("bound.counts") == "requests" else bound + 1


def counted_as(state: ObservedState) -> str:
    """How a sentence says what the bound counts."""
    return str(state.policy("bound.counts") or "continuations")


@check("LOOP-5", at=("model",), rank=Rank.STATUS)
def no_request_is_sent_beyond_the_bound(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No request is sent beyond the bound of the pass."""
    path = state.path_of(seen)
    if path is None or (path.sent and path.sent[-1].may_be_sent_again):
        return
    number, bound = len(path.sent) + 1, bound_of(state, path)
    if number > 1:
        right = number <= requests_allowed(state, path)
        yield held_or(
            right, f"{path.label} may have {bound} {counted_as(state)}, yet request {number} was sent"
        )


def _ended_at_the_bound(state: ObservedState, path: ObservedPass) -> bool:
    """Whether the pass certainly stopped with calls that a further request would have answered."""
    last = path.sent[-1] if path.sent else None
    return last is not None and last.response is not None and bool(last.calls) and not last.is_terminal


def _stopped_short(state: ObservedState, path: ObservedPass) -> str:
    """Why a pass that ended at its bound has not reached it, or an empty string."""
    sent, bound = len(path.sent), bound_of(state, path)
    least = bound if state.policy("bound.counts") in (None, "requests") else bound + 1
    if sent >= least:
        return ""
    return f"{path.label} ended at its bound of {bound} {counted_as(state)} after {sent} requests"


def _bounded(turn: ObservedTurn | None, reason: Reason) -> ObservedPass | None:
    if turn is None or turn.kind != "chat" or not reason.is_bound or not turn.passes:
        return None
    return turn.passes[-1]


@check("LOOP-6", rank=Rank.STATUS)
def the_bound_counts_rounds(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """The calls of one response count once together."""
    path = _bounded(state.turn_of(seen), seen.reason)
    if path is not None and any(len(request.calls) > 1 for request in path.sent):
        short = _stopped_short(state, path)
        calls = sum(len(one.calls) for one in path.sent)
        counted = bool(short) and calls >= bound_of(state, path)
        yield held_or(not counted, f"{short} with {calls} calls, and calls do not count")


@check("LOOP-7", rank=Rank.STATUS)
def the_bound_starts_anew(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """The bound starts anew with each pass."""
    turn = state.turn_of(seen)
    path = _bounded(turn, seen.reason)
    if path is not None and turn is not None and turn.number > 1:
        short = _stopped_short(state, path)
        calls = sum(len(one.calls) for one in path.sent)
        counted = bool(short) and calls < bound_of(state, path)
        yield held_or(not counted, f"{short}; earlier turns do not count")


@counts("LOOP-7", at=("model",))
def a_later_pass_has_its_whole_bound(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A pass may send as many requests as the first one, whatever the passes before it sent."""
    path = state.path_of(seen)
    earlier = sum(len(one.sent) for turn in state.turns.values() for one in turn.passes if one is not path)
    if path is not None and path.sent and earlier + len(path.sent) + 1 > requests_allowed(state, path):
        yield HELD


@check("LOOP-9", rank=Rank.STATUS)
def calls_at_the_bound_are_settled(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """At the bound the calls of the last response are settled and run as ever."""
    path = _bounded(state.turn_of(seen), seen.reason)
    if path is None or not path.sent or is_doubled(path.turn):
        return
    stopped = people_may_stop_others(state, path.sent[-1])
    for call in path.sent[-1].calls:
        allowed = passes_unasked(state, call) and not call.hooks and call.is_usable and not stopped
        touched = bool(call.entries or call.prompts or call.hooks or call.judged) or not call.is_usable
        may_wait = not allowed and (not state.active or any(one.prompts for one in path.sent[-1].calls))
        executing = any(gate.is_open for gate in call.entries)
        settled = (touched or may_wait) and not executing
        yield held_or(settled, f"{named(call)} was not settled before the turn ended at its bound")
    if state.observes("message"):
        yield from _results_are_kept(
            path, {message.call for message in path.messages if message.role == "tool"}
        )


def _results_are_kept(path: ObservedPass, shown: set[str | None]) -> CheckResults:
    missing = [call.id for call in path.sent[-1].calls if call.id not in shown]
    yield held_or(not missing, f"the result of call {listed(missing)} is not in the transcript at the bound")


@check("LOOP-8", rank=Rank.STATUS)
def a_chat_turn_ends_at_its_bound_as_declared(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A chat turn ends at its bound as declared."""
    turn = state.turn_of(seen)
    if turn is None or turn.kind != "chat" or not turn.passes or not _is_undisturbed(turn):
        return
    path = turn.passes[-1]
    if not _ended_at_the_bound(state, path) or _reaches_the_turn(state, path):
        return
    short = _stopped_short(state, path)
    code = {"error": "Error", "stopped": "Stopped"}.get(str(state.policy("bound.end")))
    reason = seen.reason
    if short and reason.is_bound:
        yield broken(short)
    elif not short and not reason.is_bound:
        yield broken(
            f"{path.label} reached its bound, yet it ended as {reason.code} without stop max_iterations"
        )
    elif reason.is_bound:
        yield held_or(
            code in (None, reason.code), f"a turn at its bound ends as {code}, yet this one as {reason.code}"
        )


@check("LOOP-8", rank=Rank.STATUS)
def the_detail_at_the_bound_warns(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """The detail of a chat turn that ends at its bound warns of calls that have completed.

    It reads no policy, so it says nothing of a runtime that leaves `bound.end` open.
    """
    if _bounded(state.turn_of(seen), seen.reason) is not None:
        detail = _detail(seen.reason)
        why = f"the detail does not say that earlier calls may have completed: {quoted(detail)}"
        yield held_or(bool(EARLIER_CALLS.search(detail)), why)


def _detail(reason: Reason) -> str:
    stop = reason.stop.detail if reason.stop is not None else None
    return " ".join(str(one) for one in (reason.detail, stop) if one)


def _is_undisturbed(turn: ObservedTurn) -> bool:
    odd = any(gate.on == "hook" and is_odd(gate) for gate in turn.gates)
    plain = not turn.cancelled_at and not turn.faults() and not turn.stage_denials()
    return plain and not odd and not is_doubled(turn)


def _reaches_the_turn(state: ObservedState, path: ObservedPass) -> bool:
    """Whether a person, a broken hook or a failed call may have ended the turn instead."""
    for call in path.sent[-1].calls:
        odd = call.is_malformed or call.answered_with == "raise" or call.tool is None
        asked = any(gate.answered_with != "allow" for prompt in call.prompts for gate in prompt.gates)
        if odd or asked or (not call.prompts and not call.entries):
            return True
    return False


@check("LOOP-10", at=("ActEnded",), rank=Rank.STATUS)
def an_act_ends_with_its_cap(state: ObservedState, seen: Published) -> CheckResults:
    """Act ends with capHit true at the cap, and false without."""
    turn = state.turn_of(seen)
    execution = turn.executions.get(seen.get("execution") or "") if turn is not None else None
    path = execution.passes[-1] if execution is not None and execution.passes else None
    if seen.watcher is not None or path is None or not path.sent or path.sent[-1].response is None:
        return
    last = path.sent[-1]
    if not path.turn.cancelled_at and not last.is_terminal and isinstance(seen.get("capHit"), bool):
        capped = bool(last.calls)
        why = f"its last response asked for {len(last.calls)} calls, yet {path.label} ended Act with capHit"
        yield held_or(seen.get("capHit") == capped, f"{why} {seen.get('capHit')}")


@check("LOOP-10", at=("Rendered",), rank=Rank.STATUS)
def nothing_is_rendered_at_the_cap(state: ObservedState, seen: Published) -> CheckResults:
    """At the turn cap nothing is rendered."""
    turn = state.turn_of(seen)
    path = turn.path(seen.stage) if turn is not None and turn.is_driven else None
    if path is None or seen.watcher is not None or not path.sent:
        return
    last = path.sent[-1]
    capped = last.response is not None and bool(last.calls) and not last.is_terminal
    if capped and not _stopped_short(state, path):
        yield broken(f"{path.label} ended at its turn cap, yet its payload was rendered")


@check("LOOP-6", at=("assert",), rank=Rank.STATUS)
def a_stage_stops_at_its_cap_alone(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A stage execution with calls left ends Act only once its cap is reached."""
    path = state.path_of(seen)
    if path is None or not path.is_driven or not _ended_at_the_bound(state, path):
        return
    short = _stopped_short(state, path)
    if not _reaches_the_turn(state, path):
        yield held_or(not short, short)


@check("LOOP-10", at=("assert",), rank=Rank.STATUS)
def the_assertion_sees_the_final_transcript(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The assertion sees the final transcript, and whether the cap was hit."""
    path = state.path_of(seen)
    if path is None or not path.sent or path.sent[-1].response is None or is_doubled(path.turn):
        return
    last = path.sent[-1]
    capped = bool(last.calls) and not last.is_terminal
    if seen.cap_hit is not None and not last.is_terminal:
        what = f"its last response asked for {len(last.calls)} calls"
        yield held_or(seen.cap_hit == capped, f"{what}, yet {path.label} asserts with capHit {seen.cap_hit}")
    if seen.transcript is not None:
        shown = {message.call for message in seen.transcript if message.role == "tool"}
        missing = [call.id for call in path.every_call() if call.id not in shown]
        why = f"the result of call {listed(missing)} is not in the transcript of the assertion"
        yield held_or(not missing, why)
