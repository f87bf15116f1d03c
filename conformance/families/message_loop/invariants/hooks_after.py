"""HOOK-1: the hooks that come after a body were asked by the time a turn has ended by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runlock.conformance.families.message_loop.invariants.results import CheckResults, named
from runlock.conformance.families.message_loop.messages import TurnEnded
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedGate, ObservedPass, ObservedTurn
from runlock.conformance.family.invariant import check, held_or
from runlock.conformance.family.rank import Rank


@dataclass(frozen=True, slots=True)
class PassedSlot:
    """A slot whose body is over, the hooks that were asked there, and what the body was of."""

    at: str
    point: str
    asked: Sequence[ObservedGate]
    what: str

    @property
    def was_left(self) -> bool:
        """Whether a hook answered so that those after it need not be asked."""
        return any(gate.answered_with not in ("continue", "rewrite") for gate in self.asked)


@check("HOOK-1", rank=Rank.STATUS)
def the_hooks_after_a_body_were_asked(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """In a turn that ended by itself each hook after a request, response or call was asked, and at RENDER."""
    turn = state.turn_of(seen)
    if turn is None or seen.reason.code != "NaturalEnd":
        return
    for one in _passed_slots(turn):
        if not one.was_left:
            asked = {gate.opened.hook for gate in one.asked}
            for spec in state.scenario.hooks_at(one.at, one.point):
                why = f"{one.what} is over, and hook {spec.id} was never asked at {one.at} {one.point}"
                yield held_or(spec.id in asked, why)


def _passed_slots(turn: ObservedTurn) -> Iterator[PassedSlot]:
    for path in turn.passes:
        for request in (one for one in path.requests if one.response is not None):
            for at in ("SEND_REQUEST", "STREAM_RESPONSE"):
                yield PassedSlot(at, "post", request.hook_gates(at, "post"), f"request {request.number}")
            for call in request.calls:
                if call.answered_with and not call.doubled:
                    yield PassedSlot("TOOL_CALL", "post", call.hook_gates("post"), named(call))
        if turn.kind == "chat" and _was_rendered(path):
            for point in ("pre", "post"):
                asked = [
                    gate for gate in path.hooks if gate.opened.at == "RENDER" and gate.opened.point == point
                ]
                yield PassedSlot("RENDER", point, asked, path.label)


def _was_rendered(path: ObservedPass) -> bool:
    """Whether the pass came to RENDER for sure: a terminal call may end it without."""
    return bool(path.sent) and not path.sent[-1].calls
