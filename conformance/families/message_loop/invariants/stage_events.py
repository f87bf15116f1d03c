"""LOOP, WIRE: the six stages of a pass, as they are published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from runlock.conformance.families.message_loop.invariants.occasions import is_odd
from runlock.conformance.families.message_loop.invariants.results import CheckResults, broken, listed
from runlock.conformance.families.message_loop.messages import GateOpened, Published, TurnEnded
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import (
    ObservedGate,
    ObservedPass,
    ObservedRequest,
    ObservedTurn,
    StageFired,
)
from runlock.conformance.family.invariant import check, held_or
from runlock.conformance.family.rank import Rank

BEGINNING: Final = ""
NEXT: Final = {
    BEGINNING: ("RECEIVE_INPUT",),
    "RECEIVE_INPUT": ("COMPOSE_REQUEST",),
    "COMPOSE_REQUEST": ("SEND_REQUEST",),
    "SEND_REQUEST": ("STREAM_RESPONSE",),
    "STREAM_RESPONSE": ("TOOL_CALL", "RENDER"),
    "TOOL_CALL": ("COMPOSE_REQUEST", "RENDER"),
    "RENDER": (),
}
"""Which stages may follow a stage in its pass."""

STAGE_OF: Final = {
    "context": "COMPOSE_REQUEST", "model": "SEND_REQUEST", "tool": "TOOL_CALL", "prompt": "TOOL_CALL",
    "sm": "TOOL_CALL",
}  # fmt: skip
"""The stage in which a gate opens; a hook names its own."""


def fired(turn: ObservedTurn, correlation: Any) -> list[StageFired]:
    """The stages of one pass as they were published, oldest first."""
    found: list[StageFired] = []
    for at, event in turn.named("StagePreFired", "StagePostFired"):
        if event.get("correlationId") != correlation:
            continue
        if event.name == "StagePreFired":
            found.append(StageFired(str(event.get("stage")), at))
            continue
        mine = (one for one in reversed(found) if one.stage == event.get("stage") and not one.posted_at)
        if (begun := next(mine, None)) is not None:
            begun.posted_at, begun.outcome = at, event.get("outcome")
    return found


def pass_events(turn: ObservedTurn, path: ObservedPass) -> list[StageFired] | None:
    """The stages of a pass; None where the events do not tell which pass they belong to."""
    ids = list(dict.fromkeys(e.get("correlationId") for _, e in turn.named("StagePreFired")))
    if turn.kind != "group":
        index = turn.passes.index(path)
        return fired(turn, ids[index]) if index < len(ids) else []
    named = {e.get("correlationId") for _, e in turn.named("StagePreFired") if e.stage == path.stage}
    if path.stage is None or len(named) != len(turn.executions[path.stage].passes):
        return None
    order = [one for one in ids if one in named]
    return fired(turn, order[turn.executions[path.stage].passes.index(path)])


def _own(state: ObservedState, seen: Published) -> ObservedTurn | None:
    return state.turn_of(seen) if seen.watcher is None else None


@check("LOOP-3", at=("StagePreFired",), rank=Rank.STATUS)
def render_follows_a_response_without_calls(state: ObservedState, seen: Published) -> CheckResults:
    """RENDER follows a response without calls, or a terminal one; TOOL_CALL follows one with calls."""
    turn = _own(state, seen)
    path = turn.passes[-1] if turn is not None and turn.kind == "chat" else None
    stage = seen.get("stage")
    if (
        path is None
        or not path.sent
        or path.sent[-1].response is None
        or stage not in ("TOOL_CALL", "RENDER")
    ):
        return
    last = path.sent[-1]
    if stage == "TOOL_CALL":
        yield held_or(bool(last.calls), f"response {last.number} asked for no call, yet TOOL_CALL began")
    elif not last.is_terminal:
        yield held_or(not last.calls, f"response {last.number} asked for calls, yet RENDER began")


@check("LOOP-2", at=("StagePreFired",), rank=Rank.STATUS)
def a_continuation_begins_at_compose(state: ObservedState, seen: Published) -> CheckResults:
    """A continuation begins at COMPOSE_REQUEST."""
    turn = _own(state, seen)
    before = fired(turn, seen.get("correlationId")) if turn is not None else []
    if before and before[-1].stage == "TOOL_CALL" and seen.get("stage") != "RENDER":
        stage = seen.get("stage")
        yield held_or(stage == "COMPOSE_REQUEST", f"a continuation began at {stage}, not at COMPOSE_REQUEST")


@check("LOOP-11", at=("StagePreFired",), rank=Rank.STATUS)
def hooks_and_watchers_change_no_order(state: ObservedState, seen: Published) -> CheckResults:
    """No hook and no watcher skips, repeats or reorders a stage."""
    turn = _own(state, seen)
    if turn is not None and _after_a_hook(state, turn):
        yield from _in_order(state, turn, seen)


def _after_a_hook(state: ObservedState, turn: ObservedTurn) -> bool:
    """Whether the last gate that was released in the turn was a hook that did not just continue."""
    answered = [gate for gate in turn.gates if gate.answer is not None]
    last = max(answered, key=lambda gate: gate.released_at, default=None)
    return last is not None and last.on == "hook" and last.answered_with != "continue"


def _in_order(state: ObservedState, turn: ObservedTurn, seen: Published) -> CheckResults:
    before = fired(turn, seen.get("correlationId"))
    last, stage = (before[-1].stage if before else BEGINNING), str(seen.get("stage"))
    if last == "TOOL_CALL" and stage not in ("COMPOSE_REQUEST", "RENDER"):
        return  # which LOOP-2 judges
    if stage == "SEND_REQUEST" and last in ("SEND_REQUEST", "STREAM_RESPONSE") and _failed(turn):
        return
    after = f"after {last}" if last else "first"
    yield held_or(stage in NEXT[last], f"{stage} began {after} in a pass of turn {turn.id}")


def _failed(turn: ObservedTurn) -> bool:
    return any(request.has_failed for path in turn.passes for request in path.sent)


@check("LOOP-1", at=("StagePreFired",), rank=Rank.STATUS)
def stages_come_in_order(state: ObservedState, seen: Published) -> CheckResults:
    """A pass goes through its stages in order."""
    turn = _own(state, seen)
    if turn is not None and not _after_a_hook(state, turn):
        yield from _in_order(state, turn, seen)


@check("WIRE-1", rank=Rank.STREAM)
def a_stage_is_published_before_its_gates(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Each stage has its StagePreFired before the gates of its hooks and its body."""
    turn, path = state.turn_of(seen), state.path_of(seen)
    stage = seen.at if seen.on == "hook" else STAGE_OF.get(seen.on)
    if turn is None or path is None or stage is None:
        return
    known = pass_events(turn, path)
    if known is None or (path.request is not None and path.request.may_be_sent_again):
        return
    begun = sum(one.stage == stage for one in known)
    wanted = _occasion(path, seen, stage)
    what = f"hook {seen.hook}" if seen.on == "hook" else f"a {seen.on} gate"
    why = f"{what} of {stage} opened, and only {begun} of its {wanted} StagePreFired were published"
    yield held_or(begun >= wanted, why)


