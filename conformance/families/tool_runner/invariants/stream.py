"""STREAM: turns that come in pieces."""

from __future__ import annotations

from typing import Any

from runlock.conformance.families.tool_runner.invariants.looks import turn_of
from runlock.conformance.families.tool_runner.messages import Published, RunFinished, RunnerGate
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.records import Iteration
from runlock.conformance.family.invariant import CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank

STREAM = "a stream"


def _streamed(state: ObservedRunner) -> Iteration | None:
    """The iteration at hand, if its turn comes as a stream."""
    return state.iteration if state.scenario.runner.stream else None


@check("STREAM-1", rank=Rank.STREAM)
def a_piece_is_shown_in_order_and_once(state: ObservedRunner, seen: Published) -> CheckResults:
    """Each piece that is shown is the next one that the model gave."""
    iteration = _streamed(state)
    if iteration is None or seen.stream != "turn" or seen.name != "delta":
        return
    place = len(iteration.pieces)
    if place >= len(iteration.deltas):
        yield broken(f"a piece {seen.data} was shown, but the model gave {len(iteration.deltas)} pieces")
        return
    wanted = iteration.deltas[place][0].data
    yield held_or(
        _like(seen.data, wanted), f"piece {place + 1} of the turn is {wanted}, and {seen.data} was shown"
    )


def _like(shown: Any, wanted: dict[str, Any]) -> bool:
    if not isinstance(shown, dict):
        return False
    known = {key: value for key, value in shown.items() if key in ("text", "tool_call") and value is not None}
    if "tool_call" in known and isinstance(known["tool_call"], dict):
        call = known["tool_call"]
        known["tool_call"] = {"id": call.get("id"), "name": call.get("name"), "args": call.get("args") or {}}
    return known == wanted


@check("STREAM-1", rank=Rank.STREAM, requires=STREAM)
def each_piece_reaches_a_reading_user(state: ObservedRunner) -> CheckResults:
    """A user who reads has seen every piece that came."""
    iteration = _streamed(state)
    if iteration is None or state.scenario.runner.read != "all" or not state.observes("event"):
        return
    if iteration.yielded is None or not iteration.deltas or state.is_cancelled or iteration.fault:
        return
    if iteration.yielded.seen.message is not None:
        return  # the turn was yielded whole
    lost = iteration.deltas[len(iteration.pieces) :]
    yield held_or(not lost, f"piece {len(iteration.pieces) + 1} of the turn did not reach the user")


@check("STREAM-2", rank=Rank.STREAM)
def the_end_of_a_stream_is_the_turn(state: ObservedRunner, seen: Published) -> CheckResults:
    """The end of a stream shows the whole turn as the model stated it."""
    iteration = _streamed(state)
    if iteration is None or seen.stream != "turn" or seen.name != "end":
        return
    if iteration.turn is None:
        yield broken(f"the end of the turn of request {iteration.number} was shown before it was whole")
        return
    data: dict[str, Any] = seen.data if isinstance(seen.data, dict) else {}
    calls = data.get("tool_calls") or []
    shown = (
        data.get("text") or "",
        [(call.get("id"), call.get("name"), call.get("args") or {}) for call in calls],
    )
    wanted = (iteration.turn.text, [(call.id, call.name, call.args) for call in iteration.calls])
    yield held_or(shown == wanted, f"{turn_of(iteration)} ended as {shown}, and the model stated {wanted}")


