"""RUN: `inspect` agrees with the announced status."""

from __future__ import annotations

from runlock.conformance.families.message_loop.messages import RunInspected
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.family.invariant import CheckResults, check, held_or
from runlock.conformance.family.rank import Rank


@check("RUN-33", rank=Rank.STATUS)
def a_look_at_a_turn_shows_its_status(state: ObservedState, seen: RunInspected) -> CheckResults:
    """A look at a turn that rests shows it as Done if its end was announced, and else as Running."""
    turn = state.run
    if turn is not None and state.quiescent:
        status, shown = "Done" if turn.is_done else "Running", seen.status or "no status"
        yield held_or(shown == status, f"turn {turn.id} is {status}, yet a look at it shows {shown}")


@check("RUN-33", rank=Rank.STATUS)
def a_look_at_a_turn_shows_its_reason(state: ObservedState, seen: RunInspected) -> CheckResults:
    """A look at a turn that is over shows no other reason than the one that its end was announced with."""
    turn = state.run
    if turn is not None and turn.reason is not None and seen.reason is not None and state.quiescent:
        code, shown = turn.reason.code, seen.reason.code
        yield held_or(shown == code, f"turn {turn.id} ended as {code}, yet a look at it shows {shown}")