def _occasion(path: ObservedPass, seen: GateOpened, stage: str) -> int:
    """How often the stage must have begun."""
    if stage in ("RECEIVE_INPUT", "RENDER"):
        return 1
    sent = len(path.sent)
    composing = (
        seen.on in ("context", "model")
        or (stage == "COMPOSE_REQUEST")
        or (stage == "SEND_REQUEST" and seen.point == "pre")
    )
    if composing:
        return sent + 1
    return sum(bool(request.calls) for request in path.sent) if stage == "TOOL_CALL" else sent


@check("WIRE-1", at=("StagePostFired",), rank=Rank.STREAM)
def a_stage_ends_after_its_gates(state: ObservedState, seen: Published) -> CheckResults:
    """A stage has its StagePostFired after the gates of its hooks and its body."""
    turn = _own(state, seen)
    stage = str(seen.get("stage"))
    if turn is None:
        return
    begun = [one for one in fired(turn, seen.get("correlationId")) if one.stage == stage]
    if not begun or begun[-1].posted_at:
        yield broken(f"StagePostFired of {stage} has no StagePreFired before it")
        return
    if turn.kind == "group" or turn.cancelled_at:
        return
    left = [gate.ref for gate in turn.open_gates() if _belongs(gate, stage)]
    yield held_or(not left, f"{stage} is over, yet it still waits at {listed(left)}")