@check("STREAM-4", at=("tool",), rank=Rank.OTHER, requires=STREAM)
def no_call_starts_from_a_stream(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """Where tools wait for the resume, no call starts from a stream."""
    iteration = _streamed(state)
    if iteration is None or state.is_cancelled or state.policy("tools.start") != "after_resume":
        return
    phase, _ = state.phase(iteration)
    early = phase in ("request", "yield") or (phase == "handling" and iteration.turn is None)
    if iteration.deltas and phase != "response":
        yield held_or(not early, f"call {seen.call} started from the stream, before its turn was resumed")


@check("STREAM-5", at=("tool",), rank=Rank.OTHER, requires=STREAM)
def a_streamed_call_starts_with_its_piece(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """A call that starts from a stream has its piece, and runs with the arguments of it."""
    iteration = _streamed(state)
    if iteration is None or state.is_cancelled or state.policy("tools.start") != "streaming":
        return
    if state.phase(iteration)[0] not in ("request", "yield"):
        return
    pieces = [piece.tool_call for piece, _ in iteration.deltas if piece.tool_call is not None]
    known = {call.id: call for call in [*pieces, *iteration.calls]}
    call = known.get(seen.call or "")
    if call is None and iteration.goes_on and _is_given(iteration, seen.call):
        return  # a call of a turn that the user put there
    right = call is not None and (seen.args is None or call.args == seen.args)
    yield held_or(right, f"call {seen.call} started with {seen.args}, before a piece with it was complete")


def _is_given(iteration: Iteration, call_id: str | None) -> bool:
    """Whether a turn of the state, which the user may have pushed or set, has this call."""
    state = [*iteration.before_pushes(), *iteration.pushes()]
    return any(call.id == call_id for message in state for call in message.tool_calls or ())


@check("STREAM-6", at=("model",), rank=Rank.STREAM, requires=STREAM)
def an_early_resume_waits_for_the_whole_turn(state: ObservedRunner, seen: RunnerGate) -> CheckResults:
    """After the resume of a stream that may come before the turn is whole, no request is sent until it is.

    A runner that yields a stream at its end lets no one resume it earlier, so it is judged by that yield.
    """
    iteration = _streamed(state)
    if iteration is not None and iteration.resumed_at is not None and _may_be_early(iteration):
        whole = iteration.turn is not None or state.is_cancelled or iteration.retried_at is not None
        yield held_or(
            whole, f"the turn of request {iteration.number} is not whole, and another request was sent"
        )


def _may_be_early(iteration: Iteration) -> bool:
    return not iteration.whole_at_resume or iteration.is_yielded_whole


@check("STREAM-6", rank=Rank.STREAM, requires=STREAM)
def an_early_resume_does_not_end_the_run(state: ObservedRunner, seen: RunFinished) -> CheckResults:
    """After a resume before the turn is whole, the run does not end before it is whole."""
    iteration = _streamed(state)
    if iteration is None or iteration.resumed_at is None or iteration.whole_at_resume or state.is_cancelled:
        return
    failed = iteration.fault or (iteration.request.gone and seen.reason.code == "Error")
    if not failed and iteration.left_at is None:
        yield held_or(
            iteration.turn, f"the turn of request {iteration.number} is not whole, and the run ended"
        )


@check("STREAM-6", rank=Rank.STREAM, requires=STREAM)
def an_early_resume_takes_effect(state: ObservedRunner) -> CheckResults:
    """A resume before the turn is whole takes effect when it is whole."""
    iteration = _streamed(state)
    if iteration is None or iteration.resumed_at is None or iteration.whole_at_resume or state.is_cancelled:
        return
    if iteration.turn is not None and state.run is not None and state.shows_ends:
        moves = state.run.is_done or any(gate.on != "yield" for gate in state.open_gates)
        yield held_or(
            moves, f"{turn_of(iteration)} is whole and was resumed before, and the run stands still"
        )


@check("STREAM-7", rank=Rank.STATUS)
def a_user_who_leaves_a_stream_ends_the_run(state: ObservedRunner) -> CheckResults:
    """A break before the turn is whole ends the run and gives up the request."""
    iteration = _streamed(state)
    if iteration is None or iteration.left_at != state.stimuli or not _may_be_early(iteration):
        return
    if not state.alone or state.is_cancelled or state.run is None:
        return
    open_request = iteration.request.is_open
    yield held_or(not open_request, f"the user left, and request {iteration.number} was not given up")
    if state.shows_ends:
        yield held_or(state.run.is_done, "the user left before the turn was whole, and the run did not end")


@check("STREAM-3", rank=Rank.STATUS, requires=STREAM)
def a_stream_that_is_not_read_blocks_nothing(state: ObservedRunner) -> CheckResults:
    """A run whose user does not read goes on once the turn is whole."""
    iteration = _streamed(state)
    if iteration is None or state.scenario.runner.read != "none" or state.is_cancelled:
        return
    run = state.run
    if run is None or iteration.turn is None or not state.shows_ends:
        return
    if iteration.deltas:
        moves = run.is_done or bool(state.open_gates)
        yield held_or(moves, f"{turn_of(iteration)} is whole and not read, and the run stands still")