def _belongs(gate: ObservedGate, stage: str) -> bool:
    if gate.on == "hook":
        return gate.opened.at == stage
    return STAGE_OF.get(gate.on) == stage and gate.on != "model"


@check("WIRE-1", at=("StagePostFired",), rank=Rank.STREAM)
def a_stage_tells_its_outcome(state: ObservedState, seen: Published) -> CheckResults:
    """The outcome of a stage is denied where a guard of it denied, and ok where nothing happened."""
    turn, stage, outcome = _own(state, seen), seen.get("stage"), seen.get("outcome")
    if turn is None or turn.kind == "group" or not turn.passes:
        return
    if outcome not in ("ok", "denied", "error", "cancelled"):
        yield broken(f"StagePostFired of {stage} has outcome {outcome}")
        return
    denials = [g for g in turn.stage_denials() if g.opened.at == stage and g.path is turn.passes[-1]]
    if any(state.raced(gate) for gate in denials):
        return  # what it raced may have ended the stage first
    if denials and not turn.cancelled_at:
        yield held_or(outcome == "denied", f"a guard denied at {stage}, yet its outcome is {outcome}")
    elif not _is_troubled(turn):
        yield held_or(outcome == "ok", f"nothing kept {stage} from its end, yet its outcome is {outcome}")


def _is_troubled(turn: ObservedTurn) -> bool:
    hooks = any(
        gate.on == "hook" and (is_odd(gate) or gate.answered_with not in ("", "continue", "rewrite"))
        for gate in turn.gates
    )
    calls = any(
        call.is_malformed or call.tool is None or call.answered_with in ("error", "raise") or call.doubled
        for call in turn.every_call()
    )
    asked = any(gate.on == "prompt" for gate in turn.gates)
    unasked = any(not call.entries for call in turn.every_call())
    return bool(turn.cancelled_at or turn.faults() or hooks or calls or asked or unasked)


def _unfinished(turn: ObservedTurn) -> Iterator[StageFired]:
    for correlation in dict.fromkeys(event.get("correlationId") for _, event in turn.named("StagePreFired")):
        yield from (one for one in fired(turn, correlation) if not one.posted_at)


@check("WIRE-1", rank=Rank.STREAM)
def each_stage_that_began_has_ended(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """Each stage has its StagePostFired, also where it ends in a denial, an error or a cancel."""
    turn = state.turn_of(seen)
    if turn is not None and turn.named("StagePreFired"):
        left = [one.stage for one in _unfinished(turn)]
        why = f"turn {turn.id} ended as {seen.reason.code}, and {listed(left)} has no StagePostFired"
        yield held_or(not left, why)


@check("LOOP-1", rank=Rank.STATUS)
def each_stage_of_a_rendered_pass_came(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A chat turn that ends by itself went through RENDER, unless its last response was terminal."""
    turn = state.turn_of(seen)
    if turn is None or turn.kind != "chat" or seen.reason.code != "NaturalEnd" or not turn.passes[-1].sent:
        return
    last: ObservedRequest = turn.passes[-1].sent[-1]
    if not last.is_terminal:
        rendered = any(event.get("stage") == "RENDER" for _, event in turn.named("StagePreFired"))
        yield held_or(rendered, f"turn {turn.id} ended by itself, and RENDER was not published")
